import type { ClientLimits } from '../client/client-limits.ts';

/** What copying from another service may take up, with units. */
export const cloudLimits = {
  /** Things asked for in one page of a list; fewer where a service refuses so many. */
  pageSizes: [1_000, 100, 20],
  /** Things of one kind; a list that goes on beyond is broken. */
  thingsMax: 1_000_000,
  /** Datapoints asked for in one read; halved when a read breaks, down to the least. */
  valuesPerReadMax: 10_000,
  valuesPerReadMin: 250,
  /** More datapoints than a sensor has: what a service says there tells if it skips at all. */
  skipMax: 2_000_000_000,
  /** Lines, and characters, of one push. */
  linesPerPush: 5_000,
  charactersPerPush: 1_048_576,
  /** Sensors copied at the same time, unless told otherwise. */
  sensorsInParallel: 4,
  sensorsInParallelMax: 16,
  /** One datapoint of an answer. */
  datapointBytesMax: 2 * 1_048_576,
  /** Values without a timestamp, received at one time, that are told apart. */
  stampsMax: 100_000,
  /** Time between two writes of the progress file. */
  saveEveryMs: 1_000,
  /** Things left out that are named; the others are counted. */
  skipsShown: 1_000,
} as const;

/** What one request to another service may take up: it may be slow, busy or away for a while. */
export const remoteLimits = {
  /** A read that takes longer goes on where it was. */
  requestMs: 300_000,
  /** The pauses between the tries add up to about two minutes. */
  attemptsMax: 11,
  faultAttemptsMax: 5,
  loginsPerRequestMax: 5,
  firstPauseMs: 200,
} as const satisfies Partial<ClientLimits>;
