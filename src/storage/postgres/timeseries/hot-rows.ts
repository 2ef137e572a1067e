import { type ColumnBatch, sliceBatch } from '../../../domain/datapoints/column-batch.ts';
import { createColumnsBuilder } from '../../chunks/columns-builder.ts';
import { decodePushes, encodePushes } from '../../chunks/datapoint-log.ts';

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

/** The rows for datapoints that arrived one after the other; the first one has this ordinal. */
export function* toHotRows(
  { bucket, series }: Pick<HotRow, 'bucket' | 'series'>,
  ordinal: number,
  batch: ColumnBatch,
  datapointsMax: number,
): Generator<HotRow> {
  for (let from = 0; from < batch.count; from += datapointsMax) {
    const slice = sliceBatch(batch, from, Math.min(batch.count, from + datapointsMax));
    let [minTime, maxTime] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const time of slice.times) {
      if (time < minTime) minTime = time;
      if (time > maxTime) maxTime = time;
    }
    const sequenceNumber = ordinal + from;
    const points = encodePushes([{ series, sequenceNumber, batch: slice }]);
    yield { bucket, series, ordinal: sequenceNumber, minTime, maxTime, count: slice.count, points };
  }
}

/** The datapoints of a row. Throws DamagedBytesError. */
export function decodeHot(points: Uint8Array): ColumnBatch {
  return joinBatches(decodePushes(points).map(({ batch }) => batch));
}

/** One batch after the other. */
export function joinBatches(batches: readonly ColumnBatch[]): ColumnBatch {
  const [first] = batches;
  if (first !== undefined && batches.length === 1) return first;
  const rowsMax = batches.reduce((sum, { count }) => sum + count, 0);
  const room = { rowsMax, charactersMax: Number.POSITIVE_INFINITY, order: 'asc' } as const;
  const builder = createColumnsBuilder(room);
  for (const batch of batches) builder.putRows(batch, 0, batch.count);
  return builder.finish();
}
