import pg from 'pg';
import { silentLog } from '../../../lib/log.ts';
import type { SqlSession } from '../../sql/session.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { clientConfig } from '../opening.ts';
import { createReader, type Reader } from '../reader.ts';
import { identityOf, type ShardIdentity } from './identity.ts';
import { type SentBytes, type SentChunks, ShardAwayError } from './sent-chunks.ts';
import { selectBytes } from './shard.ts';

/** The shards of an installation, for a command that reads alone. */
export interface ShardReading extends SentChunks {
  /** Those that are there, by their numbers. */
  readonly shards: ReadonlyMap<number, SqlSession>;
  /** Those that cannot be reached, or that no address leads to. */
  readonly missing: readonly number[];
  close(): Promise<void>;
}

const listJoined = 'select shard, id from shards where has_joined order by shard';

/**
 * Opens the databases behind these addresses, which keep chunks of the main one. One that cannot be
 * reached is missing. Throws UnusableStorageError for one of another installation.
 */
export async function openShardsForReading(
  main: SqlSession,
  urls: readonly string[],
): Promise<ShardReading> {
  const joined = await main.all<ShardIdentity>(listJoined);
  const shards = new Map<number, Reader>();
  try {
    for (const url of urls) {
      const found = await identityBehind(url);
      if (found === undefined) continue;
      if (!joined.some(({ shard, id }) => shard === found.shard && id === found.id)) {
        throw new UnusableStorageError(
          'a further database in KIPIMO_DATABASE_URL has chunks of another installation',
        );
      }
      if (!shards.has(found.shard)) shards.set(found.shard, createReader(url, silentLog));
    }
  } catch (error) {
    for (const reader of shards.values()) await reader.close();
    throw error;
  }
  const missing = joined.flatMap(({ shard }) => (shards.has(shard) ? [] : [shard]));
  return {
    shards,
    missing,
    awayCount: () => missing.length,
    async read(shard, { bucket, series }, ids, { parts }) {
      const reader = shards.get(shard);
      if (reader === undefined) throw new ShardAwayError();
      const sql = selectBytes(parts);
      const rows = await reader.all<SentBytes & { id: number }>(sql, bucket, series, ids);
      return new Map(rows.map(({ id, points, summary }) => [id, { points, summary }]));
    },
    async close() {
      for (const reader of shards.values()) await reader.close();
    },
  };
}

/** Undefined: it cannot be reached, or has not been used yet. */
async function identityBehind(url: string): Promise<ShardIdentity | undefined> {
  const client = new pg.Client(clientConfig(url, 'reads'));
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await identityOf(client);
  } catch (error) {
    if (error instanceof UnusableStorageError) throw error;
    return undefined;
  } finally {
    client.end().catch(() => undefined);
  }
}
