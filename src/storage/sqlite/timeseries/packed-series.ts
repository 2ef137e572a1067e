import {
  type ColumnBatch,
  datapointAt,
  lastRowAmong,
  sliceBatch,
} from '../../../domain/datapoints/column-batch.ts';
import type { Instant } from '../../../lib/clock.ts';
import { type LoggedPush, packPush, unpackPush } from '../../chunks/datapoint-log.ts';
import { hasLast, isLarge, moveLast, nextSequenceNumber, type Series } from './series.ts';

/**
 * What the log held of a series at the start, as bytes, until somebody asks for the series: that
 * takes a third of the memory of a series, and no query.
 */
export interface PackedSeries {
  /** The log row of the first push. */
  readonly firstRow: number;
  /** How much the log had taken when it came. */
  readonly startedAt: number;
  /** The weight of the datapoints towards quotas. */
  weight: number;
  /** Bytes that they would take in memory. */
  bytes: number;
  /** Pushes as packPush writes them; one alone, as most have, without a list. */
  pushes: string | string[];
}

/** Adds a push, in the order of the log. */
export function addPush(packed: PackedSeries, push: LoggedPush): void {
  const text = packPush(push);
  packed.pushes = packed.pushes === '' ? text : [packed.pushes, text].flat();
}

/** The pushes, in the order of the log. */
export const pushesOf = ({ pushes }: PackedSeries): LoggedPush[] => [pushes].flat().map(unpackPush);

/**
 * The last value of a series of which some is packed; `inRow`: the one that its row has, which is
 * older. As `joinPush` moves it.
 */
export function lastOfPacked(packed: PackedSeries, inRow: Series['last']): Series['last'] {
  let found = inRow;
  for (const { batch, last } of pushesOf(packed)) {
    const row = last ?? (found === undefined ? lastRowAmong(batch) : undefined);
    if (row === undefined) continue;
    found = isLarge(batch.texts?.[row]) ? 'large' : datapointAt(batch, row);
  }
  return found;
}

/** When the oldest packed datapoint of a series is of. */
export const oldestPacked = (packed: PackedSeries): Instant =>
  Math.min(...pushesOf(packed).flatMap(({ batch }) => [...batch.times]));

/**
 * Gives `add` what a push of the log brings beyond the chunks and the pushes before it, none of
 * which may be missing, and moves the last value. Answers how many of its datapoints were known.
 */
export function joinPush(
  series: Series,
  { sequenceNumber, batch, last }: LoggedPush,
  add: (rest: ColumnBatch) => void,
): number {
  const firstNumber = nextSequenceNumber(series);
  const known = Math.min(Math.max(0, firstNumber - sequenceNumber), batch.count);
  if (known === batch.count) return known;
  const rest = sliceBatch(batch, known, batch.count);
  add(rest);
  for (let at = 0; at < rest.count; at += 1) {
    const time = rest.times[at] ?? 0;
    if (rest.timed[at] === 1 && time > series.newestTimestamp) series.newestTimestamp = time;
  }
  if (last !== undefined && last >= known) moveLast(series, firstNumber + last - known);
  // A last value that is in chunks already was written down when it went there; without any, it
  // was in a row that cannot be read, and the newest of those that are left takes its place.
  else if (!hasLast(series)) moveLast(series, firstNumber + (lastRowAmong(rest) ?? 0));
  return known;
}
