import type { DatabaseSync } from 'node:sqlite';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { decodePushes, type LoggedPush } from './datapoint-log.ts';
import { nextOrdinal, type Series, type SeriesTable } from './series.ts';
import type { Tails } from './tails.ts';

const readLog = 'select seq, pushes from datapoint_log order by seq';

/** Fills tails and last values with what the log holds beyond the chunks. */
export function replayLog(reader: DatabaseSync, table: SeriesTable, tails: Tails): void {
  const statement = reader.prepare(readLog);
  statement.setReturnArrays(true);
  const known = new Map<number, Series | undefined>();
  const rows = statement.iterate() as unknown as Iterable<readonly [number, Uint8Array]>;
  for (const [row, bytes] of rows) {
    for (const push of pushesOf(row, bytes)) {
      if (!known.has(push.series)) known.set(push.series, table.resolveNumber(push.series));
      const series = known.get(push.series);
      // Without a series, the sensor was removed and its datapoints with it.
      if (series === undefined) tails.passOver(push.datapoints, row);
      else replayPush(series, push, row, tails);
    }
  }
}

function replayPush(series: Series, push: LoggedPush, row: number, tails: Tails): void {
  const stored = nextOrdinal(series) - push.ordinal;
  if (stored < 0) {
    throw new UnusableStorageError(
      `the log of datapoints lacks ${-stored} of series ${series.number}: restore a backup`,
    );
  }
  const rest = push.datapoints.slice(stored);
  tails.passOver(push.datapoints.slice(0, stored), row);
  if (rest.length === 0) return;
  tails.add(series, rest, row);
  for (const { timestamp } of rest) {
    if (timestamp !== undefined && timestamp > series.newestTimestamp) {
      series.newestTimestamp = timestamp;
    }
  }
  // A last value that is in chunks already was written down when it went there.
  if (push.last !== undefined && push.last >= stored) series.last = push.datapoints[push.last];
}

function pushesOf(row: number, bytes: Uint8Array): LoggedPush[] {
  try {
    return decodePushes(bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UnusableStorageError(
      `row ${row} of the log of datapoints cannot be read (${reason}): restore a backup`,
      cause,
    );
  }
}
