-- Free texts are kept as JSON in "details". "position" is the order of creation. Keys of what a
-- device has begin with its bucket, so that a range of buckets can move to another database.

-- Usernames are the same whatever the case of their ASCII letters.
create function nocase(text) returns text language sql immutable parallel safe strict
  return lower($1 collate "C");

-- The fence: every commit counts on, and only the member that the row names may commit.
create table writers (
  writer integer primary key,
  member text not null,
  seq bigint not null,
  evaluated bigint not null default 0,
  ended boolean not null default false
);

insert into writers (writer, member, seq) values (0, '', 0);

create table secrets (
  name text primary key,
  value text not null
);

create table installation_settings (
  name text primary key,
  value text not null
);

create table users (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  username text collate "C" not null,
  email_key text collate "C",
  email_proof integer not null,
  password_hash text not null,
  created_at bigint not null,
  is_admin integer not null,
  is_disabled integer not null,
  sms_credit double precision,
  profile text not null,
  proofs text not null,
  webhook_secret text
);

create unique index users_by_username on users (nocase(username));
-- Texts of people may be longer than a B-tree takes.
create index users_by_email on users using hash (email_key);

create table login_sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id) on delete cascade,
  hash text collate "C" not null unique,
  replaced_hash text collate "C",
  replaced_at bigint,
  created_at bigint not null,
  last_used_at bigint not null,
  expires_at bigint not null,
  details text not null
);

create index login_sessions_by_user on login_sessions (user_id, last_used_at);
create index login_sessions_by_replaced on login_sessions (replaced_hash)
  where replaced_hash is not null;

create table tokens (
  position bigint generated always as identity primary key,
  hash text collate "C" not null unique,
  user_id text collate "C" not null references users (id) on delete cascade,
  expires_at bigint not null,
  logged_in_at bigint not null,
  session_id text collate "C" references login_sessions (id) on delete cascade
);

create index tokens_by_user on tokens (user_id, position);
create index tokens_by_end on tokens (expires_at);
create index tokens_by_session on tokens (session_id) where session_id is not null;

