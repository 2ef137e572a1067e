import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { type Steps, stepsOf } from '../../lib/steps.ts';
import type { Calibration } from '../devices/calibration.ts';
import type { SensorRef } from './datapoint.ts';
import { calibratedColumns, type DatapointColumns, timeIn } from './datapoint-columns.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';
import { following } from './pages.ts';

/**
 * Reads a page column by column, as readSteps reads it datapoint by datapoint: steps of bounded
 * size, between which other work has its slice.
 */
export function readColumnSteps(options: {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly ref: SensorRef;
  readonly page: Page;
  /** Absent: values as they were pushed. */
  readonly calibration: Calibration | undefined;
  readonly pace: Pace;
  readonly room: { readonly rowsMax: number; readonly charactersMax: number };
}): Steps<DatapointColumns> {
  const { datapoints, ref, calibration, pace, room } = options;
  let { page } = options;
  let remaining = page.limit;
  let hasBegun = false;
  return stepsOf(async () => {
    if (remaining <= 0) return undefined;
    if (hasBegun && pace.isOver()) await pace.rest();
    hasBegun = true;
    const limit = Math.min(remaining, room.rowsMax);
    const { columns: step, isCut } = await datapoints.scan(
      ref,
      { ...page, limit },
      room.charactersMax,
    );
    remaining = step.count < limit && !isCut ? 0 : remaining - step.count;
    if (step.count === 0) return undefined;
    page = following(page, step.count, (index) => timeIn(step, index));
    return calibratedColumns(step, calibration);
  });
}
