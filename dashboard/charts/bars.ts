import { numberOf } from '../i18n/formats.ts';
import type { BucketPoint, Columns } from './columns.ts';
import { emptyColumns, firstAtOrAfter } from './columns.ts';
import type { Interval } from './intervals.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Bars that people count in: ten minutes, hours, days, months. */
export function barInterval(spanMs: number): Interval {
  if (spanMs <= 4 * hourMs) return { text: '10m', ms: hourMs / 6 };
  if (spanMs <= 3 * dayMs) return { text: '1h', ms: hourMs };
  if (spanMs <= 92 * dayMs) return { text: '1d', ms: dayMs };
  return { text: '1mo', ms: 30.44 * dayMs };
}

/** A bucket of numbers. */
interface Amount {
  readonly at: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly count: number;
  /** Whether it begins with its lowest value and ends with its highest. */
  readonly rises: boolean;
}

/** What sums are made of, as aggregates of a read. */
export const amountAggregates = 'sum,min,max,count,first,last';

/**
 * One bar for each bucket: the sum of what was sent; for a meter that only counts up, by how much
 * it rose. A meter that begins anew counts from there.
 */
export function columnsOfBars(buckets: readonly BucketPoint[], bucketMs: number): Columns {
  const columns = emptyColumns(bucketMs);
  const amounts = buckets.flatMap(amountOf);
  const isMeter = countsUp(amounts);
  amounts.forEach(({ at, min, max, sum, count }, index) => {
    const before = amounts[index - 1]?.max;
    const rise = before === undefined || max < before ? max - min : max - before;
    const value = isMeter ? rise : sum;
    columns.times.push(at);
    columns.values.push(value);
    columns.lows.push(value);
    columns.highs.push(value);
    columns.counts.push(count);
  });
  return columns;
}

function amountOf(bucket: BucketPoint): readonly Amount[] {
  const { min, max, sum, count = 0 } = bucket;
  const at = Date.parse(bucket.timestamp);
  if (min === undefined || max === undefined || sum === undefined || Number.isNaN(at)) return [];
  const rises = numberOf(bucket.first) === min && numberOf(bucket.last) === max && max > min;
  return [{ at, min, max, sum, count, rises }];
}

/** Steps back that a meter may make within a range, as when it is exchanged. */
const restartsMax = 1;
/** With fewer values in a bucket it tells nothing. */
const togetherMin = 3;
/** So many buckets of one value that never fall are no chance any more. */
const aloneMin = 6;

/**
 * Whether a sensor is a meter that counts up: from bucket to bucket it never falls, and within
 * those that hold several values it begins with the lowest and ends with the highest. Amounts do
 * neither.
 */
function countsUp(amounts: readonly Amount[]): boolean {
  const [first] = amounts;
  const last = amounts.at(-1);
  if (first === undefined || last === undefined) return false;
  const falls = amounts.filter(({ min }, index) => min < (amounts[index - 1]?.max ?? min)).length;
  if (falls === 0 && last.max <= first.min) return false;
  if (falls > restartsMax) return false;
  // Amounts are 0 again and again; a meter is so at most when it begins.
  if (amounts.some(({ min }, index) => min < 0 || (min === 0 && index > 0))) return false;
  if (first.min === 0 && amounts.length === 1) return false;
  const telling = amounts.filter(({ count, min, max }) => count >= togetherMin && max > min);
  if (telling.length === 0) return amounts.length >= aloneMin && falls === 0;
  return telling.filter(({ rises }) => rises).length >= telling.length * 0.8;
}

/** The bar that an instant is in. */
export function barAt(
  { times, values, bucketMs = 0 }: Columns,
  at: number,
): { readonly at: number; readonly value: number } | undefined {
  const index = firstAtOrAfter(times, at + 1) - 1;
  const [time, value] = [times[index], values[index]];
  if (time === undefined || value === undefined) return undefined;
  // Months differ in length: a bar ends where the next begins.
  const end = times[index + 1] ?? time + bucketMs * 1.02;
  return at < Math.min(end, time + bucketMs * 1.05) ? { at: time, value } : undefined;
}

/** All bars together. */
export const totalOf = ({ values }: Columns): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
