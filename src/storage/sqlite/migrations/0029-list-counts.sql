-- Lists are read and counted by what they show, never by looking at what others have.
-- "listed": '' is shown to everybody; what is hidden has the name of its owner, in small letters.

alter table devices add column listed text
  generated always as (iif(visibility = 'private' and owner <> 'guest', lower(owner), '')) virtual;
create index devices_listed on devices (listed, position);

alter table gateways add column listed text
  generated always as (iif(visibility = 'private' and owner <> 'guest', lower(owner), '')) virtual;
create index gateways_listed on gateways (listed, position);

alter table projects add column listed text
  generated always as (iif(owner <> 'guest', lower(owner), '')) virtual;
create index projects_listed on projects (listed, position);

create index devices_open_by_owner on devices (owner, position) where listed = '';

-- How many things there are of a kind, by part: a value of "listed"; '*', all; and '=' with a name,
-- those that this account owns.
create table list_counts (
  kind text not null,
  part text not null,
  things integer not null,
  primary key (kind, part)
) strict, without rowid;

insert into list_counts (kind, part, things)
select 'device', part, count(*) from (
  select '*' as part from devices union all select listed from devices
  union all select '=' || lower(owner) from devices)
group by part;

create trigger devices_counted after insert on devices begin
  insert into list_counts (kind, part, things)
  select 'device', value, 1 from json_each(json_array('*', new.listed, '=' || lower(new.owner)))
  where true on conflict (kind, part) do update set things = things + 1;
end;

create trigger devices_uncounted after delete on devices begin
  update list_counts set things = things - 1
  where kind = 'device' and part in ('*', old.listed, '=' || lower(old.owner));
  delete from list_counts
  where kind = 'device' and part in ('*', old.listed, '=' || lower(old.owner)) and things = 0;
end;

create trigger devices_counted_anew after update of owner, visibility on devices
when old.listed <> new.listed or old.owner <> new.owner begin
  update list_counts set things = things - 1
  where kind = 'device' and part in ('*', old.listed, '=' || lower(old.owner));
  delete from list_counts
  where kind = 'device' and part in ('*', old.listed, '=' || lower(old.owner)) and things = 0;
  insert into list_counts (kind, part, things)
  select 'device', value, 1 from json_each(json_array('*', new.listed, '=' || lower(new.owner)))
  where true on conflict (kind, part) do update set things = things + 1;
end;

insert into list_counts (kind, part, things)
select 'gateway', part, count(*) from (
  select '*' as part from gateways union all select listed from gateways
  union all select '=' || lower(owner) from gateways)
group by part;

create trigger gateways_counted after insert on gateways begin
  insert into list_counts (kind, part, things)
  select 'gateway', value, 1 from json_each(json_array('*', new.listed, '=' || lower(new.owner)))
  where true on conflict (kind, part) do update set things = things + 1;
end;

create trigger gateways_uncounted after delete on gateways begin
  update list_counts set things = things - 1
  where kind = 'gateway' and part in ('*', old.listed, '=' || lower(old.owner));
  delete from list_counts
  where kind = 'gateway' and part in ('*', old.listed, '=' || lower(old.owner)) and things = 0;
end;

create trigger gateways_counted_anew after update of owner, visibility on gateways
when old.listed <> new.listed or old.owner <> new.owner begin
  update list_counts set things = things - 1
  where kind = 'gateway' and part in ('*', old.listed, '=' || lower(old.owner));
  delete from list_counts
  where kind = 'gateway' and part in ('*', old.listed, '=' || lower(old.owner)) and things = 0;
  insert into list_counts (kind, part, things)
  select 'gateway', value, 1 from json_each(json_array('*', new.listed, '=' || lower(new.owner)))
  where true on conflict (kind, part) do update set things = things + 1;
end;

insert into list_counts (kind, part, things)
select 'project', part, count(*) from (
  select '*' as part from projects union all select listed from projects
  union all select '=' || lower(owner) from projects)
group by part;

create trigger projects_counted after insert on projects begin
  insert into list_counts (kind, part, things)
  select 'project', value, 1 from json_each(json_array('*', new.listed, '=' || lower(new.owner)))
  where true on conflict (kind, part) do update set things = things + 1;
end;

create trigger projects_uncounted after delete on projects begin
  update list_counts set things = things - 1
  where kind = 'project' and part in ('*', old.listed, '=' || lower(old.owner));
  delete from list_counts
  where kind = 'project' and part in ('*', old.listed, '=' || lower(old.owner)) and things = 0;
end;

create trigger projects_counted_anew after update of owner on projects
when old.listed <> new.listed or old.owner <> new.owner begin
  update list_counts set things = things - 1
  where kind = 'project' and part in ('*', old.listed, '=' || lower(old.owner));
  delete from list_counts
  where kind = 'project' and part in ('*', old.listed, '=' || lower(old.owner)) and things = 0;
  insert into list_counts (kind, part, things)
  select 'project', value, 1 from json_each(json_array('*', new.listed, '=' || lower(new.owner)))
  where true on conflict (kind, part) do update set things = things + 1;
end;
