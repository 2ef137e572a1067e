import type { ColumnBatch } from '../../../domain/datapoints/column-batch.ts';
import { placeInChunks } from '../../chunks/chunk-placing.ts';
import { sortByTime } from '../../chunks/columns.ts';
import { runAwaiting } from '../../chunks/engine-work.ts';
import type { DamagedRows } from '../../damaged-rows.ts';
import type { WriteSession } from '../writer.ts';
import { chunksOf } from './chunk-table.ts';
import type { HotLimits } from './hot-limits.ts';
import { decodeHot, joinBatches } from './hot-rows.ts';
import type { SeriesKey } from './series-key.ts';

const isOf = 'bucket = $1 and series = $2';
// As many as one commit moves, and at least one; each with how many there are in all.
const selectHot = `
  select ordinal, count, points, "allRows", "allCount" from (
    select ordinal, count, points, sum(count) over (order by ordinal) - count as before,
      count(*) over () as "allRows", sum(count) over () as "allCount"
    from hot where ${isOf}) as rows
  where before < $3 order by ordinal`;
const deleteHot = `delete from hot where ${isOf} and ordinal <= $3`;
const setSealed =
  'update sensors set sealed = greatest(sealed, $3) where bucket = $1 and series = $2';
const setAside = `
  insert into damaged_points (bucket, series, kind, id, min_time, max_time, count, points)
  select bucket, series, 'hot', ordinal, min_time, max_time, count, points from hot
  where ${isOf} and ordinal = $3`;

/** Said of chunks in damaged_points. */
export const asideSentence = 'a chunk cannot be read and was set aside';

interface Row {
  readonly ordinal: number;
  readonly count: number;
  readonly points: Uint8Array;
  readonly allRows: number;
  readonly allCount: number;
}

/** Moves the oldest datapoints of a sensor from "hot" to chunks; answers what is left in "hot". */
export async function flushSeries(
  session: WriteSession,
  key: SeriesKey,
  { limits, damaged }: { readonly limits: HotLimits; readonly damaged: DamagedRows },
): Promise<{ readonly rows: number; readonly count: number }> {
  const { bucket, series } = key;
  const rows = await session.all<Row>(selectHot, bucket, series, limits.flushDatapointsPerStep);
  const last = rows.at(-1);
  if (last === undefined) return { rows: 0, count: 0 };
  const batches: ColumnBatch[] = [];
  for (const { ordinal, points } of rows) {
    const batch = damaged.read('hot', `${series} ${ordinal}`, () => decodeHot(points));
    if (batch === undefined) session.send(setAside, bucket, series, ordinal);
    else batches.push(batch);
  }
  const columns = sortByTime(joinBatches(batches));
  const chunks = chunksOf(session, key, limits);
  const unreadable = await runAwaiting(placeInChunks(chunks, columns));
  if (unreadable > 0) damaged.note('chunks', series, asideSentence);
  session.send(deleteHot, bucket, series, last.ordinal);
  session.send(setSealed, bucket, series, last.ordinal + last.count);
  const moved = rows.reduce((sum, { count }) => sum + count, 0);
  // Nothing arrives before this commit is made: all of them follow one another.
  return { rows: last.allRows - rows.length, count: last.allCount - moved };
}
