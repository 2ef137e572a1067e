import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { LongJson, storedJson, writeJson } from '../../lib/long-json.ts';
import type { Datapoint } from './datapoint.ts';
import type { DatapointColumns } from './datapoint-columns.ts';

/**
 * Datapoints of one sensor, column by column, in the order of their arrival: the form in which they
 * go from the request to the disk. A batch that was handed over never changes.
 */
export interface ColumnBatch {
  readonly count: number;
  /** Order times: the timestamp, or the time of receipt where there is none. */
  readonly times: Float64Array;
  readonly received: Float64Array;
  /** 1 where the datapoint has a timestamp, which then is its order time. */
  readonly timed: Uint8Array;
  /** The values that are numbers; meaningless where there is a text. */
  readonly numbers: Float64Array;
  /** The other values as JSON texts, none a slice of a longer one; absent: all are numbers. */
  readonly texts?: readonly (string | undefined)[];
  /** Of a batch that was put together row by row: what its datapoints weigh. */
  readonly weight?: number;
}

/** No datapoint at all. */
export const emptyBatch: ColumnBatch = {
  count: 0,
  times: new Float64Array(0),
  received: new Float64Array(0),
  timed: new Uint8Array(0),
  numbers: new Float64Array(0),
};

/** The columns of one datapoint, as nearly every push has it. */
export function singleBatch(
  value: JsonValue,
  timestamp: Instant | undefined,
  receivedAt: Instant,
): ColumnBatch {
  if (lastReceived[0] !== receivedAt) lastReceived = Float64Array.of(receivedAt);
  const received = lastReceived;
  const numbers = new Float64Array(1);
  let times = received;
  if (timestamp !== undefined) {
    times = new Float64Array(1);
    times[0] = timestamp;
  }
  const timed = timestamp === undefined ? oneUntimed : oneTimed;
  if (typeof value !== 'number') {
    return { count: 1, times, received, timed, numbers, texts: [writeJson(value)] };
  }
  numbers[0] = value;
  return { count: 1, times, received, timed, numbers };
}

/** Column of all pushes of a millisecond: it takes 250 bytes, and never changes. */
let lastReceived = Float64Array.of(0);
const oneTimed = Uint8Array.of(1);
const oneUntimed = Uint8Array.of(0);
export type BatchBuilder = ReturnType<typeof createBatchBuilder>;

/** Columns that take one datapoint after the other, `capacity` at most. */
export function createBatchBuilder(capacity: number) {
  const times = new Float64Array(capacity);
  const received = new Float64Array(capacity);
  const timed = new Uint8Array(capacity);
  const numbers = new Float64Array(capacity);
  let texts: (string | undefined)[] | undefined;
  let [count, weight] = [0, 0];

  function put(timestamp: Instant | undefined, receivedAt: Instant, weighs: number): void {
    times[count] = timestamp ?? receivedAt;
    received[count] = receivedAt;
    timed[count] = timestamp === undefined ? 0 : 1;
    count += 1;
    weight += weighs;
  }

  return {
    get count() {
      return count;
    },
    put(value: JsonValue, timestamp: Instant | undefined, receivedAt: Instant): void {
      if (typeof value !== 'number') {
        this.putText(writeJson(value), timestamp, receivedAt);
        return;
      }
      numbers[count] = value;
      put(timestamp, receivedAt, 1);
    },
    /** Puts a value that is no number, given as JSON.stringify writes it. */
    putText(text: string, timestamp: Instant | undefined, receivedAt: Instant): void {
      // As long as the capacity: nothing is copied as they grow.
      texts ??= new Array<string | undefined>(capacity).fill(undefined);
      texts[count] = text;
      put(timestamp, receivedAt, weightOfText(text));
    },
    /** The batch of all rows put so far. Nothing is put afterwards. */
    finish(): ColumnBatch {
      const whole = { count: capacity, times, received, timed, numbers };
      const filled = sliceBatch(whole, 0, count);
      if (texts === undefined) return filled;
      texts.length = count;
      return { ...filled, texts, weight };
    },
  };
}

/** The columns of datapoints in their order. */
export function toColumnBatch(datapoints: readonly Datapoint[]): ColumnBatch {
  const builder = createBatchBuilder(datapoints.length);
  for (const { value, timestamp, receivedAt } of datapoints) {
    builder.put(value, timestamp, receivedAt);
  }
  return builder.finish();
}

/** A batch of these columns, and of texts if there are any. */
export function batchOf(
  columns: Omit<ColumnBatch, 'texts'>,
  texts: readonly (string | undefined)[] | undefined,
): ColumnBatch {
  return texts === undefined ? columns : { ...columns, texts };
}

/** The datapoint in one row. */
export function datapointAt(batch: ColumnBatch, row: number): Datapoint {
  const text = batch.texts?.[row];
  const value = text === undefined ? (batch.numbers[row] ?? 0) : storedJson(text);
  const receivedAt = batch.received[row] ?? 0;
  if (batch.timed[row] === 0) return { value, receivedAt };
  return { value, timestamp: batch.times[row] ?? 0, receivedAt };
}

