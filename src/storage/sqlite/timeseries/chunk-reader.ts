import type { DatabaseSync } from 'node:sqlite';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import { createLruCache } from '../../../lib/cache.ts';
import type { Log } from '../../../lib/log.ts';
import type { ChunkHead } from '../../chunks/chunk.ts';
import {
  createBlockCache,
  createChunkSource,
  endsOf,
  summaryFrom,
} from '../../chunks/chunk-source.ts';
import { bytesOfSummary, type ChunkSummary } from '../../chunks/summary.ts';
import type { DatapointLimits } from './datapoint-limits.ts';

const findFlushed = 'select sealed as flushed from last_values where series = ?';
// No chunk before the last one that begins earlier than the range can reach into it.
const inRange = `
  from chunks where series = :series and max_time >= :from and min_time <= :to
    and min_time >= coalesce(
      (select min_time from chunks where series = :series and min_time < :from
       order by min_time desc limit 1), :from)`;
const listAscending = `
  select id, min_time, max_time, count ${inRange} order by min_time, max_time, id`;
const listDescending = `
  select id, min_time, max_time, count ${inRange}
  order by min_time desc, max_time desc, id desc`;
const countInside = `
  select coalesce(sum(count), 0) from chunks
  where series = ? and min_time >= ? and min_time <= ? and max_time <= ?`;
const readChunk = 'select datapoints from chunks where id = ?';
const readSummary = 'select summary from chunk_summaries where chunk = ?';

/** About what the cache takes for a chunk without a summary. */
const noSummaryBytes = 128;

type HeadRow = readonly [id: number, minTime: number, maxTime: number, count: number];

/** Reads chunks over this connection. */
export function createChunkReader(reader: DatabaseSync, limits: DatapointLimits, log: Log) {
  const begin = reader.prepare('begin');
  const commit = reader.prepare('commit');
  const flushedOf = reader.prepare(findFlushed);
  const ascending = reader.prepare(listAscending);
  const descending = reader.prepare(listDescending);
  const inside = reader.prepare(countInside);
  const read = reader.prepare(readChunk);
  for (const statement of [flushedOf, ascending, descending, inside, read]) {
    statement.setReturnArrays(true);
  }
  const cache = createBlockCache(limits);
  const unreadable = createLruCache<number, true>(limits.decodedChunksMax);

  function* heads(series: number, range: Range, order: 'asc' | 'desc'): Iterable<ChunkHead> {
    const { from, to } = endsOf(range);
    const statement = order === 'asc' ? ascending : descending;
    const rows = statement.iterate({ series, from, to }) as unknown as Iterable<HeadRow>;
    for (const [id, minTime, maxTime, count] of rows) yield { id, minTime, maxTime, count };
  }

  const source = createChunkSource({
    inSnapshot(work) {
      if (reader.isTransaction) return work();
      begin.run();
      try {
        return work();
      } finally {
        if (reader.isTransaction) commit.run();
      }
    },
    heads,
    directory: (chunk) =>
      cache.directory(chunk, () => (read.get(chunk) as unknown as [Uint8Array])[0]),
    columns: cache.columns,
    summary: createSummaryReader(reader, limits, log),
    within(series, from, to) {
      const [count] = inside.get(series, from, to, to) as unknown as [number];
      const borders = new Map<number, ChunkHead>();
      for (const head of heads(series, { from, to }, 'asc')) {
        if (head.minTime >= from) break;
        borders.set(head.id, head);
      }
      for (const head of heads(series, { from, to }, 'desc')) {
        if (head.maxTime <= to) break;
        borders.set(head.id, head);
      }
      return { count, borders: [...borders.values()] };
    },
    onUnreadable(chunk, error) {
      if (unreadable.get(chunk) === undefined) {
        log.error({ err: error, chunk }, 'a chunk of datapoints cannot be read');
      }
      unreadable.set(chunk, true);
    },
    crowdedChunksMax: limits.crowdedChunksMax,
  });

  return {
    ...source,
    /** How many datapoints of the series are in chunks. */
    flushed(series: number): number {
      const row = flushedOf.get(series) as unknown as [number] | undefined;
      return row?.[0] ?? 0;
    },
  };
}

/** The chunks, as the last commit left them. */
export type ChunkReader = ReturnType<typeof createChunkReader>;

/** Remembers summaries as they are read. */
function createSummaryReader(reader: DatabaseSync, limits: DatapointLimits, log: Log) {
  const read = reader.prepare(readSummary);
  read.setReturnArrays(true);
  const known = createLruCache<number, ChunkSummary | 'none'>(limits.summariesInMemoryMax, {
    max: limits.summaryBytesMax,
    keptOf: 8,
    weigh: (summary) => (summary === 'none' ? noSummaryBytes : bytesOfSummary(summary)),
  });
  const find = (chunk: ChunkHead) =>
    summaryFrom((read.get(chunk.id) as unknown as [Uint8Array] | undefined)?.[0], chunk, log);

  return (chunk: ChunkHead): ChunkSummary | undefined => {
    const found = known.get(chunk.id) ?? find(chunk);
    known.set(chunk.id, found);
    return found === 'none' ? undefined : found;
  };
}
