-- From which networks an account was logged in to: failed logins from there are counted apart, so
-- that strangers cannot lock its owner out.
create table login_networks (
  user_id text not null references users (id) on delete cascade,
  network text not null,
  last_at integer not null,
  primary key (user_id, network)
) strict, without rowid;
