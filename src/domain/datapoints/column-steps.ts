import type { Instant } from '../../lib/clock.ts';
import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import { type Steps, stepsOf } from '../../lib/steps.ts';
import type { Calibration } from '../devices/calibration.ts';
import { limits } from '../limits.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import {
  calibratedColumns,
  type DatapointColumns,
  datapointsOf,
  timeIn,
} from './datapoint-columns.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';

/** Limits of what is read of a sensor at once. */
export interface StepBudget {
  readonly rowsMax: number;
  readonly charactersMax: number;
}

/** Limits of a step that is answered as it is. */
const answerStep: StepBudget = {
  rowsMax: limits.datapointsPerStep,
  charactersMax: limits.datapointCharactersPerStep,
};

/**
 * Reads a page in steps of bounded size, between which other work has its slice. Each step begins
 * at the order time where the last one ended and skips what was seen there, so datapoints that
 * arrive meanwhile neither repeat nor hide any.
 */
export function readColumnSteps(options: {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly ref: SensorRef;
  readonly page: Page;
  /** Absent: values as they were pushed. */
  readonly calibration?: Calibration | undefined;
  readonly pace: Pace;
  readonly room?: StepBudget;
}): Steps<DatapointColumns> {
  const { datapoints, ref, calibration, pace, room = answerStep } = options;
  let { page } = options;
  let remaining = page.limit;
  let hasBegun = false;
  return stepsOf(async () => {
    if (remaining <= 0) return undefined;
    // The store answers from memory and from a mapped file: without this no other work has a slice.
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

/** All datapoints of a page: for pages that are known to be small. */
export async function readDatapoints(
  datapoints: Pick<DatapointStore, 'scan'>,
  ref: SensorRef,
  page: Page,
): Promise<readonly Datapoint[]> {
  const found: Datapoint[][] = [];
  for await (const columns of readColumnSteps({ datapoints, ref, page, pace: ownPace() })) {
    found.push(datapointsOf(columns));
  }
  return found.flat();
}

/**
 * The rest of the page after a step of `count` datapoints, at least one: from where it ended,
 * without what was seen at that order time.
 */
export function following(page: Page, count: number, timeAt: (index: number) => Instant): Page {
  const end = timeAt(count - 1);
  let skip = 1;
  while (skip < count && timeAt(count - 1 - skip) === end) skip += 1;
  // A whole step at one order time: some of those skipped may have it, too, so only the skip grows.
  if (skip === count) return { ...page, skip: page.skip + count };
  return page.order === 'asc' ? { ...page, from: end, skip } : { ...page, to: end, skip };
}
