import { type ColumnBatch, selectRows } from '../../domain/datapoints/column-batch.ts';

export {
  datapointAt,
  toColumnBatch as toColumns,
  valueTextAt,
} from '../../domain/datapoints/column-batch.ts';

/** Datapoints of one sensor by column, in order of time; those of one time in order of arrival. */
export interface Columns extends ColumnBatch {}

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

/** Sorts by order time; those of the same time keep their order. */
export function sortByTime(batch: ColumnBatch): Columns {
  const { count, times } = batch;
  if (isAscending(times)) return batch;
  const rows: number[] = [];
  for (let row = 0; row < count; row += 1) rows.push(row);
  return selectRows(
    batch,
    rows.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0)),
  );
}

function isAscending(times: Float64Array): boolean {
  let before = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    if (time < before) return false;
    before = time;
  }
  return true;
}
