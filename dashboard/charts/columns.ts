import { numberOf } from '../i18n/formats.ts';
import { chartLimits } from './chart-limits.ts';

/** A stored datapoint as a read answers it. */
export interface RawPoint {
  readonly timestamp?: string;
  readonly date_received?: string;
  readonly value: unknown;
}

/** A bucket as a read answers it: what a bucket lacks has no number in it. */
export interface BucketPoint {
  readonly timestamp: string;
  readonly avg?: number;
  readonly min?: number;
  readonly max?: number;
  readonly sum?: number;
  readonly increase?: number;
  readonly count?: number;
  readonly first?: unknown;
  readonly last?: unknown;
}

/** A value that is no number, from an instant on. */
export interface Step {
  readonly at: number;
  readonly value: unknown;
}

/** The datapoints of one sensor as columns, by ascending time. */
export interface Columns {
  readonly times: number[];
  readonly values: number[];
  /** Lowest and highest around each value; the value itself where every datapoint is drawn. */
  readonly lows: number[];
  readonly highs: number[];
  /** How many datapoints are behind each. */
  readonly counts: number[];
  /** What is no number, for the lane of texts. */
  readonly steps: Step[];
  /** The length of a bucket; undefined where every datapoint is drawn. */
  readonly bucketMs: number | undefined;
}

/** Columns without anything in them. */
export function emptyColumns(bucketMs?: number): Columns {
  return { times: [], values: [], lows: [], highs: [], counts: [], steps: [], bucketMs };
}

/** Every datapoint for itself. The answer is in order of time. */
export function columnsOfPoints(points: readonly RawPoint[]): Columns {
  const columns = emptyColumns();
  for (const point of points) {
    const at = Date.parse(point.timestamp ?? point.date_received ?? '');
    if (!Number.isNaN(at)) appendPoint(columns, at, point.value);
  }
  return columns;
}

/** One point for each bucket. */
export function columnsOfBuckets(buckets: readonly BucketPoint[], bucketMs: number): Columns {
  const columns = emptyColumns(bucketMs);
  for (const { timestamp, avg, min, max, count = 1, last } of buckets) {
    const at = Date.parse(timestamp);
    if (Number.isNaN(at)) continue;
    if (avg === undefined) addStep(columns, at, last);
    else pushRow(columns, at, avg, { low: min ?? avg, high: max ?? avg, count });
  }
  return columns;
}

/** Adds a datapoint that has just come in, where it belongs in time. */
export function appendPoint(columns: Columns, at: number, value: unknown): void {
  const number = numberOf(value);
  if (number === undefined) addStep(columns, at, value);
  else if (columns.bucketMs === undefined) insertPoint(columns, at, number);
  else addToBucket(columns, at, number, columns.bucketMs);
  if (columns.times.length > chartLimits.livePointsMax) dropOldest(columns);
}

/** Drops a tenth at once, so that not every value moves all the others. */
function dropOldest(columns: Columns): void {
  const { times, values, lows, highs, counts } = columns;
  const surplus = Math.ceil(chartLimits.livePointsMax / 10);
  for (const column of [times, values, lows, highs, counts]) column.splice(0, surplus);
}

function pushRow(
  { times, values, lows, highs, counts }: Columns,
  at: number,
  value: number,
  { low, high, count }: { low: number; high: number; count: number },
): void {
  times.push(at);
  values.push(value);
  lows.push(low);
  highs.push(high);
  counts.push(count);
}

function insertPoint(columns: Columns, at: number, value: number): void {
  const { times, values, lows, highs, counts } = columns;
  const last = times.at(-1);
  if (last === undefined || at > last) {
    pushRow(columns, at, value, { low: value, high: value, count: 1 });
    return;
  }
  const index = firstAtOrAfter(times, at);
  // The same datapoint comes twice when it was read and heard live as well.
  if (times[index] === at && values[index] === value) return;
  times.splice(index, 0, at);
  for (const column of [values, lows, highs]) column.splice(index, 0, value);
  counts.splice(index, 0, 1);
}

function addToBucket(columns: Columns, at: number, value: number, bucketMs: number): void {
  const { times, values, lows, highs, counts } = columns;
  const last = times.length - 1;
  const start = times[last];
  // Late values change buckets that are not the last; the next reading has them right.
  if (start !== undefined && at < start) return;
  if (start === undefined || at >= start + bucketMs) {
    const begun = Math.floor(at / bucketMs) * bucketMs;
    const bucketStart = start === undefined ? begun : Math.max(begun, start + bucketMs);
    pushRow(columns, bucketStart, value, { low: value, high: value, count: 1 });
    return;
  }
  const count = counts[last] ?? 1;
  values[last] = ((values[last] ?? value) * count + value) / (count + 1);
  lows[last] = Math.min(lows[last] ?? value, value);
  highs[last] = Math.max(highs[last] ?? value, value);
  counts[last] = count + 1;
}

function addStep({ steps }: Columns, at: number, value: unknown): void {
  const last = steps.at(-1);
  if (
    last !== undefined &&
    (at < last.at || JSON.stringify(last.value) === JSON.stringify(value))
  ) {
    return;
  }
  steps.push({ at, value });
  if (steps.length > chartLimits.stepsMax) steps.shift();
}

/** The index of the first time that is not before `at`; the length when there is none. */
export function firstAtOrAfter(times: readonly number[], at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The usual pause between two times: the median of (at most a thousand of) the pauses. */
export function usualPauseMs(times: readonly number[]): number | undefined {
  if (times.length < 2) return undefined;
  const stride = Math.max(1, Math.floor(times.length / 1_000));
  const pauses: number[] = [];
  for (let index = 1; index < times.length; index += stride) {
    const pause = (times[index] ?? 0) - (times[index - 1] ?? 0);
    if (pause > 0) pauses.push(pause);
  }
  pauses.sort((a, b) => a - b);
  return pauses[Math.floor(pauses.length / 2)];
}

/** How many pauses on either side tell what is usual around an instant. */
const neighbours = 5;

/**
 * The pause after a point from which on the line breaks there. A device that is told to send more
 * often has no gaps in the time before: what counts is what was usual around the point, too.
 */
export function gapAfterMs({ times }: Columns, index: number, gapMs: number): number {
  const from = Math.max(1, index + 1 - neighbours);
  const to = Math.min(times.length - 1, index + 1 + neighbours);
  const pauses: number[] = [];
  for (let at = from; at <= to; at += 1) pauses.push((times[at] ?? 0) - (times[at - 1] ?? 0));
  pauses.sort((a, b) => a - b);
  const usual = pauses[Math.floor((pauses.length - 1) / 2)] ?? 0;
  return Math.max(gapMs, chartLimits.gapFactor * usual);
}

/** The pause from which on the line breaks. With fewer than three points nothing is usual. */
export function gapMsOf({ times, bucketMs = 0 }: Columns): number {
  const pause = times.length < 3 ? undefined : usualPauseMs(times);
  return pause === undefined
    ? Number.POSITIVE_INFINITY
    : chartLimits.gapFactor * Math.max(pause, bucketMs);
}
