-- What the datapoints of a chunk come to, by block and by hour. A chunk without one is decoded.
create table chunk_summaries (
  chunk integer primary key references chunks (id) on delete cascade,
  summary blob not null
) strict;
