import type { DatabaseSync } from 'node:sqlite';
import { decodePushes, type LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DamagedRows } from '../../faults.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import { createMemtable, type Memtable } from './memtable.ts';
import { createSeriesTable, type SeriesTable } from './series.ts';

const readLog = 'select seq, pushes from datapoint_log order by seq';
const findFlushed = `
  select last_values.series, sealed
  from json_each(?) as given cross join last_values on last_values.series = given.value`;

/** A log row that cannot be read. */
export interface UnreadableLogRow {
  readonly seq: number;
  readonly reason: string;
}

/** Series in memory, and their datapoints outside chunks: either makes what the other asks for. */
export function createMemory(reader: DatabaseSync, limits: DatapointLimits, damaged: DamagedRows) {
  const table: SeriesTable = createSeriesTable(reader, limits, damaged, (series) =>
    memtable.unpack(series),
  );
  const memtable: Memtable = createMemtable(limits, { find: table.resolveNumber, damaged });
  return { table, memtable };
}

/**
 * Fills the memtable with what the log holds beyond the chunks. Answers the rows that cannot be
 * read; the others count on without them.
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
  const unreadable: UnreadableLogRow[] = [];
  const rows = statement.iterate() as unknown as Iterable<readonly [number, Uint8Array]>;
  for (const [row, bytes] of rows) {
    for (const push of pushesOf(row, bytes)) memtable.pack(push, row);
  }
  const flushed = reader.prepare(findFlushed);
  flushed.setReturnArrays(true);
  const numbers = JSON.stringify(memtable.live.packed());
  const found = flushed.iterate(numbers) as unknown as Iterable<readonly [number, number]>;
  // Some of these is in chunks, and need not stay packed.
  for (const [number, count] of found) {
    if (memtable.live.isPackedBefore(number, count)) table.resolveNumber(number);
  }
  memtable.live.sort();
  memtable.live.repack();
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
}
