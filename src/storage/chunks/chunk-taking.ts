import { weightOfBatch } from '../../domain/datapoints/column-batch.ts';
import { dayMs, startOfDay } from '../../domain/datapoints/retention/retention.ts';
import { type Block, columnsOf, toBlock } from './chunk.ts';
import {
  type ChunkRow,
  type ChunkStore,
  chunkOf,
  type TakenChunk,
  takeChunk,
  unlessDamaged,
} from './chunk-store.ts';
import { sliceColumns } from './column-pieces.ts';
import { type Columns, rowFrom } from './columns.ts';
import { answerOf, type EngineWork } from './engine-work.ts';

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
}

/**
 * Takes what is earlier than `before` out of the oldest chunk of a series, of so many days at most;
 * undefined: there is nothing earlier that can be taken.
 */
export function* takeBefore(
  store: ChunkStore,
  before: number,
  days: number,
): EngineWork<Taken | undefined> {
  const [oldest, following] = yield* answerOf(store.oldest());
  if (oldest === undefined || oldest.minTime >= before) return undefined;
  const old = yield* takeChunk(store, oldest);
  const until = Math.min(before, startOfDay(oldest.minTime) + days * dayMs);
  const taken = takenOf(old, { oldest, following, until });
  store.remove(oldest, taken.damaged > 0 ? old.points : undefined);
  if (taken.rest.length > 0) {
    // Where both have one and the same time alone, ids say which of them arrived first: the id of
    // the rest sorts before all that the database gives. No two chunks have it: a chunk with one
    // time alone is not cut again.
    const needsLowId = taken.rest[0]?.minTime === following?.maxTime;
    store.insert(chunkOf(taken.rest, store.limits), needsLowId ? -oldest.id : undefined);
  }
  return taken;
}

function takenOf(
  { blocks, isDamaged }: TakenChunk,
  ends: {
    readonly oldest: ChunkRow;
    readonly following: ChunkRow | undefined;
    readonly until: number;
  },
): Taken {
  const { minTime } = ends.oldest;
  const cut = cutBlocks(blocks, ends.until);
  const last = cut.taken.at(-1);
  return {
    columns: cut.taken,
    count: cut.taken.reduce((sum, { count }) => sum + count, 0),
    weight: cut.taken.reduce((sum, piece) => sum + weightOfBatch(piece), 0),
    damaged: isDamaged || cut.isDamaged ? 1 : 0,
    firstTime: minTime,
    lastTime: last?.times[last.count - 1] ?? minTime,
    nextTime: cut.rest[0]?.minTime ?? ends.following?.minTime ?? Number.POSITIVE_INFINITY,
    rest: cut.rest,
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
    const all = unlessDamaged(() => columnsOf(block));
    if (all === undefined) {
      isDamaged = true;
      continue;
    }
    const row = rowFrom(all.times, time);
    taken.push(sliceColumns(all, 0, row));
    if (row < all.count) rest.push(toBlock(sliceColumns(all, row, all.count)));
  }
  return { taken, rest, isDamaged };
}
