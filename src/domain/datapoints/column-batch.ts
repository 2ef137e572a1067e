import { parseJson } from '../../lib/json.ts';
import { type Datapoint, orderTime } from './datapoint.ts';

/**
 * Datapoints of one sensor, column by column, in the order of their arrival: how they travel from
 * the door to the disk. Nobody changes a batch that was handed over.
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
  /**
   * The other values as JSON.stringify writes them, none a slice of a longer text; absent when all
   * are numbers.
   */
  readonly texts?: readonly (string | undefined)[];
}

/** No datapoint at all. */
export const emptyBatch: ColumnBatch = toColumnBatch([]);

/** The columns of datapoints in their order. */
export function toColumnBatch(datapoints: readonly Datapoint[]): ColumnBatch {
  const count = datapoints.length;
  const times = new Float64Array(count);
  const received = new Float64Array(count);
  const timed = new Uint8Array(count);
  const numbers = new Float64Array(count);
  let texts: (string | undefined)[] | undefined;
  for (let row = 0; row < count; row += 1) {
    // Below its length the array has no holes.
    const datapoint = datapoints[row] as Datapoint;
    times[row] = orderTime(datapoint);
    received[row] = datapoint.receivedAt;
    timed[row] = datapoint.timestamp === undefined ? 0 : 1;
    if (typeof datapoint.value === 'number') {
      numbers[row] = datapoint.value;
    } else {
      texts ??= new Array<string | undefined>(count).fill(undefined);
      texts[row] = JSON.stringify(datapoint.value);
    }
  }
  return batchOf({ count, times, received, timed, numbers }, texts);
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
  const value = text === undefined ? (batch.numbers[row] ?? 0) : parseJson(text);
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

/** Whether the values in two rows are equal. */
export function sameValue(one: ColumnBatch, row: number, other: ColumnBatch, at: number): boolean {
  const text = one.texts?.[row];
  const otherText = other.texts?.[at];
  if (text === undefined && otherText === undefined) return one.numbers[row] === other.numbers[at];
  return text === otherText;
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

/** These rows, in the order given. */
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

/**
 * Which row of the batch becomes the last value [contract 3], as `lastAmong` says it; undefined for
 * no rows.
 */
export function lastRowAmong({ count, times, timed }: ColumnBatch): number | undefined {
  let newest: number | undefined;
  for (let row = 0; row < count; row += 1) {
    if (timed[row] === 0) return count - 1;
    if (newest === undefined || (times[newest] ?? 0) <= (times[row] ?? 0)) newest = row;
  }
  return newest;
}
