-- Lists of accounts and of messages are counted as those of devices are: part '*' is all, and '='
-- with a name those that this account sent or received, each once.

insert into list_counts (kind, part, things) select 'user', '*', count(*) from users;

create trigger users_counted after insert on users begin
  insert into list_counts (kind, part, things) values ('user', '*', 1)
  on conflict (kind, part) do update set things = things + 1;
end;

create trigger users_uncounted after delete on users begin
  update list_counts set things = things - 1 where kind = 'user' and part = '*';
end;

insert into list_counts (kind, part, things)
select 'social', part, count(*) from (
  select '*' as part from socials union all select '=' || lower(sender) from socials
  union all select '=' || lower(recipient) from socials where recipient <> sender)
group by part;

create trigger socials_counted after insert on socials begin
  insert into list_counts (kind, part, things)
  select 'social', value, 1
  from json_each(json_array('*', '=' || lower(new.sender), '=' || lower(new.recipient)))
  where true group by value on conflict (kind, part) do update set things = things + 1;
end;

create trigger socials_uncounted after delete on socials begin
  update list_counts set things = things - 1
  where kind = 'social' and part in ('*', '=' || lower(old.sender), '=' || lower(old.recipient));
  delete from list_counts
  where kind = 'social' and part in ('*', '=' || lower(old.sender), '=' || lower(old.recipient))
    and things = 0;
end;
