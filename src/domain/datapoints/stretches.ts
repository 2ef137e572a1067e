import type { DatapointColumns } from './datapoint-columns.ts';
import type { StretchKinds } from './stretch-kinds.ts';

/**
 * Summaries of stretches of datapoints that follow each other, column by column: of one sensor,
 * oldest first. Numbers are JSON numbers and text that is a number, in the order of time.
 */
export interface Stretches {
  readonly count: number;
  /** No datapoint of the stretch is earlier, and none is later: both ends may be one's time. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Datapoints; of them JSON numbers, and text that is a number. */
  readonly counts: Float64Array;
  readonly numbers: Float64Array;
  readonly textNumbers: Float64Array;
  /** Without meaning where there is no number. */
  readonly min: Float64Array;
  readonly max: Float64Array;
  /** NaN where numbers are too large to be added. */
  readonly sum: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  /** The sum of all steps upwards from one number to the next, and that of all downwards. */
  readonly rise: Float64Array;
  readonly fall: Float64Array;
  /** 1 where the first and the last datapoint are JSON numbers: `first` and `last`. */
  readonly hasNumbersAtEnds: Uint8Array;
  /** Of hours of which retention took the datapoints: those that have numbers of both kinds. */
  readonly kinds?: readonly (StretchKinds | undefined)[];
  /** Of hours of which retention took the datapoints, and of nothing else. */
  readonly edges?: readonly (StretchEdges | undefined)[];
}

/** Some stretches, from one to before another. */
export interface StretchRun {
  readonly stretches: Stretches;
  readonly from: number;
  readonly to: number;
}

/** Datapoints of a summarised read: as they are, or what they come to. */
export type SummarisedPart = DatapointColumns | StretchRun;

export const isStretchRun = (part: SummarisedPart): part is StretchRun => 'stretches' in part;

/** Numbers kept of an hour with three or more, so that its ends can still be judged. */
export interface StretchEdges {
  /** The second number, and the one before the last. */
  second: number;
  penult: number;
  /** Of the numbers between the ends: the first and the last that are no glitches; NaN: none. */
  from: number;
  to: number;
  /** The sum of the steps upwards from `from` to `to`, without those that begin at zero. */
  up: number;
  /** How often the counter began again there, and the sum of where, as far as above zero. */
  restarts: number;
  restartSum: number;
  /** Which of the first four are text, which no calibration changes: bits, the first the least. */
  texts: number;
}
