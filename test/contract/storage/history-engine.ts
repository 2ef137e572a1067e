import type { Storage } from '../../../src/storage/storage.ts';

/** An engine with its data, and what happens to it besides calls. */
export interface HistoryEngine {
  storage(): Storage;
  /** Ends without notice, and starts again with what was on disk. */
  crash(): Promise<void>;
  /** Writes stored columns anew; answers how many. */
  rewrite(): Promise<number>;
}

/** How often each kind of step did something. */
export type HistoryCounts = Record<
  | 'pushed'
  | 'repeated'
  | 'late'
  /** Received after the correction of the same instant. */
  | 'moved'
  | 'removed'
  | 'corrected'
  | 'undone'
  | 'taken'
  | 'hoursKept'
  | 'hoursGone'
  | 'interrupted'
  | 'crashed'
  | 'rewritten'
  /** Parts of datapoints in sums that stood for them, and last values that were hidden. */
  | 'stood'
  | 'hidden',
  number
>;

export const noCounts = (): HistoryCounts => ({
  ...{ pushed: 0, repeated: 0, late: 0, moved: 0, removed: 0, corrected: 0, undone: 0 },
  ...{ taken: 0, hoursKept: 0, hoursGone: 0, interrupted: 0, crashed: 0, rewritten: 0 },
  ...{ stood: 0, hidden: 0 },
});
