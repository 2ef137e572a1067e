-- What people said was wrong about datapoints: laid over them when they are read. "position" is the
-- order in which corrections were made; ids of it are never used again.
create table corrections (
  position integer primary key autoincrement,
  id text not null unique,
  series integer not null references sensors (series) on delete cascade,
  kind text not null,
  from_time integer not null,
  to_time integer not null,
  until integer not null,
  ahead_from integer,
  ahead_to integer,
  count integer not null,
  "by" text not null,
  created_at integer not null,
  details text not null
) strict;

create index corrections_by_series on corrections (series, position);
