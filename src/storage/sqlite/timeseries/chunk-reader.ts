import type { DatabaseSync } from 'node:sqlite';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { createLruCache } from '../../../lib/lru-cache.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import { type Block, blocksOf, columnsOf } from '../../chunks/chunk.ts';
import type { BlockHead, ChunkHead } from '../../chunks/chunk-head.ts';
import { createChunkLookup } from '../../chunks/chunk-lookup.ts';
import type { ChunkSource } from '../../chunks/chunk-source.ts';
import { type Columns, rowAfter, rowFrom, toColumns } from '../../chunks/columns.ts';
import { bytesOfSummary, type ChunkSummary, decodeSummary } from '../../chunks/summary.ts';
import type { DatapointLimits } from './datapoint-limits.ts';

/** The chunks, as the last commit left them. */
export interface ChunkReader extends ChunkSource {
  /** How many datapoints of the series are in chunks. */
  flushed(series: number): number;
}

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

/** A cached block with longer texts would weigh more than it saves; so would a longer chunk. */
const cachedTextCharactersMax = 65_536;
const cachedChunkBytesMax = 65_536;

/** About what the cache takes for a chunk without a summary. */
const noSummaryBytes = 128;

type HeadRow = readonly [id: number, minTime: number, maxTime: number, count: number];

/** Reads chunks over this connection. */
export function createChunkReader(
  reader: DatabaseSync,
  limits: DatapointLimits,
  log: Log,
): ChunkReader {
  const begin = reader.prepare('begin');
  const commit = reader.prepare('commit');
  const flushedOf = reader.prepare(findFlushed);
  const ascending = reader.prepare(listAscending);
  const descending = reader.prepare(listDescending);
  const inside = reader.prepare(countInside);
  const read = reader.prepare(readChunk);
  const summaries = createSummaryReader(reader, limits, log);
  for (const statement of [flushedOf, ascending, descending, inside, read]) {
    statement.setReturnArrays(true);
  }
  const decoded = createLruCache<string, Columns>(limits.decodedChunksMax);
  const directories = createLruCache<number, readonly Block[]>(limits.chunksInMemoryMax);
  const unreadable = createLruCache<number, true>(limits.decodedChunksMax);

  function* heads(series: number, range: Range, order: 'asc' | 'desc'): Iterable<ChunkHead> {
    const { from, to } = endsOf(range);
    const statement = order === 'asc' ? ascending : descending;
    const rows = statement.iterate({ series, from, to }) as unknown as Iterable<HeadRow>;
    for (const [id, minTime, maxTime, count] of rows) yield { id, minTime, maxTime, count };
  }

  function directoryOf(id: number): readonly Block[] {
    const known = directories.get(id);
    if (known !== undefined) return known;
    const [bytes] = read.get(id) as unknown as [Uint8Array];
    const fresh = blocksOf(bytes, `${id}`);
    if (bytes.length <= cachedChunkBytesMax) directories.set(id, fresh);
    return fresh;
  }

  function* blocks(chunk: ChunkHead, order: 'asc' | 'desc'): Iterable<BlockHead> {
    const all = directoryOf(chunk.id);
    for (let n = 0; n < all.length; n += 1) {
      const index = order === 'asc' ? n : all.length - 1 - n;
      const block = all[index];
      if (block !== undefined) yield { chunk: chunk.id, index, block };
    }
  }

  function columns({ chunk, index, block }: BlockHead): Columns {
    const key = `${chunk} ${index}`;
    const known = decoded.get(key);
    if (known !== undefined) return known;
    const fresh = columnsOf(block, `${chunk}`);
    if (textCharacters(fresh) <= cachedTextCharactersMax) decoded.set(key, fresh);
    return fresh;
  }

  function count(series: number, range: Range): number {
    const { from, to } = endsOf(range);
    let [total] = inside.get(series, from, to, to) as unknown as [number];
    for (const chunk of bordersOf(series, from, to)) {
      for (const head of blocks(chunk, 'asc')) {
        const { minTime, maxTime, count: all } = head.block;
        if (maxTime < from || minTime > to) continue;
        const isWhole = minTime >= from && maxTime <= to;
        total += isWhole ? all : countIn(columns(head), from, to);
      }
    }
    return total;
  }

  /** The chunks that reach over an end of the range: at most two. */
  function bordersOf(series: number, from: Instant, to: Instant): ChunkHead[] {
    const borders = new Map<number, ChunkHead>();
    for (const head of heads(series, { from, to }, 'asc')) {
      if (head.minTime >= from) break;
      borders.set(head.id, head);
    }
    for (const head of heads(series, { from, to }, 'desc')) {
      if (head.maxTime <= to) break;
      borders.set(head.id, head);
    }
    return [...borders.values()];
  }

  /** For lookups only: what cannot be read must not stop every push of its sensor. */
  function readable<Result>(chunk: number, fallback: Result, look: () => Result): Result {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      if (unreadable.get(chunk) === undefined) {
        log.error({ err: error, chunk }, 'a chunk of datapoints cannot be read');
      }
      unreadable.set(chunk, true);
      return fallback;
    }
  }

  return {
    inSnapshot(work) {
      if (reader.isTransaction) return work();
      begin.run();
      try {
        return work();
      } finally {
        if (reader.isTransaction) commit.run();
      }
    },
    flushed(series) {
      const row = flushedOf.get(series) as unknown as [number] | undefined;
      return row?.[0] ?? 0;
    },
    heads,
    blocks,
    columns,
    summary: summaries.read,
    count,
    createLookup: (series) =>
      createChunkLookup(
        {
          chunksFrom: (from) => heads(series, { from }, 'asc'),
          blocksOf: (chunk) => readable(chunk.id, [], () => [...blocks(chunk, 'asc')]),
          columnsOf: (head) => readable(head.chunk, toColumns([]), () => columns(head)),
        },
        limits.crowdedChunksMax,
      ),
  };
}

/** Remembers summaries as they are read; one that is damaged is none, and its chunk decoded. */
function createSummaryReader(reader: DatabaseSync, limits: DatapointLimits, log: Log) {
  const read = reader.prepare(readSummary);
  read.setReturnArrays(true);
  const known = createLruCache<number, ChunkSummary | 'none'>(limits.summariesInMemoryMax, {
    max: limits.summaryBytesMax,
    weigh: (summary) => (summary === 'none' ? noSummaryBytes : bytesOfSummary(summary)),
  });

  function find({ id, count }: ChunkHead): ChunkSummary | 'none' {
    const row = read.get(id) as unknown as [Uint8Array] | undefined;
    if (row === undefined) return 'none';
    try {
      const summary = decodeSummary(row[0]);
      const counted = summary.counts.reduce((sum, one) => sum + one, 0);
      if (counted !== count) throw new DamagedBytesError('a summary is of another chunk');
      return summary;
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      log.error({ err: error, chunk: id }, 'the summary of a chunk cannot be read');
      return 'none';
    }
  }
  return {
    read(chunk: ChunkHead): ChunkSummary | undefined {
      const found = known.get(chunk.id) ?? find(chunk);
      known.set(chunk.id, found);
      return found === 'none' ? undefined : found;
    },
  };
}

function endsOf(range: Range): { from: Instant; to: Instant } {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
  return { from, to };
}

function countIn(columns: Columns, from: Instant, to: Instant): number {
  return Math.max(0, rowAfter(columns.times, to) - rowFrom(columns.times, from));
}

function textCharacters(columns: Columns): number {
  let sum = 0;
  for (const text of columns.texts ?? []) sum += text?.length ?? 0;
  return sum;
}
