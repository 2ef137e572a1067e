import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../../lib/log.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { buckets } from '../bucket.ts';
import { postgresLimits } from '../postgres-limits.ts';
import type { StoreContext } from '../store-context.ts';
import { createShardBook } from './identity.ts';
import { type SentChunks, ShardAwayError } from './sent-chunks.ts';
import { createShard, type Shard } from './shard.ts';

/** The further databases of an installation. */
export interface Shards extends SentChunks {
  all(): readonly Shard[];
  /** Where chunks of a bucket are sent: each has a range of buckets; undefined: nowhere. */
  readonly shardOf: (bucket: number) => number | undefined;
  close(): Promise<void>;
}

/**
 * Opens the databases behind these addresses; those that are away are looked for again. Throws
 * UnusableStorageError for one that is none of ours, and when one is missing.
 */
export async function openShards(
  urls: readonly string[],
  { reader, writer, log }: Pick<StoreContext, 'reader' | 'writer'> & { readonly log: Log },
): Promise<Shards> {
  const book = createShardBook(reader, writer);
  const all = urls.map((url) => createShard({ url, log, book }));
  const closing = new AbortController();
  let watching: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await watching;
    await Promise.all(all.map((shard) => shard.close()));
  };
  let joined: readonly number[] = [];
  try {
    await reachAll(all, log);
    joined = await book.joined();
    requireAll(all, joined);
  } catch (error) {
    await close();
    throw error;
  }

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await wait(postgresLimits.retryMsMax, undefined, {
        ref: false,
        signal: closing.signal,
      }).catch(() => undefined);
      if (closing.signal.aborted) return;
      // What is wrong now was right at the start: it is as good as away.
      await Promise.all(all.map((shard) => shard.reach().catch(() => undefined)));
      if (joined.length < all.length) joined = await book.joined().catch(() => joined);
    }
  }
  if (all.length > 0) watching = watch();

  return {
    all: () => all,
    shardOf: (bucket) => joined[Math.floor((bucket * joined.length) / buckets)],
    awayCount: () => all.filter((shard) => shard.isAway()).length,
    async read(number, key, ids, how) {
      const shard = all.find((one) => one.number() === number);
      if (shard === undefined) throw new ShardAwayError();
      return shard.read(key, ids, how);
    },
    close,
  };
}

/** One that is away is none that stops a start: what is not in it can be served. */
async function reachAll(all: readonly Shard[], log: Log): Promise<void> {
  for (const shard of all) {
    try {
      await shard.reach();
    } catch (error) {
      if (error instanceof UnusableStorageError) throw error;
      log.error({ err: error }, 'a shard cannot be reached: what it has cannot be read');
    }
  }
}

function requireAll(all: readonly Shard[], joined: readonly number[]): void {
  const numbers = all.flatMap((shard) => shard.number() ?? []);
  if (new Set(numbers).size < numbers.length) {
    throw new UnusableStorageError('KIPIMO_DATABASE_URL names the same shard twice');
  }
  if (joined.length <= all.length) return;
  const missing = joined.filter((number) => !numbers.includes(number));
  throw new UnusableStorageError(
    `KIPIMO_DATABASE_URL lacks the address of shard ${missing.join(', ')}: datapoints are there`,
  );
}
