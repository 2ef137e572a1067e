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
