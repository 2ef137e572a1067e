import type { Instant } from '../../lib/clock.ts';
import type { BucketOf, TimeBucket } from '../../lib/time-bucket.ts';
import {
  type Calibration,
  type CalibrationLine,
  calibrate,
  isApplied,
  lineOf,
} from '../devices/calibration.ts';
import { type Aggregate, numeric } from './bucket-tally.ts';
import type { SummariseOptions } from './datapoint-store.ts';
import type { Stretches, StretchRun } from './stretches.ts';

/** Larger numbers may add up to what no double holds. */
const magnitudeMax = 1e290;

/**
 * Whether a stretch may stand for its datapoints: it lies in one bucket, what is asked of them is
 * known of it, and a calibration draws one line through its numbers. Without an interval the first
 * stretch may not, since the time of the first datapoint is asked for.
 */
export function mayStandFor(
  plan: { readonly aggregates: readonly Aggregate[]; readonly bucketOf?: BucketOf },
  calibration: Calibration | undefined,
): SummariseOptions['mayStand'] {
  const { bucketOf } = plan;
  const wantsEnds = plan.aggregates.some((name) => name === 'first' || name === 'last');
  const wantsNumbers = plan.aggregates.some((name) => numeric.has(name));
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
    return isShownExactly(stretches, at, calibration);
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

/** The line through what both raw values really were. */
function lineBetween(calibration: Calibration, min: number, max: number): CalibrationLine {
  const realValue = Number(calibrate(calibration, min));
  const slope = max > min ? (Number(calibrate(calibration, max)) - realValue) / (max - min) : 0;
  return { sensorValue: min, realValue, slope };
}

/** The stretches of a run as a calibration shows them: of each it draws one line. */
export function calibratedRun(run: StretchRun, calibration: Calibration | undefined): StretchRun {
  if (!isApplied(calibration)) return run;
  const { stretches, from, to } = run;
  const shown = {
    ...stretches,
    ...{ min: stretches.min.slice(), max: stretches.max.slice(), sum: stretches.sum.slice() },
    ...{ first: stretches.first.slice(), last: stretches.last.slice() },
    ...{ rise: stretches.rise.slice(), fall: stretches.fall.slice() },
  };
  for (let at = from; at < to; at += 1) {
    const numbers = stretches.numbers[at] ?? 0;
    const [min, max] = [stretches.min[at] ?? 0, stretches.max[at] ?? 0];
    if (numbers === 0) continue;
    // No store lets a stretch stand that has none; hours of which retention took the datapoints
    // may: they are shown as if a line went from their least to their greatest number.
    const line = lineOf(calibration, min, max) ?? lineBetween(calibration, min, max);
    const real = (column: Float64Array): number => Number(calibrate(calibration, column[at] ?? 0));
    const isFalling = line.slope < 0;
    const [rise, fall] = [stretches.rise[at] ?? 0, stretches.fall[at] ?? 0];
    shown.min[at] = real(isFalling ? stretches.max : stretches.min);
    shown.max[at] = real(isFalling ? stretches.min : stretches.max);
    shown.first[at] = real(stretches.first);
    shown.last[at] = real(stretches.last);
    const sum = stretches.sum[at] ?? 0;
    shown.sum[at] = numbers * line.realValue + (sum - numbers * line.sensorValue) * line.slope;
    shown.rise[at] = Math.abs(line.slope) * (isFalling ? fall : rise);
    shown.fall[at] = Math.abs(line.slope) * (isFalling ? rise : fall);
  }
  return { ...run, stretches: shown };
}
