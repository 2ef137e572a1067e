import type { Instant } from '../../lib/clock.ts';
import type { Place } from '../../lib/page-cursor.ts';
import { type Steps, stepsOf } from '../../lib/steps.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { DeviceStore } from '../devices/device.ts';
import { limits } from '../limits.ts';
import type { CorrectionBook } from './corrections/correction-book.ts';
import { type Datapoint, orderTime, type SensorRef } from './datapoint.ts';
import { datapointsOf } from './datapoint-columns.ts';
import type { DatapointStore } from './datapoint-store.ts';
import { calibratedDatapoint, type HistoryQuery, viewableSensor } from './history.ts';

/** A page in the order of time, short enough for one step. */
export interface PageAfter {
  readonly total: number;
  readonly standsFrom: Instant | undefined;
  /** The page in one step. */
  readonly steps: AsyncIterable<readonly Datapoint[]>;
  /** Where the next page begins; absent: this is the last one. */
  readonly next?: Place;
}

/** Reads the page behind a place; absent: the first one [contract 15]. */
export type ReadAfter = (
  actor: Actor,
  sensor: SensorRef,
  query: HistoryQuery,
  after: Place | undefined,
) => Promise<PageAfter>;

/**
 * Places are counted among what was pushed, in the order of arrival within one time: neither late
 * values nor corrections move them, and retention takes whole days.
 */
export function createReadAfter(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly pushedDatapoints: DatapointStore;
  readonly book: Pick<CorrectionBook, 'overlayOf'>;
  readonly access: Access;
  readonly longWork: Pick<LongWork, 'paceOf'>;
}): ReadAfter {
  const { datapoints: shownStore, pushedDatapoints: pushed, book, longWork } = options;

  /** How many datapoints of its time the place is behind: none where retention took them. */
  async function passed(ref: SensorRef, { time, count }: Place): Promise<number> {
    return count === 0 ? 0 : Math.min(count, await pushed.count(ref, { from: time, to: time }));
  }

  async function readPushed(ref: SensorRef, query: HistoryQuery, after: Place | undefined) {
    const { from = Number.NEGATIVE_INFINITY, to } = query;
    const begin = after !== undefined && after.time >= from ? after : { time: from, count: 0 };
    const range = {
      ...(begin.time !== Number.NEGATIVE_INFINITY && { from: begin.time }),
      ...(to !== undefined && { to }),
    };
    const limit = Math.min(query.limit, limits.datapointsPerStep);
    for (;;) {
      const skip = await passed(ref, begin);
      const page = { ...range, order: 'asc', skip, limit: limit + 1 } as const;
      const part = await pushed.scan(ref, page, limits.datapointCharactersPerStep);
      // Retention may have come in between.
      if ((await passed(ref, begin)) !== skip) continue;
      const datapoints = datapointsOf(part.columns).slice(0, limit);
      const hasMore = part.isCut || part.columns.count > limit;
      return { datapoints, begin: { ...begin, count: skip }, hasMore };
    }
  }

  async function showing(ref: SensorRef, datapoints: readonly Datapoint[]) {
    const overlay = await book.overlayOf(ref);
    return datapoints.flatMap(({ correction: _, ...plain }) =>
      overlay === undefined ? plain : (overlay.show(plain) ?? []),
    );
  }

  return async (actor, ref, query, after) => {
    const sensor = await viewableSensor(options, actor, ref);
    const { isRaw = false, isCalibrated } = query;
    const store = isRaw ? pushed : shownStore;
    const pace = longWork.paceOf(actor);
    let shown: readonly Datapoint[] = [];
    let next = after;
    let hasMore = true;
    // A page of which corrections leave nothing would be taken for the end.
    while (hasMore && shown.length === 0) {
      const part = await readPushed(ref, query, next);
      hasMore = part.hasMore;
      next = placeBehind(part.datapoints, part.begin);
      shown = isRaw ? part.datapoints : await showing(ref, part.datapoints);
      if (pace.isOver()) await pace.rest();
    }
    return {
      total: await store.count(ref, query),
      standsFrom: await store.standsFrom([ref], query),
      steps: oneStep(isCalibrated ? shown.map((one) => calibratedDatapoint(sensor, one)) : shown),
      ...(hasMore && next !== undefined && { next }),
    };
  };
}

function oneStep(datapoints: readonly Datapoint[]): Steps<readonly Datapoint[]> {
  let waiting: readonly Datapoint[] | undefined = datapoints.length > 0 ? datapoints : undefined;
  return stepsOf(async () => {
    const step = waiting;
    waiting = undefined;
    return step;
  });
}

function placeBehind(datapoints: readonly Datapoint[], begin: Place): Place {
  const times = datapoints.map(orderTime);
  const time = times.at(-1);
  if (time === undefined) return begin;
  const count = times.length - times.indexOf(time);
  return { time, count: time === begin.time ? begin.count + count : count };
}
