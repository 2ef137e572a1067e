import { type Block, columnsOf, requireWhole, toBlock } from './chunk.ts';
import { cutColumns, mergeColumns } from './column-pieces.ts';
import type { Columns } from './columns.ts';
import { summarise } from './summary.ts';

/** The limits of a block. */
interface BlockLimits {
  readonly chunkDatapointsMax: number;
  readonly chunkWeightMax: number;
}

/** The block with its summary. Throws DamagedBytesError, naming the chunk, for a damaged one. */
export function withSummary(block: Block, name: string): Block {
  if (block.summary === undefined) return { ...block, summary: summarise(columnsOf(block, name)) };
  requireWhole(block, name);
  return block;
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
