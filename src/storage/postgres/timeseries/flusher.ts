import type { ColumnBatch } from '../../../domain/datapoints/column-batch.ts';
import type { Log } from '../../../lib/log.ts';
import { placeInChunks } from '../../chunks/chunk-placing.ts';
import { sortByTime } from '../../chunks/columns.ts';
import { runAwaiting } from '../../chunks/engine-work.ts';
import type { DamagedRows } from '../../faults.ts';
import { createRestTimer, pauseAfter } from '../../flush-timing.ts';
import type { WriteSession } from '../writer.ts';
import { chunksOf, type SeriesKey } from './chunk-table.ts';
import type { HotLimits } from './hot-limits.ts';
import { decodeHot, joinBatches } from './hot-rows.ts';

/** Datapoints of a sensor that are outside chunks. */
export interface HotCount extends SeriesKey {
  readonly rows: number;
  readonly count: number;
}

interface Known {
  readonly bucket: number;
  rows: number;
  count: number;
}

/**
 * Moves datapoints from "hot" to chunks, a commit at a time, whenever there are too many.
 * `carryOut` moves some of a sensor's datapoints and answers what is left of them.
 */
export function createFlusher(options: {
  readonly carryOut: (key: SeriesKey) => Promise<{ readonly rows: number; readonly count: number }>;
  readonly limits: HotLimits;
  readonly log: Log;
}) {
  const { carryOut, limits, log } = options;
  const all = new Map<number, Known>();
  const due = new Set<number>();
  const total = { rows: 0, count: 0 };
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  const retry = { minMs: limits.retryMsMin, maxMs: limits.retryMsMax, signal: closing.signal };

  function change(series: number, known: Known, rows: number, count: number): void {
    total.rows += rows;
    total.count += count;
    known.rows += rows;
    known.count += count;
    if (known.rows <= 0) all.delete(series);
    else all.set(series, known);
  }

  const isDue = ({ rows, count }: Known): boolean =>
    rows >= limits.flushRowsMin || count >= limits.flushDatapointsMin;

  function pick(): number | undefined {
    const [first] = due;
    if (first !== undefined) return first;
    if (total.rows <= limits.hotRowsMax && total.count <= limits.hotDatapointsMax) return undefined;
    // The one that was written longest ago: whatever is flushed goes to the end again.
    const [oldest] = all.keys();
    return oldest;
  }

  async function run(): Promise<void> {
    let failures = 0;
    for (let series = pick(); series !== undefined; series = pick()) {
      if (closing.signal.aborted) return;
      due.delete(series);
      const known = all.get(series);
      if (known === undefined) continue;
      try {
        const before = { rows: known.rows, count: known.count };
        const left = await carryOut({ bucket: known.bucket, series });
        failures = 0;
        all.delete(series);
        // Datapoints that arrived meanwhile are counted already.
        change(series, known, left.rows - before.rows, left.count - before.count);
        if (isDue(known)) due.add(series);
      } catch (error) {
        failures += 1;
        due.add(series);
        if (failures === 1) log.error({ err: error }, 'datapoints cannot be moved to chunks');
        await pauseAfter(failures, retry);
      }
    }
  }

  function start(): void {
    if (running !== undefined || closing.signal.aborted || pick() === undefined) return;
    running = run().finally(() => {
      running = undefined;
      start();
    });
  }

  const rest = createRestTimer(limits.restMs, () => {
    for (const [series, { count }] of all) if (count >= limits.restDatapointsMin) due.add(series);
    start();
  });

  return {
    /** Counts datapoints that are outside chunks now, beside those of before. */
    add(counts: Iterable<HotCount>): void {
      for (const { bucket, series, rows, count } of counts) {
        const known = all.get(series) ?? { bucket, rows: 0, count: 0 };
        change(series, known, rows, count);
        if (isDue(known)) due.add(series);
      }
      if (!closing.signal.aborted) rest.restart();
      start();
    },
    /** Asks for all datapoints of this sensor outside chunks to go into chunks, soon. */
    want(series: number): void {
      if (all.has(series)) due.add(series);
      start();
    },
    /** Resolves when no step is under way; nothing starts after this. */
    async close(): Promise<void> {
      rest.stop();
      closing.abort();
      await running;
    },
  };
}

export type Flusher = ReturnType<typeof createFlusher>;

const isOf = 'bucket = $1 and series = $2';
// As many as one commit moves, and at least one; each with how many there are in all.
const selectHot = `
  select ordinal, count, points, "allRows", "allCount" from (
    select ordinal, count, points, sum(count) over (order by ordinal) - count as before,
      count(*) over () as "allRows", sum(count) over () as "allCount"
    from hot where ${isOf}) as rows
  where before < $3 order by ordinal`;
const deleteHot = `delete from hot where ${isOf} and ordinal <= $3`;
const setSealed = `update sensors set sealed = greatest(sealed, $3) where ${isOf}`;
const setAside = `
  insert into damaged_points (bucket, series, kind, id, min_time, max_time, count, points)
  select bucket, series, 'hot', ordinal, min_time, max_time, count, points from hot
  where ${isOf} and ordinal = $3`;

/** Said of chunks in damaged_points. */
export const asideSentence = 'a chunk cannot be read and was set aside';

/** Moves the oldest datapoints of a sensor from "hot" to chunks; answers what is left in "hot". */
export async function flushSeries(
  session: WriteSession,
  key: SeriesKey,
  { limits, damaged }: { readonly limits: HotLimits; readonly damaged: DamagedRows },
): Promise<{ readonly rows: number; readonly count: number }> {
  const { bucket, series } = key;
  const rows = await session.all<{
    readonly ordinal: number;
    readonly count: number;
    readonly points: Uint8Array;
    readonly allRows: number;
    readonly allCount: number;
  }>(selectHot, bucket, series, limits.flushDatapointsPerStep);
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
