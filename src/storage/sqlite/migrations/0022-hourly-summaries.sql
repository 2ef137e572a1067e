-- What datapoints came to by the hour, which are not there any more: the hours of a day (UTC) that
-- had any, together.
create table hourly_summaries (
  series integer not null references sensors (series) on delete cascade,
  day integer not null,
  summary blob not null,
  primary key (series, day)
) strict, without rowid;

-- How far retention has come: so many datapoints are gone from chunks, those before "raw_before".
-- Of "open_hour" some went, and others are still there.
create table retained_series (
  series integer primary key references sensors (series) on delete cascade,
  datapoints integer not null,
  raw_before integer not null,
  open_hour integer
) strict;
