-- Last wills of clients that are connected, or left a while ago: "owner" is the member that has the
-- client. When that ends, another one publishes it.
create table mqtt_wills (
  key text collate "C" primary key,
  owner integer not null,
  turn bigint not null,
  identity text not null,
  client_id text not null,
  delay_ms bigint not null,
  expiry_seconds bigint,
  retain integer not null,
  topic text not null,
  payload bytea not null,
  qos integer not null,
  properties bytea,
  expires_at bigint,
  publisher text,
  payer text
);

create index mqtt_wills_by_owner on mqtt_wills (owner);
