-- The broker cleans up what it keeps when it is told of a removal, and at its start: the tables of
-- accounts and things know nothing of it any more. The columns of accounts stay empty from now on.
drop trigger mqtt_retained_of_device;
drop trigger mqtt_retained_of_sensor;
drop trigger mqtt_retained_of_actuator;
drop trigger mqtt_retained_of_gateway;
drop index mqtt_sessions_by_user;
drop index mqtt_sessions_by_key;
update mqtt_sessions set user_id = null, key_id = null;
