import type { Clock, Instant } from '../../../lib/clock.ts';
import type { JsonValue } from '../../../lib/json.ts';
import { sameJson } from '../../../lib/long-json.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import { limits } from '../../limits.ts';
import { readColumnSteps } from '../column-steps.ts';
import { type Datapoint, orderTime, type SensorRef } from '../datapoint.ts';
import { type DatapointColumns, datapointsOf } from '../datapoint-columns.ts';
import type { DatapointStore, Range } from '../datapoint-store.ts';
import { type CorrectedItem, itemKey, itemKeyOf, type Reach } from './correction.ts';

/** Datapoints that a correction would touch. */
export interface Touched {
  readonly count: number;
  readonly from: Instant;
  readonly to: Instant;
  readonly reach: Reach;
}

/** Range of a search: what is shown of a sensor, received until `until`. */
export interface Search {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly sensor: SensorRef;
  /** Time of receipt that all pushes from now on are later than. */
  readonly until: Instant;
  readonly clock: Clock;
  readonly pace: Pace;
}

/** The datapoints in the range, or those of them that show the value; undefined: none. */
export async function findInRange(
  search: Search,
  range: Range,
  value: JsonValue | undefined,
): Promise<Touched | undefined> {
  const tally = createTally(search);
  for await (const columns of stepsOf(search, range, limits.datapointsPerScan)) {
    for (const datapoint of datapointsOf(columns)) {
      if (value === undefined || sameJson(value, datapoint.value)) tally.add(datapoint);
    }
  }
  return tally.finish();
}

/** The datapoints that the items are about, and the keys of the items that found any. */
export async function findItems(
  search: Search,
  items: readonly CorrectedItem[],
): Promise<{ readonly touched: Touched | undefined; readonly found: ReadonlySet<string> }> {
  const wanted = new Set(items.map(({ time, isTimed }) => itemKey(time, isTimed)));
  const tally = createTally(search);
  const found = new Set<string>();
  for (const time of new Set(items.map((item) => item.time))) {
    for await (const columns of stepsOf(search, { from: time, to: time }, rowsAtOneTime)) {
      for (const datapoint of datapointsOf(columns)) {
        const key = itemKeyOf(datapoint);
        if (wanted.has(key) && tally.add(datapoint)) found.add(key);
      }
    }
    if (search.pace.isOver()) await search.pace.rest();
  }
  return { touched: tally.finish(), found };
}

const rowsAtOneTime = 64;

/** Counts those that were there before the search began. */
function createTally({ until, clock }: Search) {
  let count = 0;
  let [from, to] = [Infinity, -Infinity];
  let [aheadFirst, aheadLast] = [Infinity, -Infinity];
  return {
    /** False: it came while the search was under way. */
    add(datapoint: Datapoint): boolean {
      const { receivedAt } = datapoint;
      if (receivedAt > until) {
        if (receivedAt <= clock.now()) return false;
        // Our clock was ahead of what it says now, or it would not be there.
        aheadFirst = Math.min(aheadFirst, receivedAt);
        aheadLast = Math.max(aheadLast, receivedAt);
      }
      const time = orderTime(datapoint);
      count += 1;
      from = Math.min(from, time);
      to = Math.max(to, time);
      return true;
    },
    finish(): Touched | undefined {
      if (count === 0) return undefined;
      const ahead = [aheadFirst, aheadLast] as const;
      const reach = aheadFirst === Infinity ? { until } : { until, ahead };
      return { count, from, to, reach };
    },
  };
}

const stepsOf = (
  { datapoints, sensor: ref, pace }: Search,
  range: Range,
  rowsMax: number,
): AsyncIterable<DatapointColumns> =>
  readColumnSteps({
    ...{ datapoints, ref, pace },
    page: { ...range, order: 'asc', skip: 0, limit: Number.POSITIVE_INFINITY },
    room: { rowsMax, charactersMax: limits.datapointCharactersPerStep },
  });
