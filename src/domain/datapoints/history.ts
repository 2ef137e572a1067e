import type { Instant } from '../../lib/clock.ts';
import type { Place } from '../../lib/page-cursor.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { inOneStep, mapSteps, type Steps } from '../../lib/steps.ts';
import type { Access } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { DeviceStore } from '../devices/device.ts';
import { limits } from '../limits.ts';
import type { CorrectionBook } from './corrections/correction-book.ts';
import type { SensorRef } from './datapoint.ts';
import {
  allRows,
  calibratedColumns,
  type DatapointColumns,
  rowsOf,
  type SensorRows,
  toDatapointColumns,
} from './datapoint-columns.ts';
import { type DatapointStore, type Page, type Range, readColumnSteps } from './datapoint-store.ts';
import { requireSensor, type Source, whileViewable } from './sensor-selection.ts';

export interface HistoryQuery extends Page {
  /** The page is one of the newest so many datapoints, in the order it is answered in. */
  readonly lastN?: number;
  readonly isCalibrated: boolean;
  /** Whether pushed datapoints are read instead of those that corrections show. */
  readonly isRaw?: boolean;
}

/** Stored datapoints of one sensor or several. */
export interface History {
  /** All datapoints of the sensors in the range, whatever the page. */
  readonly total: number;
  /** From when datapoints are kept; undefined: retention took none of the range. */
  readonly standsFrom: Instant | undefined;
  /** The page, fetched in steps of bounded size as the reader asks for more. */
  readonly steps: AsyncIterable<readonly SensorRows[]>;
}

/** Stored datapoints of one sensor, for those who may view its data. */
export type ReadHistory = ReturnType<typeof createHistory>;

/** The parts by which datapoints are read. */
export interface ReadParts {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly pushedDatapoints: DatapointStore;
  readonly access: Access;
  readonly longWork: LongWork;
}

export function createHistory(options: ReadParts) {
  const { longWork } = options;
  return async (actor: Actor, ref: SensorRef, query: HistoryQuery): Promise<History> => {
    const [, sensor] = await requireSensor(options, actor, 'devices-data:view', ref);
    const datapoints = storeFor(options, query);
    const total = await datapoints.count(ref, query);
    const standsFrom = await datapoints.standsFrom([ref], query);
    const page = pageOf(query, total);
    const pace = longWork.paceOf(actor);
    const store = whileViewable(options, actor, datapoints);
    const steps = readRows({ store, source: { ref, sensor }, page, query, pace });
    return { total, standsFrom, steps };
  };
}

export interface RowsRead<From extends Source> {
  readonly store: Pick<DatapointStore, 'scan'>;
  readonly source: From;
  readonly page: Page;
  readonly query: Pick<HistoryQuery, 'isCalibrated'>;
  readonly pace: Pace;
}

/** The rows of one sensor, as they are shown, in steps of bounded size. */
export function readRows<From extends Source>(
  read: RowsRead<From>,
): Steps<readonly SensorRows<From>[]> {
  const { store: datapoints, source, page, query, pace } = read;
  const calibration = query.isCalibrated ? source.sensor.calibration : undefined;
  const steps = readColumnSteps({ datapoints, ref: source.ref, page, calibration, pace });
  return mapSteps(steps, (columns) => [allRows(source, columns)]);
}

/** Store that a read is answered from: datapoints as shown, or as pushed. */
export const storeFor = (
  stores: Pick<ReadParts, 'datapoints' | 'pushedDatapoints'>,
  { isRaw }: Pick<HistoryQuery, 'isRaw'>,
): DatapointStore => (isRaw === true ? stores.pushedDatapoints : stores.datapoints);

/** Sensors whose retention is asked for at once. */
const sensorsPerLook = 128;

/** From when the datapoints of many sensors are kept, found in slices. */
export async function standsFromOf(
  store: Pick<DatapointStore, 'standsFrom'>,
  sensors: readonly SensorRef[],
  range: Range,
  pace: Pace,
): Promise<Instant | undefined> {
  let latest: Instant | undefined;
  for (let at = 0; at < sensors.length; at += sensorsPerLook) {
    const stands = await store.standsFrom(sensors.slice(at, at + sensorsPerLook), range);
    if (stands !== undefined) latest = Math.max(latest ?? stands, stands);
    if (pace.isOver()) await pace.rest();
  }
  return latest;
}

/** The page that is asked for, of `total` datapoints in its range. */
export function pageOf(query: HistoryQuery, total: number): Page {
  if (query.lastN === undefined) return query;
  const newest = Math.min(query.lastN, total);
  const limit = Math.min(query.limit, Math.max(0, newest - query.skip));
  return {
    ...query,
    limit,
    skip: query.order === 'desc' ? query.skip : total - newest + query.skip,
  };
}

/** Reads the page behind a place, in one step; absent: the first one [contract 15]. */
export type ReadAfter = ReturnType<typeof createReadAfter>;

/**
 * Places are counted among what was pushed, in the order of arrival within one time: neither late
 * values nor corrections move them, and retention takes whole days.
 */
export function createReadAfter(
  options: ReadParts & { readonly book: Pick<CorrectionBook, 'overlayOf'> },
) {
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
      const columns = rowsOf(part.columns, 0, limit);
      const hasMore = part.isCut || part.columns.count > limit;
      return { columns, begin: { ...begin, count: skip }, hasMore };
    }
  }

  return async (actor: Actor, ref: SensorRef, query: HistoryQuery, after: Place | undefined) => {
    const [, sensor] = await requireSensor(options, actor, 'devices-data:view', ref);
    const { isRaw = false, isCalibrated } = query;
    const store = isRaw ? pushed : shownStore;
    const pace = longWork.paceOf(actor);
    let shown = toDatapointColumns([]);
    let next = after;
    let hasMore = true;
    // A page of which corrections leave nothing would be taken for the end.
    while (hasMore && shown.count === 0) {
      const part = await readPushed(ref, query, next);
      hasMore = part.hasMore;
      next = placeBehind(part.columns, part.begin);
      const overlay = isRaw ? undefined : await book.overlayOf(ref);
      shown = overlay?.showColumns(part.columns) ?? part.columns;
      if (!hasMore || shown.count > 0) break;
      // What is removed without a gap is passed over at once.
      const page = { ...query, from: next.time, order: 'asc', skip: 0, limit: 1 } as const;
      const { columns } = await store.scan(ref, page, 1);
      const [time] = columns.times;
      hasMore = time !== undefined;
      if (time !== undefined && time > next.time) next = { time, count: 0 };
      if (pace.isOver()) await pace.rest();
    }
    const columns = calibratedColumns(shown, isCalibrated ? sensor.calibration : undefined);
    return {
      total: await store.count(ref, query),
      standsFrom: await store.standsFrom([ref], query),
      steps: inOneStep([allRows({ ref }, columns)]),
      // Where the next page begins; absent: this is the last one.
      ...(hasMore && next !== undefined && { next }),
    };
  };
}

function placeBehind({ count, times }: DatapointColumns, begin: Place): Place {
  const time = times[count - 1];
  if (time === undefined) return begin;
  const ofTime = count - times.indexOf(time);
  return { time, count: time === begin.time ? begin.count + ofTime : ofTime };
}
