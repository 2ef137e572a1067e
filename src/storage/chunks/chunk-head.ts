import type { Instant } from '../../lib/clock.ts';

/** What the index knows of a chunk. */
export interface ChunkHead {
  readonly id: number;
  readonly minTime: Instant;
  readonly maxTime: Instant;
  readonly count: number;
}
