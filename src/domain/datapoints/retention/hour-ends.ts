import type { Instant } from '../../../lib/clock.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import type { Datapoint } from '../datapoint.ts';
import { type DatapointColumns, toDatapointColumns } from '../datapoint-columns.ts';
import type { DatapointStore, Page } from '../datapoint-store.ts';
import type { Source } from '../sensor-selection.ts';
import { calibratedRun } from '../standing.ts';
import type { Stretches } from '../stretches.ts';
import { hourMs } from './retention.ts';

const hoursPerStep = 2_048;

/**
 * For plots: the least and the greatest number of each hour of which retention took the datapoints,
 * at its beginning, in the order of the page. None for a page that ends after so many datapoints.
 */
export async function readHourEnds(options: {
  readonly datapoints: Pick<DatapointStore, 'standsFrom' | 'hours'>;
  readonly source: Source;
  readonly page: Page;
  readonly query: { readonly isCalibrated: boolean };
  readonly pace: Pace;
}): Promise<DatapointColumns> {
  const { datapoints, source, page, query, pace } = options;
  const ends: Datapoint[] = [];
  const calibration = query.isCalibrated ? source.sensor.calibration : undefined;
  const isWhole = page.skip === 0 && page.limit === Number.POSITIVE_INFINITY;
  const stands = isWhole ? await datapoints.standsFrom([source.ref], page) : undefined;
  const to = Math.min(page.to ?? Number.POSITIVE_INFINITY, (stands ?? 0) - 1);
  for (let from = page.from ?? Number.NEGATIVE_INFINITY; stands !== undefined && from <= to; ) {
    const hours = await datapoints.hours(source.ref, { from, to }, hoursPerStep);
    const { stretches } = calibratedRun(
      { stretches: hours, from: 0, to: hours.count },
      calibration,
    );
    for (let at = 0; at < hours.count; at += 1) ends.push(...endsOf(stretches, at));
    if (hours.count < hoursPerStep) break;
    from = (hours.starts[hours.count - 1] ?? 0) + hourMs;
    if (pace.isOver()) await pace.rest();
  }
  if (page.order === 'desc') ends.reverse();
  return toDatapointColumns(ends);
}

function endsOf(hours: Stretches, at: number): readonly Datapoint[] {
  if ((hours.numbers[at] ?? 0) + (hours.textNumbers[at] ?? 0) === 0) return [];
  const [min, max] = [hours.min[at] ?? 0, hours.max[at] ?? 0];
  const begin: Instant = hours.starts[at] ?? 0;
  const values = min === max ? [min] : [min, max];
  if ((hours.first[at] ?? 0) > (hours.last[at] ?? 0)) values.reverse();
  return values.map((value) => ({ value, timestamp: begin, receivedAt: begin }));
}
