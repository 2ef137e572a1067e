import { latestInstant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import type { SensorRef } from './datapoint.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';

/**
 * The same page of the datapoints of several sensors in the order of time, from a later time on:
 * what comes before that is counted instead of read, so that the page skips at most `skipMax`
 * datapoints, or those of one millisecond. To halve the time that is left takes a count of each
 * sensor.
 */
export async function pageBehindSkipped(options: {
  readonly datapoints: Pick<DatapointStore, 'count'>;
  readonly sensors: readonly SensorRef[];
  readonly page: Page;
  readonly skipMax: number;
  readonly pace: Pace;
}): Promise<Page> {
  const { datapoints, sensors, page, skipMax, pace } = options;
  const [near, far, sign] =
    page.order === 'asc' ? (['from', 'to', 1] as const) : (['to', 'from', -1] as const);
  let { skip } = page;
  // Times in the order of the page: the datapoints from `begin` to before `end` are more than skip.
  let begin = sign * (page[near] ?? -sign * latestInstant);
  let end = sign * (page[far] ?? sign * latestInstant) + 1;

  async function countBefore(middle: number): Promise<number> {
    let sum = 0;
    for (const sensor of sensors) {
      sum += await datapoints.count(sensor, {
        [near]: sign * begin,
        [far]: sign * (middle - 1),
      });
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
