import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../../lib/log.ts';
import type { SqlSession } from '../../sql/session.ts';
import { postgresLimits } from '../postgres-limits.ts';
import type { StoreContext } from '../store-context.ts';
import { ShardAwayError } from './sent-chunks.ts';
import type { Shards } from './shards.ts';

/** Limits of sending; tests shrink them. */
export interface SendingLimits {
  readonly shardPageRows: number;
  readonly shardStepBytes: number;
  readonly shardStepPauseMs: number;
  readonly shardRestMs: number;
  readonly shardLeavingMs: number;
}

/** A chunk that may be sent. */
interface Candidate {
  readonly bucket: number;
  readonly series: number;
  readonly min_time: number;
  readonly max_time: number;
  readonly id: number;
  readonly shard: number | null;
  readonly bytes: number;
  readonly is_sent: boolean;
  /** Two more of its series follow: nothing joins it but what comes late. */
  readonly is_settled: boolean;
}

const first = Number.NEGATIVE_INFINITY;
const selectPage = `
  select bucket, series, min_time, max_time, id, shard,
    octet_length(points) + coalesce(octet_length(summary), 0) as bytes,
    sent_bytes is not null as is_sent,
    lead(id, 2) over (partition by bucket, series order by min_time, max_time, id) is not null
      as is_settled
  from (
    select * from chunks where (bucket, series, min_time, max_time, id) > ($1, $2, $3, $4, $5)
    order by bucket, series, min_time, max_time, id limit $6) as page
  order by bucket, series, min_time, max_time, id`;
const isGiven = `
  chunks.bucket = given.bucket and chunks.series = given.series
  and chunks.min_time = given.min_time and chunks.max_time = given.max_time
  and chunks.id = given.id and sent_bytes is null`;
const given = (at: number): string => `
  unnest($${at}::smallint[], $${at + 1}::bigint[], $${at + 2}::float8[], $${at + 3}::float8[],
    $${at + 4}::bigint[]) as given (bucket, series, min_time, max_time, id)`;
const claim = `update chunks set shard = $1 from ${given(2)} where ${isGiven} and shard is null`;
const selectBytes = `
  select chunks.bucket, chunks.series, chunks.id, points, summary
  from chunks join ${given(2)} on ${isGiven} and shard = $1`;
const empty = `
  update chunks set sent_bytes = octet_length(points), points = '', summary = null
  from ${given(2)} where ${isGiven} and shard = $1`;
const put = `
  insert into chunk_bytes (bucket, series, id, points, summary)
  select bucket, series, id, substring($1::bytea from start + 1 for length),
    case when summary_length >= 0 then substring($1::bytea from start + length + 1
      for summary_length) end
  from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::integer[],
    $7::integer[]) as given (bucket, series, id, start, length, summary_length)
  on conflict (bucket, series, id) do update
    set points = excluded.points, summary = excluded.summary`;
const selectLeavings = `
  select gone_at::text as gone_at, bucket, series, id from shard_leavings
  where shard = $1 and gone_at < now() - make_interval(secs => $2)
  order by gone_at, id limit $3`;
const drop = `
  delete from chunk_bytes using unnest($1::smallint[], $2::bigint[], $3::bigint[])
    as given (bucket, series, id)
  where chunk_bytes.bucket = given.bucket and chunk_bytes.series = given.series
    and chunk_bytes.id = given.id`;
const forget = `
  delete from shard_leavings using unnest($2::text[], $3::bigint[]) as given (gone_at, id)
  where shard = $1 and shard_leavings.gone_at = given.gone_at::timestamptz
    and shard_leavings.id = given.id`;

/** Sends chunks that grow no more to their shards, as long as the service runs. */
export interface Sending {
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}

/**
 * A chunk is claimed for its shard in one commit, written there, and emptied here in another one,
 * if it is still there: chunks never change, so whatever breaks off in between is done again. What
 * goes here after it was claimed leaves a row, by which it is deleted there a day later: until then
 * a backup of the main database that is a day old finds all it needs.
 */
