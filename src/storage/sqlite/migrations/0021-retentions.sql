-- How many days datapoints, and what hours come to after them, are kept: one row for each sensor,
-- device or user for which it is set. Without a number: for ever.
create table retentions (
  series integer unique references sensors (series) on delete cascade,
  device text unique references devices (id) on delete cascade,
  username text unique collate nocase references users (username) on delete cascade,
  raw_days integer,
  hourly_days integer
) strict;
