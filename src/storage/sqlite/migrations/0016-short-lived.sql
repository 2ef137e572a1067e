-- What is forgotten after minutes, and shall outlive a restart until then.

-- Codes for forgotten passwords, as hashes.
create table password_resets (
  user_id text not null references users (id) on delete cascade,
  code_hash text not null,
  expires_at integer not null,
  proven_at integer not null,
  primary key (user_id, code_hash)
) strict, without rowid;

create index password_resets_by_expiry on password_resets (expires_at);

-- Failed logins and codes asked for, by the name of the counter and what it counts for.
create table failures (
  limiter text not null,
  key text not null,
  failures integer not null,
  ends_at integer not null,
  primary key (limiter, key)
) strict, without rowid;

create index failures_by_end on failures (limiter, ends_at);

-- What calls say that ring now.
create table call_texts (
  call_id text primary key,
  text text not null,
  until integer not null
) strict, without rowid;

create index call_texts_by_end on call_texts (until);
