-- Free texts are kept as JSON in "details": JSON escapes what SQLite's text cannot hold. Columns
-- beside it narrow searches. "position" is the order of creation.

create table health (
  id integer primary key check (id = 1),
  checks integer not null
) strict;

insert into health (id, checks) values (1, 0);

create table users (
  position integer primary key,
  id text not null unique,
  username text not null unique collate nocase,
  email_key text,
  password_hash text not null,
  created_at integer not null,
  is_admin integer not null,
  is_disabled integer not null,
  sms_credit real,
  profile text not null
) strict;

create index users_by_email on users (email_key, position) where email_key is not null;

create table tokens (
  position integer primary key,
  hash text not null unique,
  user_id text not null references users (id) on delete cascade,
  expires_at integer not null,
  logged_in_at integer not null
) strict;

create index tokens_by_user on tokens (user_id, position);
create index tokens_by_end on tokens (expires_at);

create table access_keys (
  position integer primary key,
  id text not null unique,
  hash text not null unique,
  user_id text not null references users (id) on delete cascade,
  created_at integer not null,
  expires_at integer,
  details text not null
) strict;

create index access_keys_by_user on access_keys (user_id, position);

create table grants (
  kind text not null,
  resource text not null,
  username text not null collate nocase,
  scopes text not null,
  primary key (kind, resource, username)
) strict, without rowid;

create index grants_by_username on grants (username, kind, resource);

create table devices (
  position integer primary key,
  id text not null unique,
  owner text not null collate nocase,
  visibility text,
  gateway_id text,
  domain text,
  created_at integer not null,
  modified_at integer not null,
  details text not null
) strict;

create index devices_by_owner on devices (owner, position);
create index devices_by_gateway on devices (gateway_id, position) where gateway_id is not null;
create index devices_by_domain on devices (domain, position) where domain is not null;

-- A series is one life of a sensor: its number is never used again, so nothing kept under it can
-- come back when a sensor of the same name is made anew.
create table sensors (
  series integer primary key autoincrement,
  device_id text not null references devices (id) on delete cascade,
  sensor_id text not null,
  details text not null,
  unique (device_id, sensor_id)
) strict;

create table actuators (
  position integer primary key,
  device_id text not null references devices (id) on delete cascade,
  actuator_id text not null,
  details text not null,
  unique (device_id, actuator_id)
) strict;

-- Everything that can be granted, with its owner now. A migration that adds a kind replaces it.
create view owned_resources (kind, resource, owner) as
  select 'device', id, owner from devices;
