import type { Instant } from '../../lib/clock.ts';
import type { BucketOf, TimeBucket } from '../../lib/time-bucket.ts';
import {
  type Calibration,
  calibrate,
  isApplied,
  type LinearCalibration,
  lineOf,
} from '../devices/calibration.ts';
import { type Aggregate, numeric } from './aggregation.ts';
import type { SummariseOptions } from './datapoint-store.ts';
import { textBits } from './growth.ts';
import {
  joinKinds,
  type KindFigures,
  type StretchEdges,
  type Stretches,
  type StretchKinds,
  type StretchRun,
} from './stretches.ts';

/** Larger numbers may add up to what no double holds. */
const magnitudeMax = 1e290;

/**
 * Whether a stretch may represent its datapoints: it lies in one bucket, what is asked of them is
 * known of it, and a calibration draws one line through its numbers. Of the growth of a counter it
 * is known where the numbers only go up. Without an interval the first
 * stretch may not, since the time of the first datapoint is asked for.
 */
export function mayStandFor(
  plan: { readonly aggregates: readonly Aggregate[]; readonly bucketOf?: BucketOf },
  calibration: Calibration | undefined,
): SummariseOptions['mayStand'] {
  const { bucketOf } = plan;
  const wantsEnds = plan.aggregates.some((name) => name === 'first' || name === 'last');
  const wantsNumbers = plan.aggregates.some((name) => numeric.has(name));
  const wantsGrowth = plan.aggregates.includes('increase');
  let isFirst = true;
  let bucket: TimeBucket | undefined;

  function isInOneBucket(start: Instant, end: Instant): boolean {
    if (bucketOf === undefined) {
      if (!isFirst) return true;
      isFirst = false;
      return false;
    }
    if (bucket === undefined || start < bucket.start || start >= bucket.end)
      bucket = bucketOf(start);
    return end < bucket.end;
  }

  return (stretches, at) => {
    if (!isInOneBucket(stretches.starts[at] ?? 0, stretches.ends[at] ?? 0)) return false;
    if (wantsEnds && stretches.hasNumbersAtEnds[at] === 0) return false;
    const isCounted = !wantsNumbers && !wantsEnds;
    if (isCounted || (stretches.numbers[at] ?? 0) + (stretches.textNumbers[at] ?? 0) === 0)
      return true;
    if (Number.isNaN(stretches.sum[at] ?? 0)) return false;
    if (!isShownExactly(stretches, at, calibration)) return false;
    return !wantsGrowth || goesUp(stretches, at, calibration);
  };
}

/** Whether what a stretch comes to is known of it as a calibration shows it: on one line. */
export function isShownExactly(
  stretches: Stretches,
  at: number,
  calibration: Calibration | undefined,
): boolean {
  // Text is not calibrated.
  if (!isApplied(calibration) || stretches.numbers[at] === 0) return true;
  if (stretches.textNumbers[at] !== 0) return false;
  const ends = [stretches.min[at] ?? 0, stretches.max[at] ?? 0] as const;
  const line = lineOf(calibration, ...ends);
  if (line === undefined) return false;
  return ends.every(
    (end) => Math.abs(line.realValue + (end - line.sensorValue) * line.slope) <= magnitudeMax,
  );
}

/** Whether the numbers of a stretch only go up as a calibration shows them, or all are known. */
function goesUp(stretches: Stretches, at: number, calibration: Calibration | undefined): boolean {
  const numbers = stretches.numbers[at] ?? 0;
  if (numbers + (stretches.textNumbers[at] ?? 0) <= 2) return true;
  // Of one instant other stretches may have datapoints, too.
  if (stretches.starts[at] === stretches.ends[at]) return false;
  const isTurned =
    isApplied(calibration) &&
    numbers > 0 &&
    (lineOf(calibration, stretches.min[at] ?? 0, stretches.max[at] ?? 0)?.slope ?? 0) < 0;
  return (isTurned ? stretches.rise[at] : stretches.fall[at]) === 0;
}

/** The line through what both raw values really were. */
function lineBetween(calibration: Calibration, min: number, max: number): LinearCalibration {
  const realValue = Number(calibrate(calibration, min));
  const slope = max > min ? (Number(calibrate(calibration, max)) - realValue) / (max - min) : 0;
  return { sensorValue: min, realValue, slope };
}

/** The sum of so many numbers on a line, whose raw values have this sum. */
const sumOn = (line: LinearCalibration, count: number, sum: number): number =>
  count * line.realValue + (sum - count * line.sensorValue) * line.slope;

