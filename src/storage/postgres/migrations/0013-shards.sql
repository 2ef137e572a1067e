-- Further databases ("shards") that keep the bytes of chunks which grow no more; each has the same
-- id in its table "shard_identity". One that "has_joined" may have chunks.
create table shards (
  shard smallint generated always as identity primary key,
  id text collate "C" not null,
  has_joined boolean not null default false
);

-- A chunk that is meant for a shard. Once it was sent, its bytes are there and so many, and
-- "points" and "summary" are empty here.
alter table chunks add column shard smallint;
alter table chunks add column sent_bytes integer;

-- Chunks that went after they were meant for a shard: what is there of them is deleted later.
create table shard_leavings (
  shard smallint not null,
  gone_at timestamptz not null default now(),
  bucket smallint not null,
  series bigint not null,
  id bigint not null,
  primary key (shard, gone_at, id)
);

create function leave_shard() returns trigger language plpgsql as $$
begin
  insert into shard_leavings (shard, bucket, series, id)
  values (old.shard, old.bucket, old.series, old.id);
  return null;
end $$;

create trigger chunk_leaves_shard after delete on chunks
  for each row when (old.shard is not null) execute function leave_shard();
