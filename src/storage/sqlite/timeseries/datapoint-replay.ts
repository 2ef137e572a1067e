import type { DatabaseSync } from 'node:sqlite';
import { sliceBatch } from '../../../domain/datapoints/column-batch.ts';
import { decodePushes, type LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DamagedRows } from '../../faults.ts';
import type { Memtable } from './memtable.ts';
import { joinPush } from './packed-series.ts';
import { nextSequenceNumber, type Series, type SeriesTable } from './series.ts';

const readLog = 'select seq, pushes from datapoint_log order by seq';
const readFlushed = `
  select series, coalesce(sealed, 0)
  from json_each(?) as given cross join sensors on series = given.value
    left join last_values using (series)`;

/** A log row that cannot be read. */
export interface UnreadableLogRow {
  readonly seq: number;
  readonly reason: string;
}

/**
 * Fills the memtable with what the log holds beyond the chunks: packed, until somebody asks for the
 * series. Answers the rows that cannot be read; the others count on without them.
 */
export function replayLog(parts: {
  readonly reader: DatabaseSync;
  readonly table: SeriesTable;
  readonly memtable: Memtable;
  readonly damaged: DamagedRows;
}): readonly UnreadableLogRow[] {
  const { reader, table, memtable, damaged } = parts;
  const statement = reader.prepare(readLog);
  const flushed = reader.prepare(readFlushed);
  for (const one of [statement, flushed]) one.setReturnArrays(true);
  /** How many datapoints a packed series has, a series that is not packed; undefined: removed. */
  const known = new Map<number, number | Series | undefined>();
  const unreadable: UnreadableLogRow[] = [];
  const rows = statement.iterate() as unknown as Iterable<readonly [number, Uint8Array]>;
  for (const [row, bytes] of rows) {
    const pushes = pushesOf(row, bytes);
    meet(pushes);
    for (const push of pushes) replay(push, row);
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

  /** Learns with one query how much is in chunks of all series that it does not know. */
  function meet(pushes: readonly LoggedPush[]): void {
    const unknown = pushes.map(({ series }) => series).filter((series) => !known.has(series));
    if (unknown.length === 0) return;
    for (const series of unknown) known.set(series, undefined);
    const found = flushed.all(JSON.stringify(unknown)) as unknown as [number, number][];
    for (const [series, count] of found) known.set(series, count);
  }

  function replay(push: LoggedPush, row: number): void {
    const { series, sequenceNumber, batch } = push;
    const found = known.get(series);
    if (found === undefined) {
      // Without a series, the sensor was removed and its datapoints with it.
      memtable.passOver(batch, row);
    } else if (typeof found !== 'number') {
      replayPush(found, push, row);
    } else if (found >= sequenceNumber + batch.count) {
      memtable.passOver(batch, row);
    } else if (found === sequenceNumber && memtable.pack(push, row)) {
      known.set(series, found + batch.count);
    } else {
      const made = table.resolveNumber(series);
      known.set(series, made);
      if (made === undefined) memtable.passOver(batch, row);
      else replayPush(made, push, row);
    }
  }

  function replayPush(series: Series, push: LoggedPush, row: number): void {
    const missing = push.sequenceNumber - nextSequenceNumber(series);
    if (missing > 0) {
      // The missing datapoints were in an unreadable row: those that follow keep their numbers.
      series.flushed += missing;
      if (series.lastAt !== undefined) series.lastAt += missing;
      damaged.note('datapoint_log', `series ${series.number}`, `${missing} datapoints are missing`);
    }
    const passed = joinPush(series, push, (rest) => memtable.add(series, rest, row));
    if (passed > 0) memtable.passOver(sliceBatch(push.batch, 0, passed), row);
  }
}
