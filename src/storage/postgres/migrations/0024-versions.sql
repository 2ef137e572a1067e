-- Programs that know the tables from this version on may use them. Empty: those of today alone.
alter table schema_version add column usable_from integer;

-- What program a member runs, and up to which version it knows the tables. Empty: older than these.
alter table members add column program text;
alter table members add column tables integer;
