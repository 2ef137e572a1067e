import type pg from 'pg';
import { bucketOf, buckets } from '../sql/device-row.ts';
import { sessionOn } from './connection.ts';

/**
 * The parts of the data plane, where the tables are spread over several servers by Citus: a part is
 * a shard of each table, and all of a device is in one, by its bucket. Without Citus there is none.
 */
export interface Parts {
  /** A bucket of each part. */
  readonly firsts: readonly number[];
  /** The part of a bucket, counted from 1; 0: there are none. */
  of(bucket: number): number;
}

/** Whatever names the device that a row is of. */
interface OfDevice {
  readonly deviceId: string;
}

/** The part of a device. */
export const partOf = (parts: Parts, { deviceId }: OfDevice): number =>
  parts.of(bucketOf(deviceId));

/** The buckets of these, each once: by them Citus finds the one server that a statement is for. */
export const bucketsOf = (devices: readonly OfDevice[]): readonly number[] => [
  ...new Set(devices.map(({ deviceId }) => bucketOf(deviceId))),
];

/** Whether the database has Citus, and workers: tables that are made now are spread over them. */
const findWorkers = `
  select 1 from pg_extension where extname = 'citus'
    and exists (select from pg_dist_node where noderole = 'primary' and groupid <> 0)`;

/**
 * What the first tables have and distributed ones cannot: keys and foreign keys without a bucket.
 * As many parts as `citus.shard_count` says. Citus commits in two phases what changes a table that
 * it knows on the coordinator, so that what other tables there say and the parts stay one.
 */
const distribute = `
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
  create table part_writers (
    bucket smallint not null,
    writer integer not null,
    member text not null,
    seq bigint not null default 0,
    ended boolean not null default false,
    primary key (bucket, writer)
  );
  create table whole_commits (writer integer);
  select create_distributed_table('sensors', 'bucket', colocate_with => 'none');
  select create_distributed_table(name, 'bucket', colocate_with => 'sensors')
  from unnest(array['hot', 'chunks', 'damaged_points', 'corrections', 'hourly_summaries',
    'retained_series', 'part_writers']) as name;
  select citus_add_local_table_to_metadata('whole_commits');
  create function commit_whole() returns void language plpgsql as $$
  begin
    if pg_current_xact_id_if_assigned() is not null then delete from whole_commits; end if;
  end $$`;

/** Spreads new, empty tables over the workers of Citus, where the database has any. */
export async function distributeTables(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`select from pg_extension where extname = 'citus'`);
  if (rowCount === 0 || (await client.query(findWorkers)).rowCount === 0) return;
  await client.query(distribute);
}

const findParts = `
  select to_regclass(quote_ident(current_schema()) || '.part_writers') is not null as found`;
const selectParts = `
  select bucket, dense_rank() over (order by
    get_shard_id_for_distribution_column('sensors', bucket))::integer as part
  from generate_series(0, $1::integer - 1) as bucket order by bucket`;

/** Reads which part each bucket is of. */
export async function readParts(client: pg.Client): Promise<Parts> {
  const session = sessionOn(client);
  const row = await session.first<{ found: boolean }>(findParts);
  if (row?.found !== true) return { firsts: [], of: () => 0 };
  const rows = await session.all<{ bucket: number; part: number }>(selectParts, buckets);
  const byPart = Map.groupBy(rows, ({ part }) => part);
  const firsts = [...byPart].sort(([a], [b]) => a - b).map(([, [first]]) => first?.bucket ?? 0);
  return { firsts, of: (bucket) => rows[bucket]?.part ?? 0 };
}

/** Of a transaction with parts, its last statement but the commit. */
export const commitWhole = 'select commit_whole()';
