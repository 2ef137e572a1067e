-- What processes write for each other: places of one writer follow one another, as its commits do.
create table feed_log (
  writer integer not null,
  place bigint generated always as identity,
  entry text not null,
  primary key (writer, place)
);

-- What the member has acted on: JSON, the last place by writer.
alter table members add column positions text not null default '{}';
