import type { Instant } from '../../lib/clock.ts';
import type { Block } from './chunk.ts';

/** The index entry of a chunk. */
export interface ChunkHead {
  readonly id: number;
  readonly minTime: Instant;
  readonly maxTime: Instant;
  readonly count: number;
}

/** Where a block is. */
export interface BlockHead {
  readonly chunk: number;
  readonly index: number;
  readonly block: Block;
}
