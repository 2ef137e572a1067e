import { DamagedBytesError } from './bytes.ts';
import { type Block, columnsOf, newestVersion, requireWhole, toBlock } from './chunk.ts';
import { cutColumns, mergeColumns } from './column-pieces.ts';
import { type Columns, valueTextAt } from './columns.ts';
import { summarise } from './summary.ts';

/** What a block holds at most. */
interface BlockLimits {
  readonly chunkDatapointsMax: number;
  readonly chunkWeightMax: number;
}

/**
 * The same block in the newest format, with its summary: what was encoded anew is decoded again and
 * compared. Throws DamagedBytesError, naming the chunk, for one that is not what was written.
 */
export function renewBlock(block: Block, name: string): Block {
  if (block.version === newestVersion && block.summary !== undefined) {
    requireWhole(block, name);
    return block;
  }
  const columns = columnsOf(block, name);
  if (block.version === newestVersion) return { ...block, summary: summarise(columns) };
  const renewed = toBlock(columns);
  if (!isSame(columns, columnsOf(renewed, name))) {
    throw new DamagedBytesError(`chunk ${name}: its datapoints do not come back as they are`);
  }
  return renewed;
}

/**
 * Puts neighbours of few datapoints together, where that makes fewer blocks; yields after each
 * piece of work. Throws DamagedBytesError for blocks that cannot be read.
 */
export function* joinSmallBlocks(
  blocks: readonly Block[],
  limits: BlockLimits,
): Generator<void, readonly Block[]> {
  const joined: Block[] = [];
  for (const run of smallRuns(blocks, limits)) {
    if (run.length < 2) {
      joined.push(...run);
      continue;
    }
    let merged: Columns | undefined;
    for (const block of run) {
      const columns = columnsOf(block);
      merged = merged === undefined ? columns : mergeColumns(merged, columns);
      yield;
    }
    const pieces = merged === undefined ? [] : cutColumns(merged, limits, 'fill');
    joined.push(...(pieces.length < run.length ? pieces.map(toBlock) : run));
    yield;
  }
  return joined;
}

/** Neighbours that fit into one block, as far as their counts say. */
function* smallRuns(blocks: readonly Block[], limits: BlockLimits): Iterable<Block[]> {
  let run: Block[] = [];
  let count = 0;
  for (const block of blocks) {
    if (run.length > 0 && count + block.count > limits.chunkDatapointsMax) {
      yield run;
      run = [];
      count = 0;
    }
    run.push(block);
    count += block.count;
  }
  if (run.length > 0) yield run;
}

/** Whether both hold the same datapoints, to the last bit of their numbers. */
function isSame(one: Columns, other: Columns): boolean {
  if (one.count !== other.count) return false;
  for (let row = 0; row < one.count; row += 1) {
    const isText = one.texts?.[row] !== undefined;
    if (
      one.times[row] !== other.times[row] ||
      one.received[row] !== other.received[row] ||
      one.timed[row] !== other.timed[row] ||
      isText !== (other.texts?.[row] !== undefined) ||
      (isText
        ? valueTextAt(one, row) !== valueTextAt(other, row)
        : !Object.is(one.numbers[row], other.numbers[row]))
    ) {
      return false;
    }
  }
  return true;
}
