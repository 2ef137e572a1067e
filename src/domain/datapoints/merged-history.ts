import { type Instant, latestInstant } from '../../lib/clock.ts';
import { createMerge } from '../../lib/merge.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { mapSteps, type Steps, stepsOf } from '../../lib/steps.ts';
import type { Actor } from '../actor.ts';
import type { Hold } from '../budgets/long-work.ts';
import { invalid } from '../errors.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import { bytesPerWeight, weightIn } from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import { type DatapointColumns, keptColumns, type SensorRows } from './datapoint-columns.ts';
import { type DatapointStore, type Page, readColumnSteps } from './datapoint-store.ts';
import {
  type History,
  type HistoryQuery,
  pageOf,
  type ReadParts,
  type RowsRead,
  readRows,
  standsFromOf,
  storeFor,
} from './history.ts';
import {
  bytesOfSources,
  createSourceOpening,
  type SensorSelection,
  type Source,
  viewableDevice,
  whileViewable,
} from './sensor-selection.ts';

/** Stored datapoints of many sensors, for those who may view the data of every device named. */
export type ReadMany = ReturnType<typeof createReadMany>;

export function createReadMany(options: ReadParts) {
  const { longWork } = options;
  const open = createSourceOpening(options);

  /** The sensors of a selection, and what is answered before their datapoints. */
  const openAll = (actor: Actor, selection: SensorSelection, query: HistoryQuery) =>
    longWork.run(actor, async (pace, hold) => {
      const sources = await open(actor, selection, pace, hold);
      const datapoints = storeFor(options, query);
      let total = 0;
      for (const { ref } of sources) {
        total += await datapoints.count(ref, query);
        if (pace.isOver()) await pace.rest();
      }
      const refs = sources.map(({ ref }) => ref);
      return { sources, total, standsFrom: await standsFromOf(datapoints, refs, query, pace) };
    });

  /** Sensor after sensor; the page counts for each of them. */
  async function sequential(
    actor: Actor,
    selection: SensorSelection,
    query: HistoryQuery,
  ): Promise<History> {
    const { sources, total, standsFrom } = await openAll(actor, selection, query);
    const store = whileViewable(options, actor, storeFor(options, query));
    const steps = stepsInTurn(store, sources, query, longWork.paceOf(actor));
    return { total, standsFrom, steps };
  }

  return {
    /** In order of time; at the same time in the order in which sensors are named. */
    async merged(actor: Actor, selection: SensorSelection, query: HistoryQuery): Promise<History> {
      const { sources, total, standsFrom } = await openAll(actor, selection, query);
      const store = storeFor(options, query);
      const bytes = bytesOfSources(sources);
      const page = await longWork.run(actor, (pace, hold) => {
        hold(bytes);
        const sensors = sources.map(({ ref }) => ref);
        return pageBehindSkipped({ store, sensors, page: pageOf(query, total), total, pace });
      });
      const read = { sources, page, query, pace: longWork.paceOf(actor) };
      const steps = longWork.during(actor, (hold) =>
        mergeSteps({
          ...{ ...read, store: whileViewable(options, actor, store) },
          hold: (more) => hold(bytes + more),
        }),
      );
      return { total, standsFrom, steps };
    },
    sequential,
    /**
     * From when datapoints of these devices are kept, but for those that are not there or not to be
     * viewed; undefined: retention took none of the range.
     */
    standsFrom: (actor: Actor, deviceIds: readonly DeviceId[], query: HistoryQuery) =>
      longWork.run(actor, async (pace) => {
        const found: Instant[] = [];
        for (const deviceId of deviceIds) {
          const device = await viewableDevice(options, actor, deviceId);
          const refs = (device?.sensors ?? []).map(({ id: sensorId }) => ({ deviceId, sensorId }));
          const stands = await standsFromOf(storeFor(options, query), refs, query, pace);
          if (stands !== undefined) found.push(stands);
          if (pace.isOver()) await pace.rest();
        }
        return found.length === 0 ? undefined : Math.max(...found);
      }),
    /** `sequential` for one device; undefined: it is not there, or its data not to be viewed. */
    async ifViewable(actor: Actor, deviceId: DeviceId, query: HistoryQuery) {
      const device = await viewableDevice(options, actor, deviceId);
      return device && sequential(actor, { deviceIds: [deviceId] }, query);
    },
  };
}

function stepsInTurn(
  store: RowsRead<Source>['store'],
  sources: readonly Source[],
  query: HistoryQuery,
  pace: Pace,
): Steps<readonly SensorRows[]> {
  const waiting = sources.values();
  let steps: Steps<readonly SensorRows[]> | undefined;
  return stepsOf(async () => {
    while (true) {
      const step = (await steps?.next())?.value;
      if (step !== undefined) return step;
      const source = waiting.next().value;
      if (source === undefined) return undefined;
      steps = readRows({ store, source, page: query, query, pace });
      if (pace.isOver()) await pace.rest();
    }
  });
}

