import type { AggregationPlan, Bucket, BucketColumns } from '../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../domain/datapoints/bucket-page.ts';
import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import type { DatapointColumns } from '../domain/datapoints/datapoint-columns.ts';
import { joinedText, type LongText } from '../lib/long-json.ts';
import { createTextBytes, type TextBytes } from '../lib/text-bytes.ts';
import { csvIds, csvRow, csvRowWithoutIds } from './csv.ts';
import { createDatapointWriter, datapointIds } from './datapoint.ts';
import { type Spelling, v2Spelling } from './spelling.ts';
import { keysOf, sensorBucketIds } from './summary.ts';

/**
 * Writes datapoints column by column, as the writers of single ones would, byte for byte: in one
 * piece, but for long values.
 */
export type RowsWriter = (columns: DatapointColumns) => Uint8Array | LongText;

/** Lines of CSV. */
export function createCsvRows(sensor: SensorRef, spelling: Spelling = v2Spelling): RowsWriter {
  if (!spelling.hasIdsInCsv) {
    return rowsWriter({
      slow: csvRowWithoutIds,
      fast(text, number, timestamp, received) {
        if (timestamp !== undefined) text.putInstant(timestamp);
        text.putBytes(comma);
        text.putInstant(received);
        text.putBytes(comma);
        text.putNumber(number);
        text.putBytes(lineEnd);
      },
    });
  }
  const ids = Buffer.from(csvIds(sensor));
  return rowsWriter({
    slow: (datapoint) => csvRow({ ...sensor, datapoint }),
    fast(text, number, timestamp, received) {
      text.putBytes(ids);
      text.putNumber(number);
      text.putBytes(comma);
      if (timestamp !== undefined) text.putInstant(timestamp);
      text.putBytes(comma);
      text.putInstant(received);
      text.putBytes(lineEnd);
    },
  });
}

/** Elements of a JSON array, with commas in between. */
export function createJsonRows(sensor: SensorRef, spelling: Spelling = v2Spelling): RowsWriter {
  const ids = Buffer.from(datapointIds(sensor, spelling));
  return rowsWriter({
    slow: createDatapointWriter(sensor, spelling),
    between: comma,
    fast(text, number, timestamp, received) {
      text.putBytes(ids);
      if (timestamp !== undefined) {
        text.putBytes(timestampKey);
        text.putInstant(timestamp);
        text.putBytes(valueKey);
      } else {
        text.putBytes(onlyValueKey);
      }
      text.putNumber(number);
      text.putBytes(receivedKey);
      text.putInstant(received);
      text.putBytes(objectEnd);
    },
  });
}

const comma = Buffer.from(',');
const lineEnd = Buffer.from('\r\n');
const timestampKey = Buffer.from('"timestamp":"');
const valueKey = Buffer.from('","value":');
const onlyValueKey = Buffer.from('"value":');
const receivedKey = Buffer.from(',"date_received":"');
const objectEnd = Buffer.from('"}');

function rowsWriter(how: {
  /** A datapoint as an object. */
  readonly slow: (datapoint: Datapoint) => string | LongText;
  /** A datapoint whose value is a number. */
  readonly fast: (
    text: TextBytes,
    number: number,
    timestamp: number | undefined,
    received: number,
  ) => void;
  readonly between?: Uint8Array;
}): RowsWriter {
  const { slow, fast, between } = how;

  /** Answers what stands before the last row with a long value, up to its end. */
  function putRows(columns: DatapointColumns): readonly (Uint8Array | LongText)[] {
    const before: (Uint8Array | LongText)[] = [];
    const { count, times, numbers, received, timed } = columns;
    const hasAll = received?.length === count && timed?.length === count;
    for (let row = 0; row < count; row += 1) {
      if (between !== undefined && row > 0) text.putBytes(between);
      const number = numbers[row] ?? Number.NaN;
      if (!hasAll || Number.isNaN(number)) {
        const written = slow(columns.at(row));
        if (typeof written === 'string') text.putText(written);
        else before.push(text.take(), written);
      } else {
        fast(text, number, timed[row] === 0 ? undefined : times[row], received[row] ?? 0);
      }
    }
    return before;
  }

  return (columns) => {
    try {
      const before = putRows(columns);
      return before.length === 0 ? text.take() : joinedText([...before, text.take()]);
    } finally {
      // Text that a failure left belongs to no other answer.
      text.clear();
    }
  };
}

/** Rows of all answers are written here, one step at a time; only what was written is kept. */
const text = createTextBytes();

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
    text.putBytes(bucketEnd);
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
      if (to > from) text.putBytes(bucketEnd);
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
const bucketEnd = Buffer.from('}');
