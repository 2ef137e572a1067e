-- Lists of accounts and of messages are counted as those of devices are: part '*' is all, and '='
-- with a name those that this account sent or received, each once. A statement counts all of its
-- rows at once: to count each apart took a second for a thousand messages of an account that ends.

-- Whoever inserts or deletes these has the commit lock: none is under way while they are counted.
select from writers where writer = 0 for update;

-- Its arguments are the kind and the parts of a row, as an expression.
create function count_rows() returns trigger language plpgsql as $$
declare
  merged text[];
begin
  execute format(
    'with counted as (
       insert into list_counts (kind, part, things)
         select $1, part, $2 * count(*) from changed cross join lateral unnest(%s) as part
         where part is not null group by part
       returning part)
     select array_agg(part) from counted', tg_argv[1])
    into merged using tg_argv[0], case tg_op when 'INSERT' then 1 else -1 end;
  -- What an account leaves behind goes with its last thing.
  if random() >= 0.02 then
    if tg_op = 'INSERT' then return null; end if;
    merged := array_remove(array_remove(merged, '*'), '');
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

drop trigger devices_counted on devices;
create trigger devices_counted after insert on devices referencing new table as changed
  for each statement execute function
    count_rows('device', 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]');
create trigger devices_uncounted after delete on devices referencing old table as changed
  for each statement execute function
    count_rows('device', 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]');

drop trigger gateways_counted on gateways;
create trigger gateways_counted after insert on gateways referencing new table as changed
  for each statement execute function
    count_rows('gateway', 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]');
create trigger gateways_uncounted after delete on gateways referencing old table as changed
  for each statement execute function
    count_rows('gateway', 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]');

drop trigger projects_counted on projects;
create trigger projects_counted after insert on projects referencing new table as changed
  for each statement execute function
    count_rows('project', 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]');
create trigger projects_uncounted after delete on projects referencing old table as changed
  for each statement execute function
    count_rows('project', 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]');

insert into list_counts (kind, part, things) select 'user', '*', count(*) from users;
create trigger users_counted after insert on users referencing new table as changed
  for each statement execute function count_rows('user', 'array[''*'']');
create trigger users_uncounted after delete on users referencing old table as changed
  for each statement execute function count_rows('user', 'array[''*'']');

insert into list_counts (kind, part, things)
  select 'social', part, count(*) from (
    select '*' as part from socials union all select '=' || nocase(sender) from socials
    union all select '=' || nocase(recipient) from socials
      where nocase(recipient) <> nocase(sender)) as listed
  group by part;
create trigger socials_counted after insert on socials referencing new table as changed
  for each statement execute function count_rows('social',
    'array[''*'', ''='' || nocase(changed.sender), case when nocase(changed.recipient)
      <> nocase(changed.sender) then ''='' || nocase(changed.recipient) end]');
create trigger socials_uncounted after delete on socials referencing old table as changed
  for each statement execute function count_rows('social',
    'array[''*'', ''='' || nocase(changed.sender), case when nocase(changed.recipient)
      <> nocase(changed.sender) then ''='' || nocase(changed.recipient) end]');
