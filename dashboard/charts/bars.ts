import type { Measures } from '../api/measures.ts';
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

/** Aggregates of a read that totals are made of. */
export const totalAggregates = 'sum,increase,count';

/** The total of a bucket as the API computed it: nothing of a gauge, or while that is not known. */
export function totalIn(bucket: BucketPoint, measures: Measures | undefined): number | undefined {
  if (measures === 'counter') return bucket.increase;
  return measures === 'amount' ? bucket.sum : undefined;
}

/** Bars, one for each bucket that has a total. */
export function columnsOfBars(
  buckets: readonly BucketPoint[],
  bucketMs: number,
  measures: Measures | undefined,
): Columns {
  const columns = emptyColumns(bucketMs);
  for (const bucket of buckets) {
    const [at, value] = [Date.parse(bucket.timestamp), totalIn(bucket, measures)];
    if (value === undefined || Number.isNaN(at)) continue;
    columns.times.push(at);
    columns.values.push(value);
    columns.lows.push(value);
    columns.highs.push(value);
    columns.counts.push(bucket.count ?? 0);
  }
  return columns;
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
