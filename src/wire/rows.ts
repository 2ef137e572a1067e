import type { AggregationPlan, Bucket, BucketColumns } from '../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../domain/datapoints/bucket-page.ts';
import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import type { SensorRows } from '../domain/datapoints/datapoint-columns.ts';
import { joinedText, type LongText } from '../lib/long-json.ts';
import { createTextBytes, type TextBytes } from '../lib/text-bytes.ts';
import { csvIds, csvRowBehind, csvRowWithoutIds } from './csv.ts';
import { createDatapointWriter, datapointIds } from './datapoint.ts';
import { type Spelling, v2Spelling } from './spelling.ts';
import { keysOf, sensorBucketIds } from './summary.ts';

/** Writes datapoints, a step at once: in one piece, but for long values. */
export type RowsWriter = (step: readonly SensorRows[]) => Buffer | LongText;

/** How datapoints of one sensor are written. */
interface RowForm {
  /** Beginning of each row. */
  readonly ids: Uint8Array;
  /** A datapoint as an object. */
  readonly slow: (datapoint: Datapoint) => string | LongText;
}

/** Lines of CSV. */
export function createCsvRows(spelling: Spelling = v2Spelling): RowsWriter {
  if (!spelling.hasIdsInCsv) {
    return rowsWriter(
      () => ({ ids: nothing, slow: csvRowWithoutIds }),
      (text, number, timestamp, received) => {
        if (timestamp !== undefined) text.putInstant(timestamp);
        text.putBytes(comma);
        text.putInstant(received);
        text.putBytes(comma);
        text.putNumber(number);
        text.putBytes(lineEnd);
      },
    );
  }
  return rowsWriter(
    (sensor) => {
      const ids = csvIds(sensor);
      return { ids: Buffer.from(ids), slow: (datapoint) => csvRowBehind(ids, datapoint) };
    },
    (text, number, timestamp, received) => {
      text.putNumber(number);
      text.putBytes(comma);
      if (timestamp !== undefined) text.putInstant(timestamp);
      text.putBytes(comma);
      text.putInstant(received);
      text.putBytes(lineEnd);
    },
  );
}

/** Elements of a JSON array, with commas in between. */
export const createJsonRows = (spelling: Spelling = v2Spelling): RowsWriter =>
  rowsWriter(
    (sensor) => ({
      ids: Buffer.from(datapointIds(sensor, spelling)),
      slow: createDatapointWriter(sensor, spelling),
    }),
    (text, number, timestamp, received) => {
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
    comma,
  );

const nothing = new Uint8Array();
const comma = Buffer.from(',');
const lineEnd = Buffer.from('\r\n');
const timestampKey = Buffer.from('"timestamp":"');
const valueKey = Buffer.from('","value":');
const onlyValueKey = Buffer.from('"value":');
const receivedKey = Buffer.from(',"date_received":"');
const objectEnd = Buffer.from('"}');

function rowsWriter(
  formOf: (sensor: SensorRef) => RowForm,
  /** How a datapoint whose value is a number is written behind the ids: the same bytes. */
  putNumber: (
    text: TextBytes,
    number: number,
    timestamp: number | undefined,
    received: number,
  ) => void,
  between?: Uint8Array,
): RowsWriter {
  // By the object: a reader of many sensors hands the same one over again and again.
  const forms = new Map<SensorRef, RowForm>();

  function knownForm(sensor: SensorRef): RowForm {
    const known = forms.get(sensor);
    if (known !== undefined) return known;
    const fresh = formOf(sensor);
    forms.set(sensor, fresh);
    return fresh;
  }

  /** Text of rows that is not among the bytes yet: one call for many rows. */
  let waiting = '';

  function putWaiting(): void {
    if (waiting === '') return;
    text.putText(waiting);
    waiting = '';
  }

  function putBetween(): void {
    if (between === undefined) return;
    if (waiting === '') text.putBytes(between);
    else waiting += ',';
  }

  function putSlow(written: string | LongText, before: Pieces): void {
    if (typeof written === 'string') waiting += written;
    if (typeof written !== 'string' || waiting.length > waitingMax) putWaiting();
    if (typeof written !== 'string') before.push(text.take(), written);
  }

  /** Adds what stands before the last row with a long value, up to its end. */
  function putRows({ source, columns, from, to }: SensorRows, before: Pieces): void {
    const { ids, slow } = knownForm(source.ref);
    const { count, times, numbers, received, timed } = columns;
    const hasAll = received?.length === count && timed?.length === count;
    for (let row = from; row < to; row += 1) {
      if (row > from) putBetween();
      const number = numbers[row] ?? Number.NaN;
      if (!hasAll || Number.isNaN(number)) {
        putSlow(slow(columns.at(row)), before);
      } else {
        putWaiting();
        text.putBytes(ids);
        putNumber(text, number, timed[row] === 0 ? undefined : times[row], received[row] ?? 0);
      }
    }
  }

  return (step) => {
    try {
      const before: Pieces = [];
      for (let at = 0; at < step.length; at += 1) {
        if (at > 0) putBetween();
        putRows(step[at] as SensorRows, before);
      }
      putWaiting();
      return before.length === 0 ? text.take() : joinedText([...before, text.take()]);
    } finally {
      // Text that a failure left belongs to no other answer.
      waiting = '';
      text.clear();
    }
  };
}

/** Characters of rows that may wait to become bytes. */
const waitingMax = 8_192;

type Pieces = (Uint8Array | LongText)[];

/** Rows of all answers are written here, one step at a time; only what was written is kept. */
const text = createTextBytes();

/**
 * Writes buckets as elements of a JSON array, as writers of single buckets do, each sensor in front
 * unless `isOfOneSensor`; undefined: not all of their values are numbers.
 */
export function createBucketRows(
  plan: AggregationPlan,
  isOfOneSensor: boolean,
  spelling: Spelling = v2Spelling,
): (buckets: readonly SensorBucket[]) => Buffer | undefined {
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
export function createBucketColumnRows(plan: AggregationPlan): (run: BucketRun) => Buffer {
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
  for (const value of values) if (value !== undefined && !Number.isFinite(value)) return false;
  return true;
}

const onlyTimestamp = Buffer.from('{"timestamp":"');
const nextTimestamp = Buffer.from('},{"timestamp":"');
const quote = Buffer.from('"');
const bucketEnd = Buffer.from('}');
