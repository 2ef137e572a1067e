-- Lists of accounts and of messages are counted as those of devices are: part '*' is all, and '='
-- with a name those that this account sent or received, each once.

create function add_counts(counted text, parts text[], gone text[]) returns void
language plpgsql as $$
declare
  merged text[] := '{}';
begin
  insert into list_counts (kind, part, things)
    select counted, part, 1 from unnest(parts) as part
    union all select counted, part, -1 from unnest(gone) as part;
  -- What an account leaves behind goes with its last thing.
  if random() < 0.02 then merged := parts || gone;
  elsif cardinality(parts) = 0 then merged := array_remove(gone[2:3], '');
  end if;
  if cardinality(merged) > 0 then
    with taken as (
      select ctid from list_counts where kind = counted and part = any(merged)
      for update skip locked),
    removed as (
      delete from list_counts where ctid in (select ctid from taken) returning part, things)
    insert into list_counts (kind, part, things)
      select counted, part, sum(things) from removed group by part having sum(things) <> 0;
  end if;
end $$;

create or replace function count_listed() returns trigger language plpgsql as $$
declare
  parts text[] := '{}';
  gone text[] := '{}';
begin
  if tg_op <> 'DELETE' then parts := array['*', new.listed, '=' || nocase(new.owner)]; end if;
  if tg_op <> 'INSERT' then gone := array['*', old.listed, '=' || nocase(old.owner)]; end if;
  perform add_counts(tg_argv[0], parts, gone);
  return null;
end $$;

create function count_user() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then perform add_counts('user', array['*'], '{}');
  else perform add_counts('user', '{}', array['*']);
  end if;
  return null;
end $$;

create function count_social() returns trigger language plpgsql as $$
declare
  social socials := case when tg_op = 'INSERT' then new else old end;
  parts text[] := array['*', '=' || nocase(social.sender)];
begin
  if nocase(social.recipient) <> nocase(social.sender) then
    parts := parts || ('=' || nocase(social.recipient));
  end if;
  if tg_op = 'INSERT' then perform add_counts('social', parts, '{}');
  else perform add_counts('social', '{}', parts);
  end if;
  return null;
end $$;

insert into list_counts (kind, part, things) select 'user', '*', count(*) from users;
create trigger users_counted after insert or delete on users
  for each row execute function count_user();

insert into list_counts (kind, part, things)
  select 'social', part, count(*) from (
    select '*' as part from socials union all select '=' || nocase(sender) from socials
    union all select '=' || nocase(recipient) from socials
      where nocase(recipient) <> nocase(sender)) as listed
  group by part;
create trigger socials_counted after insert or delete on socials
  for each row execute function count_social();
