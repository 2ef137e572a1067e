-- How many days datapoints, and what hours come to after them, are kept: one row for each sensor,
-- device or user for which it is set. Without a number: for ever.
create table retentions (
  position bigint generated always as identity primary key,
  bucket smallint,
  series bigint unique,
  device text collate "C" unique references devices (id) on delete cascade,
  user_id text collate "C" unique references users (id) on delete cascade,
  raw_days integer,
  hourly_days integer,
  foreign key (bucket, series) references sensors (bucket, series) on delete cascade
);

-- What datapoints came to by the hour, which are not there any more: the hours of a day (UTC) that
-- had any, together, and how many these are.
create table hourly_summaries (
  bucket smallint not null,
  series bigint not null,
  day double precision not null,
  hours integer not null,
  summary bytea not null,
  primary key (bucket, series, day),
  foreign key (bucket, series) references sensors (bucket, series) on delete cascade
);

-- Packed already.
alter table hourly_summaries alter column summary set storage external;

-- How far retention has come: so many datapoints are gone from chunks, those before "raw_before".
-- Of "open_hour" some went, and others are still there.
create table retained_series (
  bucket smallint not null,
  series bigint not null,
  datapoints bigint not null,
  raw_before double precision not null,
  open_hour double precision,
  primary key (bucket, series),
  foreign key (bucket, series) references sensors (bucket, series) on delete cascade
);

-- Retention goes through all sensors in the order of their numbers.
create unique index sensors_by_series on sensors (series);
