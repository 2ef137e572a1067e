import { type ColumnBatch, valueTextAt } from '../../../domain/datapoints/column-batch.ts';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Instant } from '../../../lib/clock.ts';
import { type Columns, rowAfter, rowFrom } from '../../chunks/columns.ts';
import type { Session } from '../connection.ts';
import type { ViewSeries } from './series-view.ts';

interface Suspect {
  readonly row: number;
  readonly time: Instant;
}

/**
 * The rows of a batch whose timestamps and values are stored already, or staged before it in the
 * same commit. Only those are looked for that may be: a timestamp beyond the newest is new. Throws
 * ShardAwayError.
 */
export async function findRepeats(options: {
  readonly session: Session;
  readonly view: ViewSeries;
  readonly sensor: SensorRef;
  readonly newest: Instant;
  readonly staged: readonly ColumnBatch[];
  readonly batch: ColumnBatch;
}): Promise<ReadonlySet<number>> {
  const { session, view, sensor, newest, staged, batch } = options;
  const suspects: Suspect[] = [];
  for (let row = 0; row < batch.count; row += 1) {
    const time = batch.times[row] ?? 0;
    if (batch.timed[row] === 1 && time <= newest) suspects.push({ row, time });
  }
  const found = new Set<number>();
  if (suspects.length === 0) return found;
  suspects.sort((a, b) => a.time - b.time);
  const times = { from: suspects[0]?.time ?? 0, to: suspects.at(-1)?.time ?? 0 };
  const range = { ...times, isUrgent: true };
  await view(session, sensor, range, ({ chunks, series, unflushed }) => {
    const stored = chunks.createLookup(series);
    for (const { row, time } of suspects) {
      const text = valueTextAt(batch, row);
      if (hasValue(unflushed, time, text) || stored.valuesAt(time).has(text)) found.add(row);
    }
  });
  const before = keysOf(staged);
  for (const { row, time } of suspects) {
    if (before.has(`${time} ${valueTextAt(batch, row)}`)) found.add(row);
  }
  return found;
}

function hasValue(columns: Columns, time: Instant, text: string): boolean {
  const end = rowAfter(columns.times, time);
  for (let row = rowFrom(columns.times, time); row < end; row += 1) {
    if (columns.timed[row] === 1 && valueTextAt(columns, row) === text) return true;
  }
  return false;
}

function keysOf(batches: readonly ColumnBatch[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const batch of batches) {
    for (let row = 0; row < batch.count; row += 1) {
      if (batch.timed[row] === 1) keys.add(`${batch.times[row]} ${valueTextAt(batch, row)}`);
    }
  }
  return keys;
}
