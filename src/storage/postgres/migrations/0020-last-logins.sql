-- When somebody last logged in, to a day; where it is not known, as far as it is still kept.
alter table users add column last_login_at bigint;

update users set last_login_at =
  (select max(at) from
    (select user_id, last_at as at from login_networks
     union all select user_id, last_used_at from login_sessions) as logins
   where logins.user_id = users.id);
