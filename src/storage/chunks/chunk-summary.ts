import { DamagedBytesError } from './bytes.ts';
import { type Block, columnsOf } from './chunk.ts';
import { blockSummaries, decodeSummary, encodeSummary, summarise } from './summary.ts';

/** Blocks with what is known of them; a summary that is not theirs is made anew when it is due. */
export function withSummaries(
  blocks: readonly Block[],
  bytes: Uint8Array | undefined,
): readonly Block[] {
  if (bytes === undefined) return blocks;
  try {
    const summaries = blockSummaries(decodeSummary(bytes));
    return blocks.map((block, at) => {
      const summary = summaries[at];
      return summary?.count === block.count ? { ...block, summary } : block;
    });
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return blocks;
  }
}

/**
 * The bytes of the summary of a chunk. Undefined: a block cannot be read, and the reader of the
 * chunk is to find out.
 */
export function summaryOfBlocks(blocks: readonly Block[]): Uint8Array | undefined {
  try {
    return encodeSummary(blocks.map((block) => block.summary ?? summarise(columnsOf(block))));
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return undefined;
  }
}