create table access_keys (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  hash text collate "C" not null unique,
  user_id text collate "C" not null references users (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint,
  details text not null
);

create index access_keys_by_user on access_keys (user_id, position);

-- From which networks an account was logged in to.
create table login_networks (
  user_id text collate "C" not null references users (id) on delete cascade,
  network text collate "C" not null,
  last_at bigint not null,
  primary key (user_id, network)
);

create table password_resets (
  user_id text collate "C" not null references users (id) on delete cascade,
  code_hash text collate "C" not null,
  expires_at bigint not null,
  proven_at bigint not null,
  primary key (user_id, code_hash)
);

create index password_resets_by_expiry on password_resets (expires_at);

create table failures (
  limiter text collate "C" not null,
  key text collate "C" not null,
  failures integer not null,
  ends_at bigint not null,
  primary key (limiter, key)
);

create index failures_by_end on failures (limiter, ends_at);

create table call_texts (
  call_id text collate "C" primary key,
  text text not null,
  until bigint not null
);

create index call_texts_by_end on call_texts (until);

create table grants (
  kind text collate "C" not null,
  resource text collate "C" not null,
  username text collate "C" not null,
  scopes text not null
);

create unique index grants_by_resource on grants (kind, resource, nocase(username));
create index grants_by_username on grants (nocase(username), kind, resource);

create table user_groups (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  owner text collate "C" not null,
  details text not null
);

create index user_groups_by_owner on user_groups (nocase(owner), position);

create table group_members (
  username text collate "C" not null,
  group_id text collate "C" not null references user_groups (id) on delete cascade
);

create unique index group_members_by_user on group_members (nocase(username), group_id);
create index group_members_by_group on group_members (group_id);

create table group_grants (
  group_id text collate "C" not null references user_groups (id) on delete cascade,
  kind text collate "C" not null,
  resource text collate "C" not null,
  scopes text not null,
  primary key (group_id, kind, resource)
);

create index group_grants_by_resource on group_grants (kind, resource, group_id);

create table devices (
  position bigint generated always as identity primary key,
  bucket smallint not null,
  id text collate "C" not null unique,
  owner text collate "C" not null,
  visibility text collate "C",
  gateway_id text collate "C",
  domain text collate "C",
  created_at bigint not null,
  modified_at bigint not null,
  details text not null
);

create index devices_by_owner on devices (nocase(owner), position);
create index devices_by_gateway on devices using hash (gateway_id);
create index devices_by_domain on devices using hash (domain);

-- A series is one life of a sensor: its number is never used again. Its datapoints are counted as
-- they arrive: "arrivals" are stored, the first "sealed" of them in chunks, the others in "hot".
-- The last value and what is stored, in bytes, are those of all of them.
create table sensors (
  bucket smallint not null,
  series bigint generated always as identity,
  device_id text collate "C" not null references devices (id) on delete cascade,
  sensor_id text collate "C" not null,
  details text not null,
  arrivals bigint not null default 0,
  sealed bigint not null default 0,
  newest double precision,
  bytes bigint not null default 0,
  last_at double precision,
  last_received double precision,
  last_value text,
  primary key (bucket, series),
  unique (device_id, sensor_id)
) with (fillfactor = 70);

create table actuators (
  position bigint generated always as identity primary key,
  bucket smallint not null,
  device_id text collate "C" not null references devices (id) on delete cascade,
  actuator_id text collate "C" not null,
  details text not null,
  unique (device_id, actuator_id)
);

-- What one push brought, in the order of arrival, until it is in chunks. Whoever removes a sensor
-- removes these as well: a foreign key would be looked at for each of them.
create table hot (
  bucket smallint not null,
  series bigint not null,
  ordinal bigint not null,
  min_time double precision not null,
  max_time double precision not null,
  count integer not null,
  points bytea not null,
  primary key (bucket, series, ordinal)
);

-- Datapoints of one series by order time, packed as the embedded engine packs them. Chunks of a
-- series never overlap; where they touch, (min_time, max_time, id) is their order. One that is
-- there never changes, and its id is never used again.
create table chunks (
  bucket smallint not null,
  series bigint not null,
  min_time double precision not null,
  max_time double precision not null,
  id bigint generated always as identity,
  count integer not null,
  summary bytea,
  points bytea not null,
  primary key (bucket, series, min_time, max_time, id),
  foreign key (bucket, series) references sensors (bucket, series) on delete cascade
);

-- Packed already: compressing them again would cost time at every read.
alter table hot alter column points set storage external;
alter table chunks alter column points set storage external;
alter table chunks alter column summary set storage external;

-- Rows of "hot" and "chunks" that could not be read when they were to be rewritten.
create table damaged_points (
  position bigint generated always as identity primary key,
  bucket smallint not null,
  series bigint not null,
  kind text not null,
  id bigint not null,
  min_time double precision not null,
  max_time double precision not null,
  count integer not null,
  points bytea not null
);

create table corrections (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  bucket smallint not null,
  series bigint not null,
  kind text collate "C" not null,
  from_time double precision not null,
  to_time double precision not null,
  until double precision not null,
  ahead_from double precision,
  ahead_to double precision,
  count bigint not null,
  "by" text collate "C" not null,
  created_at bigint not null,
  details text not null,
  foreign key (bucket, series) references sensors (bucket, series) on delete cascade
);

create index corrections_by_series on corrections (bucket, series, position);

create table gateways (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  owner text collate "C" not null,
  visibility text collate "C",
  last_seen_at bigint,
  status text,
  created_at bigint not null,
  modified_at bigint not null,
  details text not null
);

create index gateways_by_owner on gateways (nocase(owner), position);

create table projects (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  owner text collate "C" not null,
  details text not null
);

create index projects_by_owner on projects (nocase(owner), position);

-- What grants on a project reach: the devices and gateways that its owner listed.
create table project_members (
  project text collate "C" not null references projects (id) on delete cascade,
  kind text collate "C" not null,
  resource text collate "C" not null,
  primary key (project, kind, resource)
);

create index project_members_by_resource on project_members (kind, resource, project);

-- Everything that can be granted, with its owner now.
create view owned_resources (kind, resource, owner) as
  select 'device' collate "C", id, owner from devices
  union all select 'gateway' collate "C", id, owner from gateways
  union all select 'project' collate "C", id, owner from projects;

create table socials (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  sender text collate "C" not null,
  recipient text collate "C" not null,
  status text collate "C" not null,
  created_at bigint not null,
  details text not null
);

create index socials_by_sender on socials (nocase(sender), position);
create index socials_by_recipient on socials (nocase(recipient), position);

create table notifications (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  owner text collate "C" not null,
  is_active integer not null,
  created_at bigint not null,
  modified_at bigint not null,
  details text not null,
  times_sent bigint not null default 0,
  last_fired_at bigint,
  last_success_at bigint,
  last_success_code integer,
  last_failure_at bigint,
  last_failure_reason text
);

create index notifications_by_owner on notifications (nocase(owner), position);

-- A state that was looked at is written only where its revision still is the same.
create table notification_states (
  notification bigint not null references notifications (position) on delete cascade,
  bucket smallint not null,
  device_id text collate "C" not null,
  revision bigint not null default 0,
  state text not null,
  primary key (notification, device_id)
);

-- Messages that leave or left, and when each waits to be tried again.
create table deliveries (
  position bigint generated always as identity primary key,
  notification bigint references notifications (position) on delete cascade,
  social text collate "C" references socials (id) on delete cascade,
  payer text collate "C" not null,
  channel text collate "C" not null,
  status text collate "C" not null,
  attempts integer not null,
  created_at bigint not null,
  due_at bigint,
  sent_at bigint,
  is_charged integer not null default 0,
  token text collate "C" not null,
  details text not null
);

create index deliveries_due on deliveries (channel, due_at, position) where status = 'pending';
create index deliveries_waiting on deliveries (notification) where status = 'pending';
create index deliveries_by_turn on deliveries (nocase(payer), channel, due_at, position)
  where status = 'pending';
create index deliveries_by_notification on deliveries (notification, position)
  where notification is not null;
create index deliveries_by_social on deliveries (social) where social is not null;

-- Messages of paid channels that were tried on a day (days since 1970, UTC), by who pays.
create table paid_messages (
  day integer not null,
  payer text collate "C" not null,
  channel text collate "C" not null,
  count bigint not null
);

create unique index paid_messages_by_day on paid_messages (day, nocase(payer), channel);

-- What is kept of MQTT sessions that outlive their connection. "term" grows with each owner. A "key"
-- stands for a text that may be too long for an index: the text itself, or a hash of it.
create table mqtt_sessions (
  session bigint generated always as identity primary key,
  identity text not null,
  client_id text not null,
  key text collate "C" not null unique,
  owner integer,
  term bigint not null default 0,
  expiry_seconds bigint not null,
  left_at bigint,
  payer text
);

create table mqtt_subscriptions (
  position bigint generated always as identity primary key,
  session bigint not null references mqtt_sessions (session) on delete cascade,
  filter text not null,
  key text collate "C" not null,
  qos integer not null,
  no_local integer not null,
  retain_as_published integer not null,
  retain_handling integer not null,
  identifier bigint not null,
  unique (session, key)
);

-- A message is kept once, however many sessions wait for it, and as long as one of them does.
create table mqtt_messages (
  message bigint generated always as identity primary key,
  topic text not null,
  payload bytea not null,
  qos integer not null,
  retain integer not null,
  properties bytea,
  expires_at bigint,
  publisher text
);

-- Without a message: it was released, and only the end of its exchange is missing.
create table mqtt_queue (
  position bigint generated always as identity primary key,
  session bigint not null references mqtt_sessions (session) on delete cascade,
  packet_id integer not null,
  message bigint references mqtt_messages (message),
  qos integer not null,
  retain integer not null,
  identifiers text not null,
  unique (session, packet_id)
);

create index mqtt_queue_by_message on mqtt_queue (message) where message is not null;

create table mqtt_received (
  session bigint not null references mqtt_sessions (session) on delete cascade,
  packet_id integer not null,
  primary key (session, packet_id)
);

create table mqtt_retained (
  position bigint generated always as identity primary key,
  topic text not null,
  key text collate "C" not null unique,
  payload bytea not null,
  qos integer not null,
  properties bytea,
  expires_at bigint,
  publisher text,
  payer text
);
