-- A notification goes with its owner's account, its states and deliveries go with it.
create table notifications (
  position integer primary key autoincrement,
  id text not null unique,
  owner text not null collate nocase,
  is_active integer not null,
  created_at integer not null,
  modified_at integer not null,
  details text not null,
  times_sent integer not null default 0,
  last_fired_at integer,
  last_success_at integer,
  last_success_code integer,
  last_failure_at integer,
  last_failure_reason text
) strict;

create index notifications_by_owner on notifications (owner, position);

create trigger notifications_of_user after delete on users
begin
  delete from notifications where owner = old.username;
end;

create table notification_states (
  notification integer not null references notifications (position) on delete cascade,
  device_id text not null,
  state text not null,
  primary key (notification, device_id)
) strict, without rowid;

-- Messages that leave or left: those of notifications are kept when they are settled, those of
-- socials are not, since the social message itself tells what became of it.
create table deliveries (
  position integer primary key autoincrement,
  notification integer references notifications (position) on delete cascade,
  social text references socials (id) on delete cascade,
  payer text not null collate nocase,
  channel text not null,
  status text not null,
  attempts integer not null,
  created_at integer not null,
  due_at integer,
  sent_at integer,
  is_charged integer not null default 0,
  details text not null
) strict;

create index deliveries_due on deliveries (channel, due_at, position) where status = 'pending';
create index deliveries_waiting on deliveries (notification) where status = 'pending';
create index deliveries_by_notification on deliveries (notification, position)
  where notification is not null;
create index deliveries_by_social on deliveries (social) where social is not null;
