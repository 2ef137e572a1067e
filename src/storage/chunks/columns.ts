import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import { parseJson } from '../../lib/json.ts';

/** Datapoints of one sensor, column by column: small in memory, quick to search. */
export interface Columns {
  readonly count: number;
  /** Order times, ascending. */
  readonly times: Float64Array;
  readonly received: Float64Array;
  /** 1 where the datapoint has a timestamp, which then is its order time. */
  readonly timed: Uint8Array;
  /** The values that are numbers; meaningless where there is a text. */
  readonly numbers: Float64Array;
  /** The other values as JSON text; absent when all are numbers. */
  readonly texts?: readonly (string | undefined)[];
}

/** The columns of datapoints that are in order. */
export function toColumns(datapoints: readonly Datapoint[]): Columns {
  const count = datapoints.length;
  const times = new Float64Array(count);
  const received = new Float64Array(count);
  const timed = new Uint8Array(count);
  const numbers = new Float64Array(count);
  let texts: (string | undefined)[] | undefined;
  for (const [at, datapoint] of datapoints.entries()) {
    times[at] = orderTime(datapoint);
    received[at] = datapoint.receivedAt;
    timed[at] = datapoint.timestamp === undefined ? 0 : 1;
    if (typeof datapoint.value === 'number') {
      numbers[at] = datapoint.value;
    } else {
      texts ??= new Array<string | undefined>(count).fill(undefined);
      texts[at] = JSON.stringify(datapoint.value);
    }
  }
  return { count, times, received, timed, numbers, ...(texts === undefined ? {} : { texts }) };
}

/** The datapoint in one row of the columns. */
export function datapointAt(columns: Columns, at: number): Datapoint {
  const text = columns.texts?.[at];
  const value = text === undefined ? (columns.numbers[at] ?? 0) : parseJson(text);
  const receivedAt = columns.received[at] ?? 0;
  if (columns.timed[at] === 0) return { value, receivedAt };
  return { value, timestamp: columns.times[at] ?? 0, receivedAt };
}

/** The value in one row as JSON text; equal values have equal texts. */
export function valueTextAt(columns: Columns, at: number): string {
  return columns.texts?.[at] ?? JSON.stringify(columns.numbers[at]);
}

/** The first row whose order time is `time` or later. */
export function rowFrom(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first row whose order time is after `time`. */
export function rowAfter(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