export function startSending(options: {
  readonly context: Pick<StoreContext, 'reader' | 'writer'>;
  readonly shards: Shards;
  readonly log: Log;
  readonly limits?: SendingLimits;
}): Sending {
  const { context, shards, log, limits = postgresLimits } = options;
  const closing = new AbortController();
  const pause = (ms: number): Promise<unknown> =>
    wait(ms, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
  const steps = createSteps(context, limits);
  let isFailing = false;

  /** The shards that this process sends to, with their connections. */
  async function reachable(): Promise<ReadonlyMap<number, SqlSession>> {
    const found = new Map<number, SqlSession>();
    for (const shard of shards.all()) {
      const number = shard.number();
      const session = await shard.sending().catch(() => undefined);
      if (number !== undefined && session !== undefined) found.set(number, session);
    }
    return found;
  }

  async function round(): Promise<void> {
    const sessions = await reachable();
    if (sessions.size === 0) return;
    for (const [shard, session] of sessions) await steps.dropLeft(shard, session);
    for await (const [shard, chunks] of steps.due(shards.shardOf)) {
      if (closing.signal.aborted) return;
      const session = sessions.get(shard);
      if (session === undefined) continue;
      await steps.send(shard, session, chunks);
      await pause(limits.shardStepPauseMs);
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const startedAt = performance.now();
      try {
        await round();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !(error instanceof ShardAwayError)) {
          log.error({ err: error }, 'chunks cannot be sent to their shards, and are tried again');
        }
        isFailing = true;
      }
      // A look at all chunks takes a while where there are millions: it must not be all there is.
      const tookMs = performance.now() - startedAt;
      await pause(limits.shardRestMs + 10 * tookMs);
    }
  }

  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

function createSteps(
  { reader, writer }: Pick<StoreContext, 'reader' | 'writer'>,
  limits: SendingLimits,
) {
  const keysOf = (chunks: readonly Candidate[]) =>
    [
      chunks.map(({ bucket }) => bucket),
      chunks.map(({ series }) => series),
      chunks.map(({ min_time }) => min_time),
      chunks.map(({ max_time }) => max_time),
      chunks.map(({ id }) => id),
    ] as const;

  async function* due(
    shardOf: (bucket: number) => number | undefined,
  ): AsyncGenerator<readonly [number, readonly Candidate[]]> {
    const rows = limits.shardPageRows;
    let after: readonly number[] = [-1, -1, first, first, -1];
    for (;;) {
      const page = await reader.all<Candidate>(selectPage, ...after, rows);
      yield* groups(page, shardOf);
      if (page.length < rows) return;
      // Of the last two of a page nothing says yet what follows.
      const last = page[rows - 3];
      if (last === undefined) return;
      after = [last.bucket, last.series, last.min_time, last.max_time, last.id];
    }
  }

  /** Chunks for one shard, of a few megabytes together. */
  function* groups(
    page: readonly Candidate[],
    shardOf: (bucket: number) => number | undefined,
  ): Generator<readonly [number, readonly Candidate[]]> {
    const open = new Map<number, { bytes: number; chunks: Candidate[] }>();
    for (const chunk of page) {
      if (chunk.is_sent || !chunk.is_settled) continue;
      const shard = chunk.shard ?? shardOf(chunk.bucket);
      if (shard === undefined) continue;
      const group = open.get(shard) ?? { bytes: 0, chunks: [] };
      open.set(shard, group);
      group.chunks.push(chunk);
      group.bytes += chunk.bytes;
      if (group.bytes < limits.shardStepBytes) continue;
      open.delete(shard);
      yield [shard, group.chunks];
    }
    for (const [shard, { chunks }] of open) yield [shard, chunks];
  }

  async function send(shard: number, session: SqlSession, chunks: readonly Candidate[]) {
    const keys = keysOf(chunks);
    if (chunks.some((chunk) => chunk.shard === null)) {
      await writer.call((tx) => tx.run(claim, shard, ...keys));
    }
    const rows = await reader.all<ByteRow>(selectBytes, shard, ...keys);
    if (rows.length === 0) return;
    await putBytes(session, rows);
    await writer.call((tx) => tx.run(empty, shard, ...keys));
  }

  async function dropLeft(shard: number, session: SqlSession): Promise<void> {
    const seconds = limits.shardLeavingMs / 1_000;
    for (;;) {
      const max = limits.shardPageRows;
      const left = await reader.all<Leaving>(selectLeavings, shard, seconds, max);
      if (left.length === 0) return;
      const ids = left.map(({ id }) => id);
      await session.run(
        ...([drop, left.map(({ bucket }) => bucket), left.map(({ series }) => series)] as const),
        ids,
      );
      const times = left.map(({ gone_at }) => gone_at);
      await writer.call((tx) => tx.run(forget, shard, times, ids));
    }
  }

  return { due, send, dropLeft };
}

interface ByteRow {
  readonly bucket: number;
  readonly series: number;
  readonly id: number;
  readonly points: Uint8Array;
  readonly summary: Uint8Array | null;
}

interface Leaving {
  readonly gone_at: string;
  readonly bucket: number;
  readonly series: number;
  readonly id: number;
}

async function putBytes(session: SqlSession, rows: readonly ByteRow[]): Promise<void> {
  let end = 0;
  const starts = rows.map(({ points, summary }) => {
    const start = end;
    end += points.length + (summary?.length ?? 0);
    return start;
  });
  const blob = Buffer.concat(
    rows.flatMap(({ points, summary }) => (summary === null ? [points] : [points, summary])),
  );
  await session.run(
    ...([put, blob, rows.map(({ bucket }) => bucket), rows.map(({ series }) => series)] as const),
    rows.map(({ id }) => id),
    starts,
    rows.map(({ points }) => points.length),
    rows.map(({ summary }) => summary?.length ?? -1),
  );
}
