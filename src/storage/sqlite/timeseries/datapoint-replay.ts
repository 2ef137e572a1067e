import type { DatabaseSync } from 'node:sqlite';
import { lastRowAmong, sliceBatch } from '../../../domain/datapoints/column-batch.ts';
import { decodePushes, type LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DamagedRows } from '../../faults.ts';
import type { Memtable } from './memtable.ts';
import { hasLast, moveLast, nextSequenceNumber, type Series, type SeriesTable } from './series.ts';

const readLog = 'select seq, pushes from datapoint_log order by seq';

/** A log row that cannot be read. */
export interface UnreadableLogRow {
  readonly seq: number;
  readonly reason: string;
}

/**
 * Fills memtable and last values with what the log holds beyond the chunks. Answers the rows that
 * cannot be read; the others count on without them.
 */
export function replayLog(parts: {
  readonly reader: DatabaseSync;
  readonly table: SeriesTable;
  readonly memtable: Memtable;
  readonly damaged: DamagedRows;
}): readonly UnreadableLogRow[] {
  const { reader, table, memtable, damaged } = parts;
  const statement = reader.prepare(readLog);
  statement.setReturnArrays(true);
  const known = new Map<number, Series | undefined>();
  const unreadable: UnreadableLogRow[] = [];
  const rows = statement.iterate() as unknown as Iterable<readonly [number, Uint8Array]>;
  for (const [row, bytes] of rows) {
    for (const push of pushesOf(row, bytes)) {
      if (!known.has(push.series)) known.set(push.series, table.resolveNumber(push.series));
      const series = known.get(push.series);
      // Without a series, the sensor was removed and its datapoints with it.
      if (series === undefined) memtable.passOver(push.batch, row);
      else replayPush(series, push, row);
    }
  }
  return unreadable;

  function pushesOf(row: number, bytes: Uint8Array): readonly LoggedPush[] {
    try {
      return decodePushes(bytes);
    } catch (cause) {
      damaged.note('datapoint_log', row, cause);
      unreadable.push({ seq: row, reason: cause instanceof Error ? cause.message : String(cause) });
      return [];
    }
  }

  function replayPush(series: Series, push: LoggedPush, row: number): void {
    const stored = Math.max(0, nextSequenceNumber(series) - push.sequenceNumber);
    const missing = push.sequenceNumber - nextSequenceNumber(series);
    if (missing > 0) {
      // The missing datapoints were in an unreadable row: those that follow keep their numbers.
      series.flushed += missing;
      if (series.lastAt !== undefined) series.lastAt += missing;
      damaged.note('datapoint_log', `series ${series.number}`, `${missing} datapoints are missing`);
    }
    const { batch, last } = push;
    const known = Math.min(stored, batch.count);
    if (known > 0) memtable.passOver(sliceBatch(batch, 0, known), row);
    if (known === batch.count) return;
    const rest = sliceBatch(batch, known, batch.count);
    const firstNumber = nextSequenceNumber(series);
    memtable.add(series, rest, row);
    for (let at = 0; at < rest.count; at += 1) {
      const time = rest.times[at] ?? 0;
      if (rest.timed[at] === 1 && time > series.newestTimestamp) series.newestTimestamp = time;
    }
    if (last !== undefined && last >= known) moveLast(series, firstNumber + last - known);
    // A last value that is in chunks already was written down when it went there; without any, it
    // was in a row that cannot be read, and the newest of those that are left takes its place.
    else if (!hasLast(series)) moveLast(series, firstNumber + (lastRowAmong(rest) ?? 0));
  }
}
