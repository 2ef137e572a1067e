-- Which addresses of a profile are proven, as JSON, and how well its e-mail is (2 proven, 1 older
-- than proofs, 0 not). Addresses of accounts that are there already count as older than proofs, so
-- that their alerts do not fall silent.
alter table users add column proofs text not null default '[]';
alter table users add column email_proof integer not null default 0;

update users set email_proof = 1 where email_key is not null and email_key <> '';

update users set proofs = (
  select coalesce(
    json_group_array(
      json_object('channel', channel, 'address', address, 'provenAt', at, 'by', 'earlier')),
    '[]')
  from (
    select 'email' as channel, email_key as address,
      cast(unixepoch('subsec') * 1000 as integer) as at
      where email_key is not null and email_key <> ''
    union all
    select 'phone', value, cast(unixepoch('subsec') * 1000 as integer)
      from json_each(users.profile, '$.phone') where type = 'text'
  )
) where json_valid(profile);

drop index users_by_email;
create index users_by_email on users (email_key, email_proof desc, position)
  where email_key is not null;
