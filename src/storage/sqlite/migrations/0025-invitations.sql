-- Links by which others join what their giver shares: what they lead to is in the details.
create table invitations (
  position integer primary key,
  id text not null unique,
  hash text not null unique,
  user_id text not null references users (id) on delete cascade,
  created_at integer not null,
  expires_at integer not null,
  uses_left integer not null,
  is_revoked integer not null,
  details text not null
) strict;

create index invitations_by_giver on invitations (user_id, position);

-- Who took a use of one, and whether what it gives was given since.
create table invitation_uses (
  invitation text not null references invitations (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  is_given integer not null,
  primary key (invitation, user_id)
) strict, without rowid;

create index invitation_uses_by_user on invitation_uses (user_id);
