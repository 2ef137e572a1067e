-- What of the log a session that is behind has in its queue, by writer, up to these places: JSON. It
-- holds where "known_term" is its term: a version that does not know the column sets neither.
alter table mqtt_sessions add column known text not null default '{}';
alter table mqtt_sessions add column known_term bigint;
