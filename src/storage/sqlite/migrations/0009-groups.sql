-- Users under one name. A group goes with its owner, a member with its account.
create table user_groups (
  position integer primary key,
  id text not null unique,
  owner text not null collate nocase references users (username) on delete cascade,
  details text not null
) strict;

create index user_groups_by_owner on user_groups (owner, position);

create table group_members (
  username text not null collate nocase references users (username) on delete cascade,
  group_id text not null references user_groups (id) on delete cascade,
  primary key (username, group_id)
) strict, without rowid;

create index group_members_by_group on group_members (group_id, username);

create table group_grants (
  group_id text not null references user_groups (id) on delete cascade,
  kind text not null,
  resource text not null,
  scopes text not null,
  primary key (group_id, kind, resource)
) strict, without rowid;

create index group_grants_by_resource on group_grants (kind, resource, group_id);

-- Grants of groups end with what they are about, and when it gets another owner.
create trigger group_grants_end_with_device after delete on devices begin
  delete from group_grants where kind = 'device' and resource = old.id;
end;

create trigger group_grants_end_with_gateway after delete on gateways begin
  delete from group_grants where kind = 'gateway' and resource = old.id;
end;

create trigger group_grants_end_with_project after delete on projects begin
  delete from group_grants where kind = 'project' and resource = old.id;
end;

create trigger group_grants_end_with_device_owner after update of owner on devices
when old.owner <> new.owner begin
  delete from group_grants where kind = 'device' and resource = old.id;
end;

create trigger group_grants_end_with_gateway_owner after update of owner on gateways
when old.owner <> new.owner begin
  delete from group_grants where kind = 'gateway' and resource = old.id;
end;

-- What grants on a project reach: the devices and gateways that its owner listed. Projects that
-- are shared already reach nothing, as who shared them did not mean to, until their owner lists
-- what is in them again.
create table project_members (
  project text not null references projects (id) on delete cascade,
  kind text not null,
  resource text not null,
  primary key (project, kind, resource)
) strict, without rowid;

create index project_members_by_resource on project_members (kind, resource, project);

insert or ignore into project_members (project, kind, resource)
  select projects.id, 'device', listed.value
  from projects, json_each(projects.details, '$.deviceIds') as listed
  where not exists (select 1 from grants where kind = 'project' and resource = projects.id);

insert or ignore into project_members (project, kind, resource)
  select projects.id, 'gateway', listed.value
  from projects, json_each(projects.details, '$.gatewayIds') as listed
  where not exists (select 1 from grants where kind = 'project' and resource = projects.id);
