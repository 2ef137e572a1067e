-- The groups of devices whose values sessions at the member may get: others write these to the log for
-- it. Versions before this one never say less than all.
alter table members add column wants bit(128) not null default ~(0::bit(128));

-- When datapoints of the sensor were received last. Empty: none were by this version.
alter table sensors add column heard double precision;
