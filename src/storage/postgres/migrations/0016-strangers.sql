-- Accounts that were made by themselves have a quota of their own; who made older ones is unknown.
alter table users add column is_signup smallint not null default 0;

-- What others than the owner, and whom it is shared with, pushed to a device, in bytes of quotas.
alter table devices add column stranger_bytes bigint not null default 0;
