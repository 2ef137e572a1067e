import type { Pace } from '../../lib/fair-turns.ts';
import type { Calibration } from '../devices/calibration.ts';
import type { SensorRef } from './datapoint.ts';
import { calibratedColumns, type DatapointColumns, timeIn } from './datapoint-columns.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';
import { following } from './pages.ts';

/**
 * Reads a page column by column, as readSteps reads it datapoint by datapoint: steps of bounded
 * size, between which others have their turn.
 */
export async function* readColumnSteps(options: {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly ref: SensorRef;
  readonly page: Page;
  /** Absent: values as they were pushed. */
  readonly calibration: Calibration | undefined;
  readonly pace: Pace;
  readonly room: { readonly rowsMax: number; readonly charactersMax: number };
}): AsyncGenerator<DatapointColumns, undefined> {
  const { datapoints, ref, calibration, pace, room } = options;
  let { page } = options;
  let remaining = page.limit;
  while (remaining > 0) {
    const limit = Math.min(remaining, room.rowsMax);
    const { columns: step, isCut } = await datapoints.scan(
      ref,
      { ...page, limit },
      room.charactersMax,
    );
    if (step.count > 0) yield calibratedColumns(step, calibration);
    if (step.count === 0 || (step.count < limit && !isCut)) return;
    remaining -= step.count;
    page = following(page, step.count, (index) => timeIn(step, index));
    if (pace.isOver()) await pace.rest();
  }
}
