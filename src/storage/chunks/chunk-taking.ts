import { dayMs, startOfDay } from '../../domain/datapoints/retention/retention.ts';
import { weightOfBatch } from '../../domain/datapoints/weight.ts';
import { DamagedBytesError } from './bytes.ts';
import { type Block, columnsOf, toBlock } from './chunk.ts';
import type { ChunkHead } from './chunk-head.ts';
import { sliceColumns } from './column-pieces.ts';
import { type Columns, rowFrom } from './columns.ts';

/** The oldest chunk of a series, and what is known of the one after it. */
export interface OldestChunk {
  readonly oldest: Pick<ChunkHead, 'minTime'>;
  readonly following: Pick<ChunkHead, 'minTime' | 'maxTime'> | undefined;
  readonly blocks: readonly Block[];
  /** Whether the chunk could not be read; then it has no blocks. */
  readonly isDamaged: boolean;
}

/** The datapoints that were taken out of a chunk. */
export interface Taken {
  /** In order of time. */
  readonly columns: readonly Columns[];
  readonly count: number;
  readonly weight: number;
  /** 1: some of it could not be read, and the chunk is set aside as it was. */
  readonly damaged: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** When the datapoints that are left begin; Infinity: there are none. */
  readonly nextTime: number;
  /** The blocks that are left of the chunk. */
  readonly rest: readonly Block[];
  /**
   * The rest and the following chunk have one and the same time alone, so that ids say which of
   * them arrived first: the id of the rest must be the lower one, see `idBeforeOthers`.
   */
  readonly restNeedsLowId: boolean;
}

/**
 * The id of the rest of a chunk where it must sort before all ids that a database gives. No two
 * chunks have it: what has one time alone is not cut again.
 */
export const idBeforeOthers = (chunkId: number): number => -chunkId;

/**
 * Takes what is earlier than `before` out of the oldest chunk of a series, of so many days at most.
 */
export function takeFromChunk(
  { oldest, following, blocks, isDamaged }: OldestChunk,
  before: number,
  days: number,
): Taken {
  const { minTime } = oldest;
  const cut = cutBlocks(blocks, Math.min(before, startOfDay(minTime) + days * dayMs));
  const last = cut.taken.at(-1);
  return {
    columns: cut.taken,
    count: cut.taken.reduce((sum, { count }) => sum + count, 0),
    weight: cut.taken.reduce((sum, piece) => sum + weightOfBatch(piece), 0),
    damaged: isDamaged || cut.isDamaged ? 1 : 0,
    firstTime: minTime,
    lastTime: last?.times[last.count - 1] ?? minTime,
    nextTime: cut.rest[0]?.minTime ?? following?.minTime ?? Number.POSITIVE_INFINITY,
    rest: cut.rest,
    restNeedsLowId: following !== undefined && cut.rest[0]?.minTime === following.maxTime,
  };
}

/** The datapoints of blocks before a time, and blocks of the others. */
function cutBlocks(blocks: readonly Block[], time: number) {
  const taken: Columns[] = [];
  const rest: Block[] = [];
  let isDamaged = false;
  for (const block of blocks) {
    if (block.minTime >= time) {
      rest.push(block);
      continue;
    }
    try {
      const all = columnsOf(block);
      const row = rowFrom(all.times, time);
      taken.push(sliceColumns(all, 0, row));
      if (row < all.count) rest.push(toBlock(sliceColumns(all, row, all.count)));
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      isDamaged = true;
    }
  }
  return { taken, rest, isDamaged };
}
