import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../../../lib/log.ts';
import type { SqlSession } from '../../sql/session.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { sessionOn } from '../connection.ts';
import { connectWriter } from '../opening.ts';
import { postgresLimits } from '../postgres-limits.ts';
import { createReader } from '../reader.ts';
import type { SeriesKey } from '../timeseries/series-key.ts';
import { identify, type ShardBook } from './identity.ts';
import { type ChunkPart, type SentBytes, type SentReading, ShardAwayError } from './sent-chunks.ts';

/** A further database that keeps chunks. */
export interface Shard {
  /** Which one it is; undefined: it was not reached yet. */
  number(): number | undefined;
  isAway(): boolean;
  /**
   * Looks whether it can be reached, and which it is. Throws UnusableStorageError for a database
   * that is none of ours, and ShardAwayError.
   */
  reach(): Promise<void>;
  /** The bytes of chunks. Throws ShardAwayError. */
  read(key: SeriesKey, ids: readonly number[], how: SentReading): Promise<BytesById>;
  /** For whoever sends chunks; undefined: another process does, or it is away. */
  sending(): Promise<SqlSession | undefined>;
  close(): Promise<void>;
}

export type BytesById = ReadonlyMap<number, SentBytes>;

interface Open {
  readonly client: pg.Client;
  readonly session: SqlSession;
  isSender: boolean;
}

/** Bytes of chunks of a series, at their shard. */
export const selectBytes = (parts: readonly ChunkPart[]): string => `
  select id, ${parts.includes('points') ? 'points' : 'null::bytea as points'},
    ${parts.includes('summary') ? 'summary' : 'null::bytea as summary'}
  from chunk_bytes where bucket = $1 and series = $2 and id = any($3::bigint[])`;
/** One process sends; its lock ends with its connection. */
const tryLock = `
  select pg_try_advisory_lock(hashtext('kipimo shard'), hashtext(current_schema())) as locked`;

/**
 * A database behind one address. When it was not there once, it counts as away, and reads fail at
 * once, until `reach` finds it again: whoever asks in the middle of a commit must not wait for it.
 */
export function createShard(options: {
  readonly url: string;
  readonly log: Log;
  readonly book: ShardBook;
}): Shard {
  const { url, log, book } = options;
  const reader = createReader(url, log);
  let open: Open | undefined;
  let number: number | undefined;
  let isAway = true;
  let isClosed = false;

  function leave(reason: unknown): void {
    if (!isAway && !isClosed) log.error({ err: reason, shard: number }, 'a shard is away');
    isAway = true;
  }

  function drop(which: Open): void {
    which.client.end().catch(() => undefined);
    if (open === which) open = undefined;
  }

  async function connect(): Promise<Open> {
    const client = await connectWriter(url);
    try {
      const found = await identify(client, book);
      if (number !== undefined && found !== number) {
        throw new UnusableStorageError(`behind the address of shard ${number} there is ${found}`);
      }
      number = found;
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    const connected = { client, session: sessionOn(client), isSender: false };
    client.once('end', () => {
      if (open === connected) open = undefined;
    });
    return connected;
  }

  async function reach(): Promise<void> {
    const before = open;
    if (before !== undefined && !isAway) return;
    try {
      if (before === undefined) {
        open = await connect();
        if (isClosed) drop(open);
      } else await inTime(before.client.query('select 1'), postgresLimits.shardReachMs);
    } catch (error) {
      if (before !== undefined) drop(before);
      leave(error);
      if (error instanceof UnusableStorageError) throw error;
      throw new ShardAwayError(error);
    }
    if (isAway && !isClosed) log.info({ shard: number }, 'a shard was reached');
    isAway = false;
  }

  return {
    number: () => number,
    isAway: () => isAway,
    reach,
    async read(key, ids, { parts, isUrgent }) {
      if (isAway) throw new ShardAwayError();
      const values = [key.bucket, key.series, ids] as const;
      const reading = reader.all<SentBytes & { readonly id: number }>(
        ...[selectBytes(parts), ...values],
      );
      const ms = isUrgent ? postgresLimits.shardUrgentMs : postgresLimits.statementMs;
      try {
        const rows = await inTime(reading, ms);
        return new Map(rows.map(({ id, points, summary }) => [id, { points, summary }]));
      } catch (error) {
        leave(error);
        throw new ShardAwayError(error);
      }
    },
    async sending() {
      const current = open;
      if (isAway || current === undefined) return undefined;
      if (!current.isSender) {
        const tried = await current.session.first<{ locked: boolean }>(tryLock);
        current.isSender = tried?.locked === true;
      }
      return current.isSender ? current.session : undefined;
    },
    async close() {
      isClosed = true;
      await open?.client.end().catch(() => undefined);
      await reader.close();
    },
  };
}

/** Rejects when an answer takes longer; the answer is dropped then. */
async function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  answer.catch(() => undefined);
  const ended = new AbortController();
  const late = wait(ms, undefined, { ref: false, signal: ended.signal }).then(() => {
    throw new Error(`the database gave no answer within ${ms} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    ended.abort();
  }
}
