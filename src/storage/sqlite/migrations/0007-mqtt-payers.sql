-- Who pays for the room that a session and a retained message take. Null: of before this column;
-- the account is known by the session's identity, the address of a guest is not.
alter table mqtt_sessions add column payer text;

alter table mqtt_retained add column payer text;
