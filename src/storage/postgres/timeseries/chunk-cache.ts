import { createLruCache } from '../../../lib/cache.ts';
import type { Log } from '../../../lib/log.ts';
import type { ChunkHead } from '../../chunks/chunk.ts';
import {
  type ChunkSource,
  createBlockCache,
  createChunkSource,
  endsOf,
  isWithin,
  summaryFrom,
} from '../../chunks/chunk-source.ts';
import type { ChunkSummary } from '../../chunks/summary.ts';
import type { HotLimits } from './hot-limits.ts';

/** The part of a chunk that a read attempt needs before it can go on. */
export interface Missing {
  readonly what: 'points' | 'summary';
  readonly chunk: number;
  readonly order: 'asc' | 'desc';
  has(chunk: number): boolean;
  put(chunk: ChunkHead, bytes: Uint8Array | undefined): void;
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
export function createChunkCache(limits: HotLimits, log: Log) {
  const { has: isCached, directory, columns } = createBlockCache(limits);
  const summaries = createLruCache<number, ChunkSummary | 'none'>(limits.summariesInMemoryMax);

  return {
    /** Reads these chunks, in order of time; throws MissingError for what has to be fetched. */
    sourceOf(heads: readonly ChunkHead[]): ChunkSource {
      // Bytes that were fetched for this read stay for it, whatever the caches forget.
      const held = new Map<number, Uint8Array | undefined>();
      const heldSummaries = new Map<number, ChunkSummary | 'none'>();

      return createChunkSource({
        inSnapshot: (work) => work(),
        heads(_, range, order) {
          const { from, to } = endsOf(range);
          const touching = heads.filter(({ minTime, maxTime }) => maxTime >= from && minTime <= to);
          return order === 'asc' ? touching : touching.reverse();
        },
        directory: (chunk, order) =>
          directory(chunk, () => {
            const bytes = held.get(chunk);
            if (bytes !== undefined) return bytes;
            const has = (id: number) => held.has(id) || isCached(id);
            const put: Missing['put'] = ({ id }, got) => void held.set(id, got);
            throw new MissingError({ what: 'points', chunk, order, has, put });
          }),
        columns,
        summary({ id: chunk }) {
          const known = summaries.get(chunk) ?? heldSummaries.get(chunk);
          if (known !== undefined) return known === 'none' ? undefined : known;
          const has = (id: number) => heldSummaries.has(id) || summaries.get(id) !== undefined;
          const put: Missing['put'] = (head, bytes) => {
            const got = summaryFrom(bytes, head, log);
            heldSummaries.set(head.id, got);
            summaries.set(head.id, got);
          };
          throw new MissingError({ what: 'summary', chunk, order: 'asc', has, put });
        },
        within(_, from, to) {
          const touching = heads.filter(({ minTime, maxTime }) => maxTime >= from && minTime <= to);
          const borders = touching.filter((chunk) => !isWithin(chunk, from, to));
          const sum = (chunks: readonly ChunkHead[]) =>
            chunks.reduce((total, { count }) => total + count, 0);
          return { count: sum(touching) - sum(borders), borders };
        },
        crowdedChunksMax: limits.crowdedChunksMax,
      });
    },
  };
}

export type ChunkCache = ReturnType<typeof createChunkCache>;
