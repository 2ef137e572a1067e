import type { Range } from '../../domain/datapoints/datapoint-store.ts';
import { createLruCache } from '../../lib/cache.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { DamagedBytesError } from './bytes.ts';
import { type Block, type BlockHead, blocksOf, type ChunkHead, columnsOf } from './chunk.ts';
import { createChunkLookup } from './chunk-lookup.ts';
import { type Columns, rowAfter, rowFrom, toColumns } from './columns.ts';
import { type ChunkSummary, decodeSummary } from './summary.ts';

/** The chunks, as one commit left them: where pages and summaries are read from. */
export interface ChunkSource {
  /** Runs `work` so that all it reads belongs to one commit. */
  inSnapshot<Result>(work: () => Result): Result;
  /** The chunks that touch the range, in the order asked for; read as far as it is walked. */
  heads(series: number, range: Range, order: 'asc' | 'desc'): Iterable<ChunkHead>;
  /** The chunk's blocks in this order; they are not decoded. */
  blocks(chunk: ChunkHead, order: 'asc' | 'desc'): Iterable<BlockHead>;
  columns(head: BlockHead): Columns;
  /** The summary of the chunk's datapoints, if that is known. */
  summary(chunk: ChunkHead): ChunkSummary | undefined;
  /** How many datapoints in chunks the range has. */
  count(series: number, range: Range): number;
  /** For lookups inside one snapshot. */
  createLookup(series: number): ReturnType<typeof createChunkLookup>;
}

/** The means of an engine to list and to fetch chunks. */
interface ChunkFetching extends Pick<ChunkSource, 'inSnapshot' | 'heads' | 'columns' | 'summary'> {
  /** The blocks of a chunk in order of time; `order`: the order in which they are read. */
  directory(chunk: number, order: 'asc' | 'desc'): readonly Block[];
  /** How many datapoints chunks within the range have, and the chunks that reach over its ends. */
  within(series: number, from: Instant, to: Instant): { count: number; borders: ChunkHead[] };
  /** Called where a lookup takes a chunk that cannot be read for an empty one. */
  readonly onUnreadable?: (chunk: number, error: DamagedBytesError) => void;
  readonly crowdedChunksMax: number;
}

/** Chunks that an engine lists and fetches. */
export function createChunkSource(fetching: ChunkFetching): ChunkSource {
  const { inSnapshot, heads, columns, summary, directory, crowdedChunksMax } = fetching;

  function* blocks(chunk: ChunkHead, order: 'asc' | 'desc'): Iterable<BlockHead> {
    const all = directory(chunk.id, order);
    for (let n = 0; n < all.length; n += 1) {
      const index = order === 'asc' ? n : all.length - 1 - n;
      const block = all[index];
      if (block !== undefined) yield { chunk: chunk.id, index, block };
    }
  }

  /** For lookups only: what cannot be read must not stop every push of its sensor. */
  function readable<Result>(chunk: number, fallback: Result, read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      fetching.onUnreadable?.(chunk, error);
      return fallback;
    }
  }

  return {
    ...{ inSnapshot, heads, blocks, columns, summary },
    count(series, range) {
      const { from, to } = endsOf(range);
      let { count, borders } = fetching.within(series, from, to);
      for (const chunk of borders) {
        for (const head of blocks(chunk, 'asc')) {
          const { block } = head;
          if (block.maxTime < from || block.minTime > to) continue;
          count += isWithin(block, from, to) ? block.count : countIn(columns(head), from, to);
        }
      }
      return count;
    },
    createLookup: (series) =>
      createChunkLookup(
        {
          chunksFrom: (from) => heads(series, { from }, 'asc'),
          blocksOf: (chunk) => readable(chunk.id, [], () => [...blocks(chunk, 'asc')]),
          columnsOf: (head) => readable(head.chunk, toColumns([]), () => columns(head)),
        },
        crowdedChunksMax,
      ),
  };
}

/** A cached block with longer texts would weigh more than it saves; so would a longer chunk. */
const cachedTextCharactersMax = 65_536;
const cachedChunkBytesMax = 65_536;

/** Blocks that were read lately: chunks never change, and their ids are never used again. */
export function createBlockCache(limits: {
  readonly decodedChunksMax: number;
  readonly chunksInMemoryMax: number;
}) {
  const decoded = createLruCache<string, Columns>(limits.decodedChunksMax);
  const directories = createLruCache<number, readonly Block[]>(limits.chunksInMemoryMax);
  return {
    has: (chunk: number): boolean => directories.get(chunk) !== undefined,
    directory(chunk: number, read: () => Uint8Array): readonly Block[] {
      const known = directories.get(chunk);
      if (known !== undefined) return known;
      const bytes = read();
      const fresh = blocksOf(bytes, `${chunk}`);
      if (bytes.length <= cachedChunkBytesMax) directories.set(chunk, fresh);
      return fresh;
    },
    columns({ chunk, index, block }: BlockHead): Columns {
      const key = `${chunk} ${index}`;
      const known = decoded.get(key);
      if (known !== undefined) return known;
      const fresh = columnsOf(block, `${chunk}`);
      if (textCharacters(fresh) <= cachedTextCharactersMax) decoded.set(key, fresh);
      return fresh;
    },
  };
}

function textCharacters(columns: Columns): number {
  let sum = 0;
  for (const text of columns.texts ?? []) sum += text?.length ?? 0;
  return sum;
}

/** The summary of a chunk, or none: a chunk with a damaged one is decoded. */
export function summaryFrom(
  bytes: Uint8Array | null | undefined,
  { id, count }: ChunkHead,
  log: Log,
): ChunkSummary | 'none' {
  if (!bytes) return 'none';
  try {
    const summary = decodeSummary(bytes);
    const counted = summary.counts.reduce((sum, one) => sum + one, 0);
    if (counted !== count) throw new DamagedBytesError('a summary is of another chunk');
    return summary;
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    log.error({ err: error, chunk: id }, 'the summary of a chunk cannot be read');
    return 'none';
  }
}

/** The ends of a range; those that it leaves open are infinite. */
export function endsOf({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: Range): {
  readonly from: Instant;
  readonly to: Instant;
} {
  return { from, to };
}

/** Whether all of a chunk or block is in a range. */
export const isWithin = (
  { minTime, maxTime }: Pick<ChunkHead, 'minTime' | 'maxTime'>,
  from: Instant,
  to: Instant,
): boolean => minTime >= from && maxTime <= to;

const countIn = (columns: Columns, from: Instant, to: Instant): number =>
  Math.max(0, rowAfter(columns.times, to) - rowFrom(columns.times, from));
