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

insert into list_counts (kind, part, things) select 'user', '*', count(*) from users;
insert into list_counts (kind, part, things)
  select 'social', part, count(*) from (
    select '*' as part from socials union all select '=' || nocase(sender) from socials
    union all select '=' || nocase(recipient) from socials
      where nocase(recipient) <> nocase(sender)) as listed
  group by part;

drop trigger devices_counted on devices;
drop trigger gateways_counted on gateways;
drop trigger projects_counted on projects;
do $$
declare
  listed text := 'array[''*'', changed.listed, ''='' || nocase(changed.owner)]';
  of_both text := 'array[''*'', ''='' || nocase(changed.sender),
    case when nocase(changed.recipient) <> nocase(changed.sender)
      then ''='' || nocase(changed.recipient) end]';
  counted record;
begin
  for counted in select * from (values
    ('device', listed), ('gateway', listed), ('project', listed),
    ('user', 'array[''*'']'), ('social', of_both)) as kinds (kind, parts)
  loop
    execute format(
      'create trigger %1$ss_counted after insert on %1$ss referencing new table as changed
         for each statement execute function count_rows(%1$L, %2$L);
       create trigger %1$ss_uncounted after delete on %1$ss referencing old table as changed
         for each statement execute function count_rows(%1$L, %2$L)',
      counted.kind, counted.parts);
  end loop;
end $$;
