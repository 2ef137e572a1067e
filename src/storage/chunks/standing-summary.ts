import type { SummarisedStep, SummariseOptions } from '../../domain/datapoints/datapoint-store.ts';
import {
  type HourlyRead,
  summariseWithHours,
} from '../../domain/datapoints/retention/summarise-with-hours.ts';
import type { PageSource } from './datapoint-page.ts';
import { summarisePage } from './datapoint-summary.ts';

/** Reads one step of a summarised page, with hours where retention took datapoints. */
export function summariseStanding(
  source: PageSource,
  options: SummariseOptions,
  { state, hours }: Pick<HourlyRead, 'state' | 'hours'>,
): SummarisedStep {
  return summariseWithHours({
    ...{ page: source.page, state, hours },
    raw: (page, mayStand) =>
      summarisePage(
        { ...source, page },
        mayStand ? options : { ...options, mayStand: () => false },
      ),
  });
}
