-- Of a shared subscription one member gets a message: the process that claimed it hands it on.
-- "settled": a member has it for good, or it is in the queue of one. What is not settled when its
-- process ends another one claims again. "place": where the log was.
create table mqtt_shares (
  share_group text collate "C" not null,
  message text collate "C" not null,
  owner integer not null,
  token bigint not null,
  settled boolean not null,
  place bigint not null,
  primary key (share_group, message)
);
create index mqtt_shares_by_place on mqtt_shares (place);

-- Groups of which a member is connected to a process: "owner".
create table mqtt_groups_here (
  share_group text collate "C" not null,
  owner integer not null,
  primary key (share_group, owner)
);
