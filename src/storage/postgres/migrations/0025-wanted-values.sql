-- The groups of devices whose values the process wants others to write to the log for it. Versions
-- before this one want all.
alter table writers add column wants bit(128) not null default ~(0::bit(128));
