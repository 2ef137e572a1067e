-- Spreads new, empty tables over the workers of Citus, where the database has any: as many parts as
-- `citus.shard_count` says. On other databases it does nothing.
do $spread$
begin
if not exists (select from pg_extension where extname = 'citus') then return; end if;
if not exists (select from pg_dist_node where noderole = 'primary' and groupid <> 0) then
  return;
end if;

-- Distributed tables cannot have keys and foreign keys without the bucket.
alter table sensors drop constraint sensors_device_id_fkey,
  drop constraint sensors_device_id_sensor_id_key cascade,
  add unique (bucket, device_id, sensor_id);
drop index sensors_by_series;
create index sensors_by_series on sensors (series);
alter table retentions drop constraint retentions_bucket_series_fkey;
alter table corrections drop constraint corrections_pkey, add primary key (bucket, position),
  drop constraint corrections_id_key, add unique (bucket, id);
alter table damaged_points drop constraint damaged_points_pkey,
  add primary key (bucket, position);
drop trigger chunk_leaves_shard on chunks;

-- The fence of a part is beside its data. A part is named by the first of its buckets.
create table part_writers (
  bucket smallint not null,
  writer integer not null,
  member text not null,
  seq bigint not null default 0,
  ended boolean not null default false,
  primary key (bucket, writer)
);

perform create_distributed_table('sensors', 'bucket', colocate_with => 'none');
perform create_distributed_table(name, 'bucket', colocate_with => 'sensors')
from unnest(array['hot', 'chunks', 'damaged_points', 'corrections', 'hourly_summaries',
  'retained_series', 'part_writers']) as name;

-- Citus commits in two phases what changes a table that it knows on the coordinator, so that what
-- other tables there say and the parts stay one.
create table whole_commits (writer integer);
perform citus_add_local_table_to_metadata('whole_commits');
-- The last statement of a transaction but its commit.
create function commit_whole() returns void language plpgsql as $$
begin
  if pg_current_xact_id_if_assigned() is not null then delete from whole_commits; end if;
end $$;

-- The name of the part of each bucket.
create function parts_of_buckets() returns smallint[] language sql as $$
  select array_agg(part order by bucket) from (
    select bucket, min(bucket::smallint) over (
      partition by get_shard_id_for_distribution_column('sensors', bucket)) as part
    from generate_series(0, 1023) as bucket) as buckets
$$;

-- Each writer has a row in each part.
create function change_part_writers() returns trigger language plpgsql as $$
declare
  part smallint;
begin
  delete from whole_commits;
  if tg_op = 'INSERT' then
    for part in select distinct unnest(parts_of_buckets()) loop
      insert into part_writers (bucket, writer, member) values (part, new.writer, new.member);
    end loop;
  elsif tg_op = 'UPDATE' then
    update part_writers set member = new.member, ended = new.ended where writer = new.writer;
  else
    delete from part_writers where writer = old.writer;
  end if;
  return null;
end $$;
create trigger change_part_writers after insert or delete or update of member, ended on writers
  for each row execute function change_part_writers();

-- Sensors before their data, in the order in which pushes lock them.
create function remove_sensors() returns trigger language plpgsql as $$
declare
  gone bigint[];
begin
  delete from whole_commits;
  perform series from sensors where bucket = old.bucket and device_id = old.id
  order by series for update;
  gone := array(select series from sensors where bucket = old.bucket and device_id = old.id);
  delete from hot where bucket = old.bucket and series = any(gone);
  delete from retentions where series = any(gone);
  delete from sensors where bucket = old.bucket and series = any(gone);
  return old;
end $$;
create trigger remove_sensors before delete on devices
  for each row execute function remove_sensors();

-- Versions before this one know nothing of parts.
update schema_version set usable_from = version;
end $spread$;
