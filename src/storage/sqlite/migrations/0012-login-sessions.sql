-- Browsers that stay logged in. A token that came from one ends with it.
create table login_sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  hash text not null unique,
  replaced_hash text,
  replaced_at integer,
  created_at integer not null,
  last_used_at integer not null,
  expires_at integer not null,
  details text not null
) strict, without rowid;

create index login_sessions_by_user on login_sessions (user_id, last_used_at);
create index login_sessions_by_replaced on login_sessions (replaced_hash)
  where replaced_hash is not null;

alter table tokens add column session_id text references login_sessions (id) on delete cascade;
create index tokens_by_session on tokens (session_id) where session_id is not null;
