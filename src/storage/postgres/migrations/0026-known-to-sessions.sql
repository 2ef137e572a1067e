-- Places of the log, by writer, up to which a session that is behind lacks no entry: JSON. They hold
-- where "known_term" is the term of the session: a version that does not know the columns sets none.
alter table mqtt_sessions add column known text not null default '{}';
alter table mqtt_sessions add column known_term bigint;
