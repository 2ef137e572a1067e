-- A message between two users; it goes when either of their accounts does.
create table socials (
  position integer primary key,
  id text not null unique,
  sender text not null collate nocase,
  recipient text not null collate nocase,
  status text not null,
  created_at integer not null,
  details text not null
) strict;

create index socials_by_sender on socials (sender, position);
create index socials_by_recipient on socials (recipient, position);
