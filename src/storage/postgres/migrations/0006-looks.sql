-- Looks of rules at what was pushed: those at one device are made one after the other, in the order
-- of their commits, by whichever process filed them, or by another one when that process ended.
-- "entry" is the push as other processes are told of it, "fired" the ids of notifications whose
-- firing is stored.
create table looks (
  place bigint generated always as identity primary key,
  id text collate "C" not null unique,
  member integer not null,
  device_id text collate "C" not null,
  entry text not null,
  fired text not null default ''
);

create index looks_by_device on looks (device_id, place);

-- What rules looked at last, of sensors of devices with rules over several of them: JSON. The last
-- value of a sensor is ahead of it by what waits to be looked at.
create table looked_values (
  device_id text collate "C" not null,
  sensor_id text collate "C" not null,
  received_at double precision not null,
  value text not null,
  primary key (device_id, sensor_id),
  foreign key (device_id, sensor_id) references sensors (device_id, sensor_id) on delete cascade
);
