import { type Aggregate, aggregate } from '../../../src/domain/datapoints/aggregation.ts';
import type { Growth } from '../../../src/domain/datapoints/growth.ts';
import { hourMs } from '../../../src/domain/datapoints/retention/retention.ts';
import type { SummarisedPart } from '../../../src/domain/datapoints/stretches.ts';
import type { BucketOf } from '../../../src/lib/time-bucket.ts';
import { midnight } from './history-steps.ts';

/** First and last are those of numbers where hours stand, and of anything elsewhere. */
export const names: readonly Aggregate[] = ['count', 'min', 'max', 'sum', 'increase'];

/** Buckets of so many ms. */
export const bucketsOf =
  (each: number): BucketOf =>
  (at) => {
    const start = Math.floor(at / each) * each;
    return { start, end: start + each };
  };

/** Sums of parts in buckets of so many ms; `growth` knows the numbers before them. */
export async function sumsOf(
  parts: AsyncIterable<SummarisedPart>,
  each: number,
  growth?: Growth,
): Promise<unknown[]> {
  const found: unknown[] = [];
  const plan = { aggregates: names, bucketOf: bucketsOf(each) };
  for await (const step of aggregate(parts, plan, growth)) {
    for (const { start, values: ofBucket } of step.buckets) {
      found.push([(start - midnight) / hourMs, ...ofBucket]);
    }
  }
  return found;
}
