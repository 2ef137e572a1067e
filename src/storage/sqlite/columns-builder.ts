import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import type { Columns } from './columns.ts';

/** Columns being put together from datapoints and from rows of other columns. */
export interface ColumnsBuilder {
  put(datapoint: Datapoint): void;
  putRow(columns: Columns, row: number): void;
  /** In the order they were put; where there is a text the number is NaN. */
  finish(): Columns;
}

/** A builder with room for this many rows and no more. */
export function createColumnsBuilder(rowsMax: number): ColumnsBuilder {
  const times = new Float64Array(rowsMax);
  const received = new Float64Array(rowsMax);
  const timed = new Uint8Array(rowsMax);
  const numbers = new Float64Array(rowsMax);
  let texts: (string | undefined)[] | undefined;
  let count = 0;

  function putText(text: string): void {
    texts ??= new Array<string | undefined>(rowsMax).fill(undefined);
    texts[count] = text;
    numbers[count] = Number.NaN;
  }
  return {
    put(datapoint) {
      times[count] = orderTime(datapoint);
      received[count] = datapoint.receivedAt;
      timed[count] = datapoint.timestamp === undefined ? 0 : 1;
      if (typeof datapoint.value === 'number') numbers[count] = datapoint.value;
      else putText(JSON.stringify(datapoint.value));
      count += 1;
    },
    putRow(columns, row) {
      times[count] = columns.times[row] ?? 0;
      received[count] = columns.received[row] ?? 0;
      timed[count] = columns.timed[row] ?? 0;
      const text = columns.texts?.[row];
      if (text === undefined) numbers[count] = columns.numbers[row] ?? 0;
      else putText(text);
      count += 1;
    },
    finish: () => ({
      count,
      times: times.subarray(0, count),
      received: received.subarray(0, count),
      timed: timed.subarray(0, count),
      numbers: numbers.subarray(0, count),
      ...(texts !== undefined && { texts }),
    }),
  };
}
