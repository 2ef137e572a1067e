import type { DatabaseSync } from 'node:sqlite';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { createLruCache } from '../../../lib/lru-cache.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import { decodeChunk } from '../../chunks/chunk-codec.ts';
import type { ChunkHead } from '../../chunks/chunk-head.ts';
import { type Columns, rowAfter, rowFrom, toColumns } from '../../chunks/columns.ts';
import { type ChunkLookup, createChunkLookup } from './chunk-lookup.ts';
import type { DatapointLimits } from './datapoint-limits.ts';

/** The chunks, as the last commit left them. */
export interface ChunkReader {
  /** Runs `work` so that all it reads belongs to one commit. */
  inSnapshot<Result>(work: () => Result): Result;
  /** How many datapoints of the series are in chunks. */
  flushed(series: number): number;
  /** The chunks that touch the range, in the order asked for; read as far as it is walked. */
  heads(series: number, range: Range, order: 'asc' | 'desc'): Iterable<ChunkHead>;
  columns(head: ChunkHead): Columns;
  /** How many datapoints in chunks the range has. */
  count(series: number, range: Range): number;
  /** For look-ups inside one snapshot. */
  createLookup(series: number): ChunkLookup;
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

/** A cached chunk with longer texts would weigh more than it saves. */
const cachedTextCharactersMax = 65_536;

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
  for (const statement of [flushedOf, ascending, descending, inside, read]) {
    statement.setReturnArrays(true);
  }
  const decoded = createLruCache<number, Columns>(limits.decodedChunksMax);
  const unreadable = createLruCache<number, true>(limits.decodedChunksMax);

  function* heads(series: number, range: Range, order: 'asc' | 'desc'): Iterable<ChunkHead> {
    const { from, to } = endsOf(range);
    const statement = order === 'asc' ? ascending : descending;
    const rows = statement.iterate({ series, from, to }) as unknown as Iterable<HeadRow>;
    for (const [id, minTime, maxTime, count] of rows) yield { id, minTime, maxTime, count };
  }

  function columns(head: ChunkHead): Columns {
    const known = decoded.get(head.id);
    if (known !== undefined) return known;
    const [bytes] = read.get(head.id) as unknown as [Uint8Array];
    const fresh = decodeChunk(bytes, `${head.id}`);
    if (textCharacters(fresh) <= cachedTextCharactersMax) decoded.set(head.id, fresh);
    return fresh;
  }

  function count(series: number, range: Range): number {
    const { from, to } = endsOf(range);
    let [total] = inside.get(series, from, to, to) as unknown as [number];
    for (const head of bordersOf(series, from, to)) total += countIn(columns(head), from, to);
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

  /** For look-ups only: a chunk that cannot be read must not stop every push of its sensor. */
  function readableColumns(head: ChunkHead): Columns {
    try {
      return columns(head);
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      if (unreadable.get(head.id) === undefined) {
        log.error({ err: error, chunk: head.id }, 'a chunk of datapoints cannot be read');
      }
      unreadable.set(head.id, true);
      return toColumns([]);
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
    columns,
    count,
    createLookup: (series) =>
      createChunkLookup(
        (from) => heads(series, from, 'asc'),
        readableColumns,
        limits.crowdedChunksMax,
      ),
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
