import { type Block, columnsOf, toBlock } from './chunk.ts';
import {
  type ChunkLimits,
  type ChunkRow,
  type ChunkStore,
  chunkOf,
  takeChunk,
  unlessDamaged,
} from './chunk-store.ts';
import { cutColumns, mergeColumns, sliceColumns } from './column-pieces.ts';
import { type Columns, rowFrom } from './columns.ts';
import { answerOf, type EngineWork } from './engine-work.ts';

/**
 * Puts datapoints that are in order of time into the chunks of a series; at the same time those in
 * chunks go first. A series ends in a chunk of one block that is not full: whenever it is, it joins
 * the chunk before it, so that a few datapoints never rewrite many. Answers how many chunks could
 * not be read and were set aside.
 */
export function* placeInChunks(store: ChunkStore, datapoints: Columns): EngineWork<number> {
  let damaged = 0;
  for (let from = 0; from < datapoints.count; ) {
    const time = datapoints.times[from] ?? 0;
    const { before, nextTime } = yield* answerOf(store.around(time));
    const isInside = before !== undefined && before.maxTime > time;
    const end = isInside ? before.maxTime : nextTime;
    const to = Math.max(from + 1, rowFrom(datapoints.times, end));
    const run = sliceColumns(datapoints, from, to);
    damaged += yield* placeRun(store, run, { before, isInside });
    from = to;
  }
  return damaged;
}

/** Puts one run of datapoints into the chunk, or the gap after it, where their time belongs. */
function* placeRun(
  store: ChunkStore,
  run: Columns,
  { before, isInside }: { readonly before: ChunkRow | undefined; readonly isInside: boolean },
): EngineWork<number> {
  const { limits } = store;
  const isJoined = before !== undefined && (isInside || joins(before, run.count, limits));
  const old = isJoined ? yield* takeChunk(store, before) : undefined;
  const placed = placeInBlocks(old?.blocks ?? [], run, limits);
  const damaged = Number(old?.isDamaged === true) + Number(placed.damaged > 0);
  if (isJoined) store.remove(before, damaged > 0 ? old?.points : undefined);
  const inFront = isJoined && !isInside ? yield* takeInFront(store, before, placed.blocks) : [];
  const blocks = [...inFront, ...placed.blocks];
  for (const chunk of cutIntoChunks(blocks, limits, isInside ? 'even' : 'fill')) {
    store.insert(chunkOf(chunk, limits));
  }
  return damaged;
}

/** Whether datapoints that follow a chunk join it: it is small, or they are worth rewriting it. */
function joins(before: ChunkRow, count: number, limits: ChunkLimits): boolean {
  if (before.count < limits.chunkDatapointsMax) return true;
  const isWorthIt = count * 4 >= limits.chunkDatapointsMax;
  return (
    isWorthIt &&
    before.count + count <= limits.chunkBlocksMax * limits.chunkDatapointsMax &&
    before.bytes * 2 <= limits.chunkRowBytesMax
  );
}

/** The blocks of the chunk before this one, which is removed, if it takes in those that follow. */
function* takeInFront(
  store: ChunkStore,
  chunk: ChunkRow,
  blocks: readonly Block[],
): EngineWork<readonly Block[]> {
  const front = yield* answerOf(store.inFront(chunk));
  if (front === undefined || !takesIn(front, blocks, store.limits)) return [];
  const { blocks: inFront, isDamaged } = yield* takeChunk(store, front);
  // A damaged chunk stays where it is: it is not needed here.
  if (!isDamaged) store.remove(front);
  return inFront;
}

/** Whether a chunk takes in the blocks of the one after it: once they are full. */
function takesIn(front: ChunkRow, blocks: readonly Block[], limits: ChunkLimits): boolean {
  let [count, bytes] = [0, 0];
  for (const block of blocks) {
    count += block.count;
    bytes += block.bytes.length;
  }
  return (
    count >= limits.chunkDatapointsMax &&
    front.count + count <= limits.chunkBlocksMax * limits.chunkDatapointsMax &&
    front.bytes + bytes <= limits.chunkRowBytesMax
  );
}

/**
 * Puts datapoints, in order of time, where they belong among the blocks of a chunk: those without
 * any are not decoded. At the same time a block's own datapoints, which arrived first, go first.
 * Blocks that cannot be read are left out, and counted as damaged.
 */
function placeInBlocks(blocks: readonly Block[], later: Columns, limits: ChunkLimits) {
  const all = [...blocks];
  let damaged = 0;
  for (let from = 0; from < later.count; ) {
    const time = later.times[from] ?? 0;
    const at = all.findLastIndex(({ minTime }) => minTime <= time);
    const before = all[at];
    const isInside = before !== undefined && before.maxTime > time;
    const end = isInside ? before.maxTime : (all[at + 1]?.minTime ?? Number.POSITIVE_INFINITY);
    const to = Math.max(from + 1, rowFrom(later.times, end));
    const run = sliceColumns(later, from, to);
    const isJoined = before !== undefined && (isInside || before.count < limits.chunkDatapointsMax);
    const old = isJoined ? unlessDamaged(() => columnsOf(before)) : undefined;
    if (isJoined && old === undefined) damaged += 1;
    const merged = old === undefined ? run : mergeColumns(old, run);
    const cut = cutColumns(merged, limits, isInside ? 'even' : 'fill');
    const pieces = cut.map(toBlock);
    all.splice(isJoined ? at : at + 1, isJoined ? 1 : 0, ...pieces);
    from = to;
  }
  return { blocks: all, damaged };
}

/**
 * Cuts blocks into chunks. `fill`: full chunks and a rest, for datapoints that come at the end;
 * `even`: chunks of about one size, of which the last does not hold one time alone. Another chunk
 * may hold that time alone, for datapoints that arrived later, and the two would change places.
 */
export function cutIntoChunks(
  blocks: readonly Block[],
  limits: ChunkLimits,
  how: 'fill' | 'even',
): readonly (readonly Block[])[] {
  const filled = fill(blocks, limits.chunkBlocksMax, limits.chunkRowBytesMax);
  if (how === 'fill' || filled.length < 2) return filled;
  const bytes = blocks.reduce((sum, block) => sum + block.bytes.length, 0);
  const perChunk = Math.ceil(blocks.length / filled.length);
  const chunks = fill(blocks, perChunk, Math.ceil((bytes * 1.2) / filled.length));
  const lastTime = blocks.at(-1)?.maxTime;
  while (chunks.length > 1 && chunks.at(-1)?.[0]?.minTime === lastTime) {
    const moved = chunks.at(-2)?.pop();
    if (moved !== undefined) chunks.at(-1)?.unshift(moved);
    if (chunks.at(-2)?.length === 0) chunks.splice(-2, 1);
  }
  return chunks;
}

function fill(blocks: readonly Block[], blocksMax: number, bytesMax: number): Block[][] {
  const chunks: Block[][] = [];
  let chunk: Block[] = [];
  let bytes = 0;
  for (const block of blocks) {
    const isFull = chunk.length >= blocksMax || bytes + block.bytes.length > bytesMax;
    if (chunk.length > 0 && isFull) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(block);
    bytes += block.bytes.length;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}
