-- An id is kept in the commit that stores its datapoints; its message is handed on after that. What
-- was not handed on by the time of a crash is not stored again, but handed on when it is repeated.
alter table mqtt_received add column handed_on integer not null default 1;
