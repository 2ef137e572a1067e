-- Where every datapoint is first made durable: one row for each commit, in order of arrival. Rows
-- go once all their datapoints are in chunks, save the newest, so that "seq" never starts again.
create table datapoint_log (
  seq integer primary key,
  pushes blob not null
) strict;

-- Datapoints of one series by order time, packed. Chunks of a series never overlap; where they
-- touch, (min_time, max_time, id) is their order. Ids are never used again: caches go by them.
create table chunks (
  id integer primary key autoincrement,
  series integer not null references sensors (series) on delete cascade,
  min_time integer not null,
  max_time integer not null,
  count integer not null,
  datapoints blob not null
) strict;

create unique index chunks_by_time on chunks (series, min_time, max_time, id, count);

-- The state of a series when it last moved datapoints from the log to chunks: "sealed" counts, by
-- arrival, its datapoints that are in chunks; what the log holds beyond them is newer than this.
create table last_values (
  series integer primary key references sensors (series) on delete cascade,
  sealed integer not null,
  timestamp integer,
  received_at integer not null,
  value text not null
) strict;

-- Chunks that could not be read when they were to be rewritten, kept for whoever can mend them.
create table damaged_chunks (
  id integer primary key,
  series integer not null references sensors (series) on delete cascade,
  min_time integer not null,
  max_time integer not null,
  count integer not null,
  datapoints blob not null
) strict;

create index damaged_chunks_by_series on damaged_chunks (series);
