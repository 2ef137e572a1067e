import { type ColumnBatch, valueTextAt } from '../../../domain/datapoints/column-batch.ts';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Instant } from '../../../lib/clock.ts';
import { type Columns, rowAfter, rowFrom } from '../../chunks/columns.ts';
import type { SqlSession } from '../../sql/session.ts';
import type { SeriesParts } from './series-parts.ts';
import type { ViewSeries } from './series-view.ts';

interface Suspect {
  readonly row: number;
  readonly time: Instant;
}

/**
 * The rows of a batch whose timestamps and values are stored already, or staged before it in the
 * same commit. Only those are looked for that may be: a timestamp beyond the newest is new, and one
 * beyond the newest that is stored was staged at most.
 */
export async function findRepeats(options: {
  readonly session: SqlSession;
  readonly view: ViewSeries;
  readonly sensor: SensorRef;
  readonly newest: Instant;
  readonly newestStored: Instant;
  readonly staged: readonly ColumnBatch[];
  readonly batch: ColumnBatch;
  /** Stored parts in the range of all datapoints that may be there; absent: the store is asked. */
  readonly parts: SeriesParts | undefined;
}): Promise<ReadonlySet<number>> {
  const { session, view, sensor, newest, newestStored, staged, batch, parts } = options;
  const suspects: Suspect[] = [];
  for (let row = 0; row < batch.count; row += 1) {
    const time = batch.times[row] ?? 0;
    if (batch.timed[row] === 1 && time <= newest) suspects.push({ row, time });
  }
  const found = new Set<number>();
  if (suspects.length === 0) return found;
  const stored = suspects.filter(({ time }) => time <= newestStored);
  if (stored.length > 0) {
    stored.sort((a, b) => a.time - b.time);
    const range = { from: stored[0]?.time ?? 0, to: stored.at(-1)?.time ?? 0 };
    await view(session, sensor, { ...range, parts }, (seen) => {
      const lookup = seen.chunks.createLookup(seen.series);
      for (const { row, time } of stored) {
        const text = valueTextAt(batch, row);
        if (hasValue(seen.unflushed, time, text) || lookup.valuesAt(time).has(text)) found.add(row);
      }
    });
  }
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
