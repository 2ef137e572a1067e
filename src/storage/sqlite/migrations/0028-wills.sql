-- Last wills of clients that are connected, or left a while ago: a start after a crash publishes those
-- that were not published. Each connection has one, by the turn in which its client came.
create table mqtt_wills (
  key text not null,
  owner integer not null,
  turn integer not null,
  identity text not null,
  client_id text not null,
  delay_ms integer not null,
  expiry_seconds integer,
  retain integer not null,
  topic text not null,
  payload blob not null,
  qos integer not null,
  properties blob,
  expires_at integer,
  publisher text,
  payer text,
  is_begun integer not null default 0,
  primary key (key, turn)
) strict;
