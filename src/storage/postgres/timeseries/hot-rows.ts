import { type ColumnBatch, sliceBatch } from '../../../domain/datapoints/column-batch.ts';
import { createColumnsBuilder } from '../../chunks/columns-builder.ts';
import { decodePushes, encodePushes, type LoggedPush } from '../../chunks/datapoint-log.ts';

/** A row of "hot", ready to be written. */
export interface HotRow {
  readonly bucket: number;
  readonly series: number;
  readonly ordinal: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
  readonly points: Uint8Array;
}

/** The fewest rows for batches that arrived one after the other, from this ordinal on. */
export function* toHotRows(
  { bucket, series }: Pick<HotRow, 'bucket' | 'series'>,
  ordinal: number,
  batches: readonly ColumnBatch[],
  datapointsMax: number,
): Generator<HotRow> {
  let pushes: LoggedPush[] = [];
  let first = ordinal;
  let count = 0;
  const row = (): HotRow => ({
    ...{ bucket, series, ordinal: first, count, points: encodePushes(pushes) },
    ...timesOf(pushes),
  });
  for (const batch of batches) {
    for (let from = 0; from < batch.count; ) {
      const to = Math.min(batch.count, from + datapointsMax - count);
      const slice = to - from === batch.count ? batch : sliceBatch(batch, from, to);
      pushes.push({ series, sequenceNumber: first + count, batch: slice });
      count += slice.count;
      from = to;
      if (count < datapointsMax) continue;
      yield row();
      [pushes, first, count] = [[], first + count, 0];
    }
  }
  if (count > 0) yield row();
}

function timesOf(pushes: readonly LoggedPush[]): Pick<HotRow, 'minTime' | 'maxTime'> {
  let [minTime, maxTime] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { batch } of pushes) {
    for (const time of batch.times) {
      if (time < minTime) minTime = time;
      if (time > maxTime) maxTime = time;
    }
  }
  return { minTime, maxTime };
}

/** The datapoints of a row. Throws DamagedBytesError. */
export function decodeHot(points: Uint8Array): ColumnBatch {
  return joinBatches(decodePushes(points).map(({ batch }) => batch));
}

/** Joins batches, one after the other. */
export function joinBatches(batches: readonly ColumnBatch[]): ColumnBatch {
  const [first] = batches;
  if (first !== undefined && batches.length === 1) return first;
  const rowsMax = batches.reduce((sum, { count }) => sum + count, 0);
  const room = { rowsMax, charactersMax: Number.POSITIVE_INFINITY, order: 'asc' } as const;
  const builder = createColumnsBuilder(room);
  for (const batch of batches) builder.putRows(batch, 0, batch.count);
  return builder.finish();
}