/** To change the sensor costs the writer of an answer as much as so many datapoints. */
const rowsPerRun = 3;
/** Datapoints between two checks of the clock. */
const rowsPerLook = 64;

interface MergeOptions<From extends Source> extends Omit<RowsRead<From>, 'source'> {
  readonly sources: readonly From[];
  readonly hold?: Hold;
}

/** Merges the sensors; fetches a few steps at once in all, and `hold` reserves their bytes. */
export function mergeSteps<From extends Source>(
  options: MergeOptions<From>,
): Steps<readonly SensorRows<From>[]> {
  const { sources, page, pace } = options;
  const [source, ...others] = sources;
  if (source !== undefined && others.length === 0) return readRows({ ...options, source });
  return mergedRows({ merge: () => fetchFirst(options), sources, page, pace });
}

type ColumnMerge = ReturnType<typeof createColumnMerge>;

/** A merge of columns in the order of their times. */
export const createColumnMerge = (order: Page['order']) =>
  createMerge<DatapointColumns>(({ times }) => times, order);

/** The next datapoints of each sensor. */
async function fetchFirst<From extends Source>(options: MergeOptions<From>): Promise<ColumnMerge> {
  const { store: datapoints, sources, page, query, pace, hold } = options;
  const share = Math.ceil((2 * limits.datapointsPerStep) / Math.max(1, sources.length));
  const room = {
    rowsMax: Math.min(limits.datapointsPerStep, Math.max(share, limits.mergedDatapointsPerStepMin)),
    charactersMax: limits.mergedCharactersMax / Math.max(1, sources.length),
  };
  const cursorPage = { ...page, skip: 0, limit: page.skip + page.limit };
  const merge = createColumnMerge(page.order);
  let held = 0;
  for (const { ref, sensor } of sources) {
    let bytes = 0;
    const calibration = query.isCalibrated ? sensor.calibration : undefined;
    const read = { datapoints, ref, page: cursorPage, calibration, pace, room };
    await merge.add(
      mapSteps(readColumnSteps(read), (step) => {
        const columns = keptColumns(step);
        held -= bytes;
        bytes = 0;
        for (let row = 0; row < columns.count; row += 1) bytes += bytesIn(columns, row);
        held += bytes;
        hold?.(held);
        return columns;
      }),
    );
    if (held > limits.mergedBytesMax) throw tooMuchToMerge();
    if (pace.isOver()) await pace.rest();
  }
  return merge;
}

const bytesIn = (columns: DatapointColumns, row: number): number =>
  bytesPerWeight * weightIn(columns, row);

/** A page of what is merged, in steps of bounded size. */
export function mergedRows<From>(options: {
  readonly merge: () => Promise<ColumnMerge>;
  readonly sources: readonly From[];
  readonly page: Pick<Page, 'skip' | 'limit'>;
  readonly pace: Pace;
}): Steps<readonly SensorRows<From>[]> {
  const { sources, page, pace } = options;
  let merging: ColumnMerge | undefined;
  let { skip, limit } = page;
  let unseen = 0;
  return stepsOf(async () => {
    merging ??= await options.merge();
    const merge = merging;
    const step: SensorRows<From>[] = [];
    let [room, bytes] = [limits.datapointsPerStep, 0];
    while (limit > 0 && room > 0 && bytes <= limits.datapointCharactersPerStep) {
      const run = merge.run(skip > 0 ? skip : Math.min(room, limit));
      if (run === undefined) break;
      const { place, step: columns, from } = run;
      let { to } = run;
      if (skip > 0) {
        skip -= to - from;
      } else {
        for (to = from; to < run.to && bytes <= limits.datapointCharactersPerStep; to += 1) {
          bytes += bytesIn(columns, to);
        }
        room -= rowsPerRun + to - from;
        limit -= to - from;
        step.push({ source: sources[place] as From, columns, from, to });
      }
      const fetched = merge.pass(to - from);
      if (fetched !== undefined) await fetched;
      // Skipped datapoints are read as well.
      unseen += to - from;
      if (unseen >= rowsPerLook && pace.isOver()) await pace.rest();
      unseen %= rowsPerLook;
    }
    return step.length > 0 ? step : undefined;
  });
}

const tooMuchToMerge = (): Error =>
  invalid(
    `the values of these sensors are too long to be merged: of all sensors together the next ` +
      `ones may take ${limits.mergedBytesMax} bytes; name fewer sensors`,
  );

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
