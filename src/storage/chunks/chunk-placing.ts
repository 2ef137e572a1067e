import { DamagedBytesError } from './bytes.ts';
import { type Block, columnsOf, toBlock } from './chunk.ts';
import { cutColumns, mergeColumns, sliceColumns } from './column-pieces.ts';
import { type Columns, rowFrom } from './columns.ts';

/** The limits of a chunk and its blocks. */
export interface ChunkLimits {
  readonly chunkBlocksMax: number;
  readonly chunkRowBytesMax: number;
  readonly chunkDatapointsMax: number;
  readonly chunkWeightMax: number;
  readonly summaryDatapointsMin: number;
}

/** The blocks after datapoints were put into them. */
export interface Placed {
  readonly blocks: readonly Block[];
  /** Blocks that could not be read and are left out. */
  readonly damaged: number;
}

/**
 * Puts datapoints, in order of time, where they belong among the blocks of a chunk: those without
 * any are not decoded. At the same time a block's own datapoints, which arrived first, go first.
 */
export function placeInBlocks(
  blocks: readonly Block[],
  later: Columns,
  limits: ChunkLimits,
): Placed {
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
    const old = isJoined ? readable(before) : undefined;
    if (isJoined && old === undefined) damaged += 1;
    const merged = old === undefined ? run : mergeColumns(old, run);
    const cut = cutColumns(merged, limits, isInside ? 'even' : 'fill');
    const pieces = cut.map(toBlock);
    all.splice(isJoined ? at : at + 1, isJoined ? 1 : 0, ...pieces);
    from = to;
  }
  return { blocks: all, damaged };
}

function readable(block: Block): Columns | undefined {
  try {
    return columnsOf(block);
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return undefined;
  }
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
