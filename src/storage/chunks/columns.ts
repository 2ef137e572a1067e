import type { ColumnBatch } from '../../domain/datapoints/column-batch.ts';

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
