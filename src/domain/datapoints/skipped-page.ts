import { latestInstant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { limits } from '../limits.ts';
import type { SensorRef } from './datapoint.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';

/** To count a sensor some fifty times costs about as much as to read so many of its datapoints. */
const rowsPerCounts = 200;

/**
 * The same page of the `total` datapoints of several sensors in the order of time, from a later
 * time on: what comes before that is counted instead of read, so that the page skips at most
 * `skipMax` datapoints, or those of one millisecond. To halve the time that is left takes a count
 * of each sensor.
 */
export async function pageBehindSkipped(options: {
  readonly store: Pick<DatapointStore, 'count'>;
  readonly sensors: readonly SensorRef[];
  readonly page: Page;
  readonly total: number;
  readonly pace: Pace;
  /** Absent: as many as cost less to read than to count. */
  readonly skipMax?: number;
}): Promise<Page> {
  const { store, sensors, page, total, pace } = options;
  const few = Math.max(limits.datapointsPerStep, rowsPerCounts * sensors.length);
  const { skipMax = few } = options;
  if (page.skip >= total) return { ...page, skip: 0, limit: 0 };
  const [near, far, sign] =
    page.order === 'asc' ? (['from', 'to', 1] as const) : (['to', 'from', -1] as const);
  let { skip } = page;
  // Times in the order of the page: the datapoints from `begin` to before `end` are more than skip.
  let begin = sign * (page[near] ?? -sign * latestInstant);
  let end = sign * (page[far] ?? sign * latestInstant) + 1;

  async function countBefore(middle: number): Promise<number> {
    let sum = 0;
    for (const sensor of sensors) {
      sum += await store.count(sensor, { [near]: sign * begin, [far]: sign * (middle - 1) });
      if (pace.isOver()) await pace.rest();
    }
    return sum;
  }

  while (skip > skipMax && end - begin > 1) {
    const middle = begin + Math.floor((end - begin) / 2);
    const count = await countBefore(middle);
    if (count > skip) {
      end = middle;
    } else {
      skip -= count;
      begin = middle;
    }
  }
  return skip === page.skip ? page : { ...page, [near]: sign * begin, skip };
}
