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
import { type ChunkSummary, decodeSummary } from '../../chunks/summary.ts';
import type { HotLimits } from './hot-limits.ts';

/** The part of a chunk that a read attempt needs before it can go on. */
export interface Missing {
  readonly what: 'points' | 'summary';
  readonly chunk: number;
  readonly order: 'asc' | 'desc';
  has(chunk: number): boolean;
  put(chunk: number, bytes: Uint8Array | undefined): void;
}

/** Ends a read attempt that lacks something. */
export class MissingError extends Error {
  readonly missing: Missing;

  constructor(missing: Missing) {
    super('a chunk has to be fetched first');
    this.name = 'MissingError';
    this.missing = missing;
  }
}

/** Chunks that were read lately: they never change, and their ids are never used again. */
export interface ChunkCache {
  /** Reads these chunks, in order of time; throws MissingError for what has to be fetched. */
  sourceOf(heads: readonly ChunkHead[]): ChunkSource;
}

/** A block with longer texts would weigh more than it saves; so would a longer chunk. */
const cachedTextCharactersMax = 65_536;
const cachedChunkBytesMax = 65_536;

type Blocks = readonly Block[];
type Summary = ChunkSummary | 'none';

export function createChunkCache(limits: HotLimits, log: Log): ChunkCache {
  const decoded = createLruCache<string, Columns>(limits.decodedChunksMax);
  const directories = createLruCache<number, Blocks>(limits.chunksInMemoryMax);
  const summaries = createLruCache<number, Summary>(limits.summariesInMemoryMax);

  function columns({ chunk, index, block }: BlockHead): Columns {
    const key = `${chunk} ${index}`;
    const known = decoded.get(key);
    if (known !== undefined) return known;
    const fresh = columnsOf(block, `${chunk}`);
    if (textCharacters(fresh) <= cachedTextCharactersMax) decoded.set(key, fresh);
    return fresh;
  }

  function summaryFrom(chunk: number, bytes: Uint8Array | undefined): Summary {
    if (bytes === undefined) return 'none';
    try {
      return decodeSummary(bytes);
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      log.error({ err: error, chunk }, 'the summary of a chunk cannot be read');
      return 'none';
    }
  }

  return {
    sourceOf(heads) {
      // Bytes that were fetched for this read stay for it, whatever the caches forget.
      const held = new Map<number, Uint8Array | undefined>();
      const heldSummaries = new Map<number, Summary>();

      const directory = (chunk: number, order: 'asc' | 'desc'): Blocks => {
        const known = directories.get(chunk);
        if (known !== undefined) return known;
        const bytes = held.get(chunk);
        if (bytes === undefined) {
          const has = (id: number) => held.has(id) || directories.get(id) !== undefined;
          const put = (id: number, got: Uint8Array | undefined) => void held.set(id, got);
          throw new MissingError({ what: 'points', chunk, order, has, put });
        }
        const fresh = blocksOf(bytes, `${chunk}`);
        if (bytes.length <= cachedChunkBytesMax) directories.set(chunk, fresh);
        return fresh;
      };
      const summary = ({ id: chunk, count }: ChunkHead): ChunkSummary | undefined => {
        const known = summaries.get(chunk) ?? heldSummaries.get(chunk);
        if (known === undefined) {
          const has = (id: number) => heldSummaries.has(id) || summaries.get(id) !== undefined;
          const put = (id: number, bytes: Uint8Array | undefined): void => {
            const got = summaryFrom(id, bytes);
            heldSummaries.set(id, got);
            summaries.set(id, got);
          };
          throw new MissingError({ what: 'summary', chunk, order: 'asc', has, put });
        }
        const isOfIt = known !== 'none' && sum(known.counts) === count;
        return isOfIt ? known : undefined;
      };
      return createSource({ heads, directory, columns, summary, limits });
    },
  };
}

function createSource(parts: {
  readonly heads: readonly ChunkHead[];
  readonly directory: (chunk: number, order: 'asc' | 'desc') => Blocks;
  readonly columns: (head: BlockHead) => Columns;
  readonly summary: (chunk: ChunkHead) => ChunkSummary | undefined;
  readonly limits: HotLimits;
}): ChunkSource {
  const { columns, summary, limits } = parts;

  function heads(_: number, range: Range, order: 'asc' | 'desc'): readonly ChunkHead[] {
    const { from, to } = endsOf(range);
    const touching = parts.heads.filter(({ minTime, maxTime }) => maxTime >= from && minTime <= to);
    return order === 'asc' ? touching : touching.reverse();
  }

  function* blocks(chunk: ChunkHead, order: 'asc' | 'desc'): Iterable<BlockHead> {
    const all = parts.directory(chunk.id, order);
    for (let n = 0; n < all.length; n += 1) {
      const index = order === 'asc' ? n : all.length - 1 - n;
      const block = all[index];
      if (block !== undefined) yield { chunk: chunk.id, index, block };
    }
  }

  function count(series: number, range: Range): number {
    const { from, to } = endsOf(range);
    let total = 0;
    for (const chunk of heads(series, range, 'asc')) {
      if (isWithin(chunk, from, to)) {
        total += chunk.count;
        continue;
      }
      for (const head of blocks(chunk, 'asc')) {
        const { block } = head;
        if (block.maxTime < from || block.minTime > to) continue;
        total += isWithin(block, from, to) ? block.count : countIn(columns(head), from, to);
      }
    }
    return total;
  }

  /** For look-ups only: what cannot be read must not stop every push of its sensor. */
  function orElse<Result>(fallback: Result, look: () => Result): Result {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      return fallback;
    }
  }

  return {
    inSnapshot: (work) => work(),
    heads,
    blocks,
    columns,
    summary,
    count,
    createLookup: (series) =>
      createChunkLookup(
        {
          chunksFrom: (from) => heads(series, { from }, 'asc'),
          blocksOf: (chunk) => orElse([], () => [...blocks(chunk, 'asc')]),
          columnsOf: (head) => orElse(toColumns([]), () => columns(head)),
        },
        limits.crowdedChunksMax,
      ),
  };
}

function endsOf(range: Range): { from: Instant; to: Instant } {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
  return { from, to };
}

const isWithin = (
  { minTime, maxTime }: Pick<ChunkHead, 'minTime' | 'maxTime'>,
  from: Instant,
  to: Instant,
): boolean => minTime >= from && maxTime <= to;

const countIn = (columns: Columns, from: Instant, to: Instant): number =>
  Math.max(0, rowAfter(columns.times, to) - rowFrom(columns.times, from));

const sum = (counts: ArrayLike<number>): number =>
  Array.from(counts).reduce((total, one) => total + one, 0);

function textCharacters(columns: Columns): number {
  let characters = 0;
  for (const text of columns.texts ?? []) characters += text?.length ?? 0;
  return characters;
}
