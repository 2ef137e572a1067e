-- An MQTT session belongs to the process that had its client last: "owner" is its member. "behind":
-- what the log has for it may not be in its queue yet.
alter table mqtt_sessions add column behind boolean not null default false;
create index mqtt_sessions_by_owner on mqtt_sessions (owner);
create index mqtt_sessions_behind on mqtt_sessions (session) where behind;

-- Where the log was when the subscription came: what was logged before is not for it.
alter table mqtt_subscriptions add column since bigint not null default 0;

-- Up to where messages of a process were put into the queue of a session, by their numbers.
create table mqtt_heard (
  session bigint not null references mqtt_sessions (session) on delete cascade,
  writer integer not null,
  at bigint not null,
  primary key (session, writer)
);

-- Whether sessions may be this member's: what is logged is kept until they are somebody else's.
alter table members add column owns boolean not null default false;