/** An object for each datapoint. */
export function toDatapoints(batch: ColumnBatch): Datapoint[] {
  const datapoints: Datapoint[] = [];
  for (let row = 0; row < batch.count; row += 1) datapoints.push(datapointAt(batch, row));
  return datapoints;
}

/** The value in one row as JSON text; equal values have equal texts. */
export function valueTextAt(batch: ColumnBatch, row: number): string {
  return batch.texts?.[row] ?? JSON.stringify(batch.numbers[row]);
}

/** The rows from `start` up to `end`, the latter excluded; they share memory with the batch. */
export function sliceBatch(batch: ColumnBatch, start: number, end: number): ColumnBatch {
  if (start === 0 && end === batch.count) return batch;
  return batchOf(
    {
      count: end - start,
      times: batch.times.subarray(start, end),
      received: batch.received.subarray(start, end),
      timed: batch.timed.subarray(start, end),
      numbers: batch.numbers.subarray(start, end),
    },
    batch.texts?.slice(start, end),
  );
}

/** The same datapoints, received at other times. */
export function withReceipts(batch: ColumnBatch, received: Float64Array): ColumnBatch {
  const times = batch.times.map((time, row) =>
    batch.timed[row] === 1 ? time : (received[row] ?? time),
  );
  return { ...batch, times, received };
}

/** Selects rows of a batch, in the order given. */
export function selectRows(batch: ColumnBatch, rows: ArrayLike<number>): ColumnBatch {
  const count = rows.length;
  const { texts: from } = batch;
  const times = new Float64Array(count);
  const received = new Float64Array(count);
  const timed = new Uint8Array(count);
  const numbers = new Float64Array(count);
  const texts = from && new Array<string | undefined>(count).fill(undefined);
  for (let at = 0; at < count; at += 1) {
    const row = rows[at] ?? 0;
    times[at] = batch.times[row] ?? 0;
    received[at] = batch.received[row] ?? 0;
    timed[at] = batch.timed[row] ?? 0;
    numbers[at] = batch.numbers[row] ?? 0;
    if (texts !== undefined && from !== undefined) texts[at] = from[row];
  }
  return batchOf({ count, times, received, timed, numbers }, texts);
}

/** The row that becomes the last value [contract 3], as `lastAmong` says; undefined: no rows. */
export function lastRowAmong({ count, times, timed }: ColumnBatch): number | undefined {
  let newest: number | undefined;
  for (let row = 0; row < count; row += 1) {
    if (timed[row] === 0) return count - 1;
    if (newest === undefined || (times[newest] ?? 0) <= (times[row] ?? 0)) newest = row;
  }
  return newest;
}

const charactersPerWeight = 32;
/** Bytes that a weight of 1 counts towards a quota. */
export const bytesPerWeight = 32;

/** 1 for a number, and 1 more for every 32 characters of the JSON text of other values. */
export function weigh(datapoint: Datapoint): number {
  const { value } = datapoint;
  if (typeof value === 'number' || typeof value === 'boolean') return 1;
  if (value instanceof LongJson) return weightOfText(value.text);
  return 1 + Math.floor(lengthOf(value) / charactersPerWeight);
}

function lengthOf(value: JsonValue): number {
  return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}

/** Weight of the datapoint in a row. */
export const weightIn = (columns: DatapointColumns, row: number): number =>
  Number.isNaN(columns.numbers[row] ?? Number.NaN) ? weigh(columns.at(row)) : 1;

/** The JSON texts of values that are no numbers, among so many: see `ColumnBatch`. */
export interface ValueTexts {
  readonly count: number;
  readonly texts?: readonly (string | undefined)[] | undefined;
  readonly weight?: number | undefined;
}

/** Weight of the datapoints of a batch: as much as objects of them would weigh. */
export function weightOfBatch({ count, texts, weight: known }: ValueTexts): number {
  if (texts === undefined) return count;
  if (known !== undefined) return known;
  let weight = 0;
  for (let row = 0; row < count; row += 1) weight += weightOfText(texts[row]);
  return weight;
}

/** Weight of a datapoint whose value has this JSON text; undefined: a number. */
export function weightOfText(text: string | undefined): number {
  if (text === undefined || text === 'true' || text === 'false') return 1;
  return 1 + Math.floor(charactersOf(text) / charactersPerWeight);
}

/** A string counts without its quotes, and an escaped character as one. */
function charactersOf(text: string): number {
  if (!text.startsWith('"')) return text.length;
  let characters = text.length - 2;
  for (let at = text.indexOf('\\'); at >= 0; ) {
    const length = text[at + 1] === 'u' ? 6 : 2;
    characters -= length - 1;
    at = text.indexOf('\\', at + length);
  }
  return characters;
}
