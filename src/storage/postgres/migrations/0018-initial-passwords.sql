-- Passwords that somebody else chose for an account, until it changes them.
alter table users add column is_password_initial smallint not null default 0;
