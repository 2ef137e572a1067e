-- What is kept of MQTT sessions that outlive their connection. A session goes with the account and
-- the access key that it was opened with; those of guests have neither.
create table mqtt_sessions (
  session integer primary key autoincrement,
  identity text not null,
  client_id text not null,
  user_id text references users (id) on delete cascade,
  key_id text references access_keys (id) on delete cascade,
  expiry_seconds integer not null,
  left_at integer,
  unique (identity, client_id)
) strict;

create index mqtt_sessions_by_user on mqtt_sessions (user_id) where user_id is not null;
create index mqtt_sessions_by_key on mqtt_sessions (key_id) where key_id is not null;

create table mqtt_subscriptions (
  position integer primary key,
  session integer not null references mqtt_sessions (session) on delete cascade,
  filter text not null,
  qos integer not null,
  no_local integer not null,
  retain_as_published integer not null,
  retain_handling integer not null,
  identifier integer not null,
  unique (session, filter)
) strict;

-- A message is kept once, however many sessions wait for it, and as long as one of them does.
create table mqtt_messages (
  message integer primary key autoincrement,
  topic text not null,
  payload blob not null,
  qos integer not null,
  retain integer not null,
  properties blob,
  expires_at integer,
  publisher text
) strict;

-- Without a message: it was released, and only the end of its exchange is missing.
create table mqtt_queue (
  position integer primary key autoincrement,
  session integer not null references mqtt_sessions (session) on delete cascade,
  packet_id integer not null,
  message integer references mqtt_messages (message),
  qos integer not null,
  retain integer not null,
  identifiers text not null,
  unique (session, packet_id)
) strict;

create index mqtt_queue_by_message on mqtt_queue (message) where message is not null;

create trigger mqtt_queue_deleted after delete on mqtt_queue when old.message is not null
begin
  delete from mqtt_messages where message = old.message
    and not exists (select 1 from mqtt_queue where message = old.message);
end;

create trigger mqtt_queue_released after update of message on mqtt_queue
  when old.message is not null and new.message is null
begin
  delete from mqtt_messages where message = old.message
    and not exists (select 1 from mqtt_queue where message = old.message);
end;

create table mqtt_received (
  session integer not null references mqtt_sessions (session) on delete cascade,
  packet_id integer not null,
  primary key (session, packet_id)
) strict, without rowid;

-- A retained message goes with the thing that its topic is about, whoever deletes that.
create table mqtt_retained (
  position integer primary key,
  topic text not null unique,
  payload blob not null,
  qos integer not null,
  properties blob,
  expires_at integer,
  publisher text
) strict;

create trigger mqtt_retained_of_device after delete on devices
begin
  delete from mqtt_retained
  where topic >= 'devices/' || old.id || '/' and topic < 'devices/' || old.id || '0';
end;

create trigger mqtt_retained_of_sensor after delete on sensors
begin
  delete from mqtt_retained
  where topic >= 'devices/' || old.device_id || '/sensors/' || old.sensor_id || '/'
    and topic < 'devices/' || old.device_id || '/sensors/' || old.sensor_id || '0';
end;

create trigger mqtt_retained_of_actuator after delete on actuators
begin
  delete from mqtt_retained
  where topic >= 'devices/' || old.device_id || '/actuators/' || old.actuator_id || '/'
    and topic < 'devices/' || old.device_id || '/actuators/' || old.actuator_id || '0';
end;

create trigger mqtt_retained_of_gateway after delete on gateways
begin
  delete from mqtt_retained
  where topic >= 'gateways/' || old.id || '/' and topic < 'gateways/' || old.id || '0';
end;
