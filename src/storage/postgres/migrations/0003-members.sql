-- Processes that serve this database: the number of a member is that of its row in "writers" too.
-- "beat" counts up each second while it lives. The row of writer 0 is of no member: whoever
-- commits a change locks it first, so that changes of all processes come one after the other.
create table members (
  member integer generated always as identity primary key,
  beat bigint not null default 0,
  state text not null default 'serving' check (state in ('serving', 'left', 'lost'))
);

delete from writers where writer <> 0;
update writers set member = '', seq = 0 where writer = 0;
