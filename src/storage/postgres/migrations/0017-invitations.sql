-- Links by which others join what their giver shares: what they lead to is in the details.
create table invitations (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  hash text collate "C" not null unique,
  user_id text collate "C" not null references users (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint not null,
  uses_left integer not null,
  is_revoked smallint not null,
  details text not null
);

create index invitations_by_giver on invitations (user_id, position);

-- Who took a use of one, and whether what it gives was given since.
create table invitation_uses (
  invitation text collate "C" not null references invitations (id) on delete cascade,
  user_id text collate "C" not null references users (id) on delete cascade,
  is_given smallint not null,
  primary key (invitation, user_id)
);

create index invitation_uses_by_user on invitation_uses (user_id);
