import { type ColumnBatch, selectRows } from '../../domain/datapoints/column-batch.ts';

export {
  datapointAt,
  toColumnBatch as toColumns,
  valueTextAt,
} from '../../domain/datapoints/column-batch.ts';
export { rowAfter, rowFrom } from '../../lib/ascending.ts';

/** Datapoints of one sensor by column, in order of time; those of one time in order of arrival. */
export interface Columns extends ColumnBatch {}

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
