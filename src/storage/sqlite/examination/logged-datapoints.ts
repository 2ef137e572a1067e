import type { DatabaseSync } from 'node:sqlite';
import type { Instant } from '../../../lib/clock.ts';
import { unlessDamaged } from '../../chunks/chunk-store.ts';
import { decodePushes, type LoggedPush } from '../../chunks/datapoint-log.ts';

const readLog = 'select pushes from datapoint_log order by seq';

/** Counts of the datapoints that the log holds of a sensor beyond its chunks. */
interface LoggedSeries {
  readonly before: Instant;
  /** How many datapoints were in chunks when the log was read. */
  readonly flushed: number;
  /** How many the sensor had, with those of the log. */
  next: number;
  /** How many of those that were in the log alone are older. */
  old: number;
}

/**
 * Counts what is older than its sensor keeps it and is in the log alone, for calls that each see
 * one commit. The log is read at the first call, a row at a time, and once more where a part of a
 * sensor went to chunks meanwhile: nothing is counted twice, and nothing is lost on its way.
 */
export function createLoggedCount(
  database: DatabaseSync,
  look: {
    /** How many datapoints of a series are in chunks. */
    readonly flushed: (series: number) => number;
    /** Older datapoints go; undefined: none do, or there is no such sensor. */
    readonly rawBefore: (series: number) => Instant | undefined;
  },
): (series: number) => number {
  const statement = database.prepare(readLog);
  statement.setReturnArrays(true);
  let known: ReadonlyMap<number, LoggedSeries | undefined> | undefined;

  function open(series: number): LoggedSeries | undefined {
    const before = look.rawBefore(series);
    if (before === undefined) return undefined;
    const flushed = look.flushed(series);
    return { before, flushed, next: flushed, old: 0 };
  }

  function read(): ReadonlyMap<number, LoggedSeries | undefined> {
    const all = new Map<number, LoggedSeries | undefined>();
    const rows = statement.iterate() as unknown as Iterable<readonly [Uint8Array]>;
    for (const [bytes] of rows) {
      for (const push of pushesOf(bytes)) {
        const { series } = push;
        if (!all.has(series)) all.set(series, open(series));
        const logged = all.get(series);
        if (logged !== undefined) add(logged, push);
      }
    }
    return all;
  }

  return (series) => {
    known ??= read();
    const flushed = look.flushed(series);
    let logged = known.get(series);
    if (logged !== undefined && logged.flushed < flushed && flushed < logged.next) {
      known = read();
      logged = known.get(series);
    }
    return logged === undefined || flushed >= logged.next ? 0 : logged.old;
  };
}

/** Adds what is neither in chunks nor in an earlier row; a row may repeat what came before. */
function add(logged: LoggedSeries, { sequenceNumber, batch }: LoggedPush): void {
  for (let row = Math.max(0, logged.next - sequenceNumber); row < batch.count; row += 1) {
    if ((batch.times[row] ?? 0) < logged.before) logged.old += 1;
  }
  logged.next = Math.max(logged.next, sequenceNumber + batch.count);
}

/** The pushes of a row; of one that is damaged none, as for the service. */
const pushesOf = (bytes: Uint8Array): readonly LoggedPush[] =>
  unlessDamaged(() => decodePushes(bytes)) ?? [];
