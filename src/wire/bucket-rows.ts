import type { AggregationPlan, Bucket } from '../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../domain/datapoints/bucket-page.ts';
import type { BucketColumns } from '../domain/datapoints/bucket-tally.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import { createTextBytes } from '../lib/text-bytes.ts';
import { type Spelling, v2Spelling } from './spelling.ts';
import { keysOf, sensorBucketIds } from './summary.ts';

/** Writes buckets as elements of a JSON array; undefined: not all of their values are numbers. */
export type BucketRowsWriter = (buckets: readonly SensorBucket[]) => Uint8Array | undefined;

/**
 * The same bytes as the writers of single buckets have, with the sensor of each in front unless
 * `isOfOneSensor`, and commas in between.
 */
export function createBucketRows(
  plan: AggregationPlan,
  isOfOneSensor: boolean,
  spelling: Spelling = v2Spelling,
): BucketRowsWriter {
  const keys = keysOf(plan).map((key) => Buffer.from(`,"${key}":`));
  const beginnings = new Map<SensorRef, Uint8Array>();

  function beginningOf(sensor: SensorRef): Uint8Array {
    if (isOfOneSensor) return onlyTimestamp;
    const known = beginnings.get(sensor);
    if (known !== undefined) return known;
    const fresh = Buffer.from(`{${sensorBucketIds(sensor, spelling)},"timestamp":"`);
    beginnings.set(sensor, fresh);
    return fresh;
  }

  function put({ sensor, bucket: { start, values } }: SensorBucket): void {
    text.putBytes(beginningOf(sensor));
    text.putInstant(start);
    text.putBytes(quote);
    for (let at = 0; at < values.length; at += 1) {
      const value = values[at];
      const key = keys[at];
      if (typeof value !== 'number' || key === undefined) continue;
      text.putBytes(key);
      text.putNumber(value);
    }
    text.putBytes(objectEnd);
  }

  return (buckets) => {
    if (!buckets.every(({ bucket }) => hasOnlyNumbers(bucket))) return undefined;
    try {
      for (let at = 0; at < buckets.length; at += 1) {
        if (at > 0) text.putBytes(comma);
        put(buckets[at] as SensorBucket);
      }
      return text.take();
    } finally {
      // Text that a failure left belongs to no other answer.
      text.clear();
    }
  };
}

/** Some of the buckets of one sensor, from one to before another. */
export interface BucketRun {
  readonly columns: BucketColumns;
  readonly from: number;
  readonly to: number;
}

/** Writes buckets of one sensor as elements of a JSON array, with the bytes of the others. */
export function createBucketColumnRows(plan: AggregationPlan): (run: BucketRun) => Uint8Array {
  const keys = keysOf(plan).map((key) => Buffer.from(`,"${key}":`));
  return ({ columns: { starts, values }, from, to }) => {
    try {
      for (let row = from; row < to; row += 1) {
        text.putBytes(row === from ? onlyTimestamp : nextTimestamp);
        text.putInstant(starts[row] as number);
        text.putBytes(quote);
        for (let at = 0; at < values.length; at += 1) {
          const value = (values[at] as Float64Array)[row] as number;
          if (Number.isNaN(value)) continue;
          text.putBytes(keys[at] as Uint8Array);
          text.putNumber(value);
        }
      }
      if (to > from) text.putBytes(objectEnd);
      return text.take();
    } finally {
      text.clear();
    }
  };
}

/** Beside numbers, values that are absent. */
function hasOnlyNumbers({ values }: Bucket): boolean {
  for (const value of values) {
    if (value !== undefined && !Number.isFinite(value)) return false;
  }
  return true;
}

const onlyTimestamp = Buffer.from('{"timestamp":"');
const nextTimestamp = Buffer.from('},{"timestamp":"');
const quote = Buffer.from('"');
const comma = Buffer.from(',');
const objectEnd = Buffer.from('}');

/** Buckets of all answers are written here, one step at a time; only what was written is kept. */
const text = createTextBytes();
