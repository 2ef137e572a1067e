-- When a gateway was seen last and what it said then change with each heartbeat, so they have
-- columns of their own.
create table gateways (
  position integer primary key,
  id text not null unique,
  owner text not null collate nocase,
  visibility text,
  last_seen_at integer,
  status text,
  created_at integer not null,
  modified_at integer not null,
  details text not null
) strict;

create index gateways_by_owner on gateways (owner, position);

create table projects (
  position integer primary key,
  id text not null unique,
  owner text not null collate nocase,
  details text not null
) strict;

create index projects_by_owner on projects (owner, position);

drop view owned_resources;

create view owned_resources (kind, resource, owner) as
  select 'device', id, owner from devices
  union all select 'gateway', id, owner from gateways
  union all select 'project', id, owner from projects;
