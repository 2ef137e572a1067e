-- Lists are read and counted by what they show, never by looking at what others have.
-- "listed": '' is shown to everybody; what is hidden has the name of its owner, in small letters.

alter table devices add column listed text collate "C" not null
  generated always as (case when visibility = 'private' and nocase(owner) <> 'guest' then nocase(owner) else '' end) stored;
create index devices_listed on devices (listed, position);

alter table gateways add column listed text collate "C" not null
  generated always as (case when visibility = 'private' and nocase(owner) <> 'guest' then nocase(owner) else '' end) stored;
create index gateways_listed on gateways (listed, position);

alter table projects add column listed text collate "C" not null
  generated always as (case when nocase(owner) <> 'guest' then nocase(owner) else '' end) stored;
create index projects_listed on projects (listed, position);

create index devices_open_by_owner on devices (nocase(owner), position) where listed = '';

-- How many things there are of a kind, by part: a value of "listed"; '*', all; and '=' with a name,
-- those that this account owns. The sum of its rows counts: changes add rows, so that none waits for
-- another process, and now and then those of a part become one.
create table list_counts (
  kind text collate "C" not null,
  part text collate "C" not null,
  things bigint not null
);
create index list_counts_by_part on list_counts (kind, part);

create function count_listed() returns trigger language plpgsql as $$
declare
  parts text[] := '{}';
  gone text[] := '{}';
  merged text[] := '{}';
begin
  if tg_op <> 'DELETE' then parts := array['*', new.listed, '=' || nocase(new.owner)]; end if;
  if tg_op <> 'INSERT' then gone := array['*', old.listed, '=' || nocase(old.owner)]; end if;
  insert into list_counts (kind, part, things)
    select tg_argv[0], part, 1 from unnest(parts) as part
    union all select tg_argv[0], part, -1 from unnest(gone) as part;
  -- What an account leaves behind goes with its last thing.
  if random() < 0.02 then merged := parts || gone;
  elsif tg_op = 'DELETE' then merged := array_remove(gone[2:3], '');
  end if;
  if cardinality(merged) > 0 then
    with taken as (
      select ctid from list_counts where kind = tg_argv[0] and part = any(merged)
      for update skip locked),
    removed as (
      delete from list_counts where ctid in (select ctid from taken) returning part, things)
    insert into list_counts (kind, part, things)
      select tg_argv[0], part, sum(things) from removed group by part having sum(things) <> 0;
  end if;
  return null;
end $$;

insert into list_counts (kind, part, things)
  select 'device', part, count(*) from (
    select '*' as part from devices union all select listed from devices
    union all select '=' || nocase(owner) from devices) as listed
  group by part;
create trigger devices_counted after insert or delete on devices
  for each row execute function count_listed('device');
create trigger devices_counted_anew after update of owner, visibility on devices
  for each row when (old.listed <> new.listed or nocase(old.owner) <> nocase(new.owner))
  execute function count_listed('device');

insert into list_counts (kind, part, things)
  select 'gateway', part, count(*) from (
    select '*' as part from gateways union all select listed from gateways
    union all select '=' || nocase(owner) from gateways) as listed
  group by part;
create trigger gateways_counted after insert or delete on gateways
  for each row execute function count_listed('gateway');
create trigger gateways_counted_anew after update of owner, visibility on gateways
  for each row when (old.listed <> new.listed or nocase(old.owner) <> nocase(new.owner))
  execute function count_listed('gateway');

insert into list_counts (kind, part, things)
  select 'project', part, count(*) from (
    select '*' as part from projects union all select listed from projects
    union all select '=' || nocase(owner) from projects) as listed
  group by part;
create trigger projects_counted after insert or delete on projects
  for each row execute function count_listed('project');
create trigger projects_counted_anew after update of owner on projects
  for each row when (old.listed <> new.listed or nocase(old.owner) <> nocase(new.owner))
  execute function count_listed('project');