/** The stretches of a run as a calibration shows them: of each it draws one line. */
export function calibratedRun(run: StretchRun, calibration: Calibration | undefined): StretchRun {
  if (!isApplied(calibration)) return run;
  const { stretches, from, to } = run;
  const { kinds: allKinds, edges: allEdges, ...raw } = stretches;
  const shown = {
    ...raw,
    ...{ min: stretches.min.slice(), max: stretches.max.slice(), sum: stretches.sum.slice() },
    ...{ first: stretches.first.slice(), last: stretches.last.slice() },
    ...{ rise: stretches.rise.slice(), fall: stretches.fall.slice() },
    ...(allEdges && { edges: allEdges.slice() }),
  };
  for (let at = from; at < to; at += 1) {
    const numbers = stretches.numbers[at] ?? 0;
    if (numbers === 0) continue;
    const kinds = allKinds?.[at];
    if (shown.edges) {
      const raw = kinds?.numbers ?? figuresOf(stretches, at);
      shown.edges[at] = shownEdges(calibration, shown.edges[at], raw);
    }
    const figures =
      kinds === undefined
        ? shownNumbers(calibration, numbers, figuresOf(stretches, at))
        : shownKinds(calibration, numbers, kinds);
    shown.min[at] = figures.min;
    shown.max[at] = figures.max;
    shown.sum[at] = figures.sum;
    shown.rise[at] = figures.rise;
    shown.fall[at] = figures.fall;
    const real = (column: Float64Array): number => Number(calibrate(calibration, column[at] ?? 0));
    if (kinds?.isFirstText !== true) shown.first[at] = real(stretches.first);
    if (kinds?.isLastText !== true) shown.last[at] = real(stretches.last);
  }
  return { ...run, stretches: shown };
}

const figuresOf = ({ min, max, sum, rise, fall }: Stretches, at: number): KindFigures => ({
  min: min[at] ?? 0,
  max: max[at] ?? 0,
  sum: sum[at] ?? 0,
  rise: rise[at] ?? 0,
  fall: fall[at] ?? 0,
});

/**
 * No store lets a stretch without a line through its numbers represent them; hours of which
 * retention took the datapoints may: they are shown as if one went from their least to their
 * greatest number.
 */
const lineThrough = (calibration: Calibration, { min, max }: KindFigures): LinearCalibration =>
  lineOf(calibration, min, max) ?? lineBetween(calibration, min, max);

/** Figures of so many numbers after calibration along one line. */
function shownNumbers(calibration: Calibration, count: number, raw: KindFigures): KindFigures {
  const line = lineThrough(calibration, raw);
  const least = Number(calibrate(calibration, raw.min));
  const greatest = Number(calibrate(calibration, raw.max));
  const isFalling = line.slope < 0;
  return {
    min: isFalling ? greatest : least,
    max: isFalling ? least : greatest,
    sum: sumOn(line, count, raw.sum),
    rise: Math.abs(line.slope) * (isFalling ? raw.fall : raw.rise),
    fall: Math.abs(line.slope) * (isFalling ? raw.rise : raw.fall),
  };
}

/** Undefined: on a line that falls the ends are not what they were. */
function shownEdges(
  calibration: Calibration,
  edges: StretchEdges | undefined,
  numbers: KindFigures,
): StretchEdges | undefined {
  const line = lineThrough(calibration, numbers);
  if (edges === undefined || line.slope < 0) return undefined;
  const real = (name: keyof typeof textBits): number =>
    (edges.texts & textBits[name]) === 0
      ? Number(calibrate(calibration, edges[name]))
      : edges[name];
  return {
    ...{ second: real('second'), penult: real('penult'), from: real('from'), to: real('to') },
    ...{ up: edges.up * line.slope, restarts: edges.restarts, texts: edges.texts },
    restartSum: sumOn(line, edges.restarts, edges.restartSum),
  };
}

/** Text is not calibrated: its figures stay beside those of the JSON numbers. */
function shownKinds(calibration: Calibration, count: number, kinds: StretchKinds): KindFigures {
  const line = lineThrough(calibration, kinds.numbers);
  return joinKinds(kinds, {
    numbers: shownNumbers(calibration, count, kinds.numbers),
    real: (number) => Number(calibrate(calibration, number)),
    realSum: (many, sum) => sumOn(line, many, sum),
  });
}
