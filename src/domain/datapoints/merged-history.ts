import type { Instant } from '../../lib/clock.ts';
import { createMerge } from '../../lib/merge.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { mapSteps, type Steps, stepsOf } from '../../lib/steps.ts';
import type { Actor } from '../actor.ts';
import type { Hold } from '../budgets/long-work.ts';
import { invalid } from '../errors.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import { bytesPerWeight, weigh, weightOf } from './column-batch.ts';
import { type Datapoint, orderTime, type SensorRef } from './datapoint.ts';
import { datapointsOf } from './datapoint-columns.ts';
import { type DatapointStore, type Page, readColumnSteps } from './datapoint-store.ts';
import {
  calibratedDatapoint,
  type HistoryQuery,
  pageOf,
  type ReadParts,
  standsFromOf,
  storeFor,
} from './history.ts';
import {
  bytesOfSources,
  createSourceOpening,
  type SensorSelection,
  type Source,
  viewableDevice,
} from './sensor-selection.ts';

export interface SensorDatapoint {
  readonly sensor: SensorRef;
  readonly datapoint: Datapoint;
}

export interface MergedHistory {
  /** All datapoints of the sensors in the range, whatever the page. */
  readonly total: number;
  /** From when datapoints are kept; absent: retention took none of the range. */
  readonly standsFrom?: Instant | undefined;
  readonly steps: AsyncIterable<readonly SensorDatapoint[]>;
}

/** Stored datapoints of many sensors, for those who may view the data of every device named. */
export interface ReadMany {
  /** In order of time; at the same time in the order in which sensors are named. */
  merged(actor: Actor, selection: SensorSelection, query: HistoryQuery): Promise<MergedHistory>;
  /** Sensor after sensor; the page counts for each of them. */
  sequential(actor: Actor, selection: SensorSelection, query: HistoryQuery): Promise<MergedHistory>;
  /**
   * From when datapoints of these devices are kept, but for those that are not there or not to be
   * viewed; undefined: retention took none of the range.
   */
  standsFrom(
    actor: Actor,
    deviceIds: readonly DeviceId[],
    query: HistoryQuery,
  ): Promise<Instant | undefined>;
  /** The same for one device; undefined when it is not there, or its data is not to be viewed. */
  ifViewable(
    actor: Actor,
    deviceId: DeviceId,
    query: HistoryQuery,
  ): Promise<MergedHistory | undefined>;
}

export function createReadMany(options: ReadParts): ReadMany {
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

  async function sequential(
    actor: Actor,
    selection: SensorSelection,
    query: HistoryQuery,
  ): Promise<MergedHistory> {
    const { sources, total, standsFrom } = await openAll(actor, selection, query);
    const store = storeFor(options, query);
    const steps = stepsInTurn(store, sources, query, longWork.paceOf(actor));
    return { total, standsFrom, steps };
  }

  return {
    async merged(actor, selection, query) {
      const { sources, total, standsFrom } = await openAll(actor, selection, query);
      const page = pageOf(query, total);
      const store = storeFor(options, query);
      const bytes = bytesOfSources(sources);
      const steps = longWork.during(actor, (hold) => {
        const holdMore: Hold = (more) => hold(bytes + more);
        return mapSteps(
          mergeSteps(store, sources, page, longWork.paceOf(actor), holdMore),
          (step) => step.map((one) => shownOf(one, query)),
        );
      });
      return { total, standsFrom, steps };
    },
    sequential,
    standsFrom: (actor, deviceIds, query) =>
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
    async ifViewable(actor, deviceId, query) {
      const device = await viewableDevice(options, actor, deviceId);
      return device && sequential(actor, { deviceIds: [deviceId] }, query);
    },
  };
}

function stepsInTurn(
  store: DatapointStore,
  sources: readonly Source[],
  page: HistoryQuery,
  pace: Pace,
): Steps<readonly SensorDatapoint[]> {
  const waiting = sources.values();
  let source: Source | undefined;
  let steps: Steps<readonly Datapoint[]> | undefined;
  return stepsOf(async () => {
    while (true) {
      const step = (await steps?.next())?.value;
      const from = source;
      if (step !== undefined && from !== undefined) {
        return step.map((datapoint) => shownOf({ source: from, datapoint }, page));
      }
      source = waiting.next().value;
      if (source === undefined) return undefined;
      steps = readSteps({ datapoints: store, ref: source.ref, page, pace });
      if (pace.isOver()) await pace.rest();
    }
  });
}

const readSteps = (options: Parameters<typeof readColumnSteps>[0]): Steps<readonly Datapoint[]> =>
  mapSteps(readColumnSteps(options), datapointsOf);

const shownOf = (
  {
    source: { ref, sensor },
    datapoint,
  }: { readonly source: Source; readonly datapoint: Datapoint },
  { isCalibrated }: HistoryQuery,
): SensorDatapoint => ({
  sensor: ref,
  datapoint: isCalibrated ? calibratedDatapoint(sensor, datapoint) : datapoint,
});

/** Datapoints between two checks of the clock. */
const stepsPerLook = 64;

type Merged<From> = readonly { readonly source: From; readonly datapoint: Datapoint }[];

/**
 * Merges the sensors; what is fetched of all of them at once stays within a few steps, and `hold`
 * reserves its bytes.
 */
export function mergeSteps<From extends Source>(
  store: Pick<DatapointStore, 'scan'>,
  sources: readonly From[],
  page: Page,
  pace: Pace,
  hold: Hold = () => undefined,
): AsyncIterable<Merged<From>> {
  const [source] = sources;
  if (source === undefined || sources.length > 1) {
    return mergeMany({ store, sources, page, pace, hold });
  }
  return mapSteps(readSteps({ datapoints: store, ref: source.ref, page, pace }), (step) =>
    step.map((datapoint) => ({ source, datapoint })),
  );
}

interface MergeOptions<From> {
  readonly store: Pick<DatapointStore, 'scan'>;
  readonly sources: readonly From[];
  readonly page: Page;
  readonly pace: Pace;
  readonly hold: Hold;
}

/** The next datapoints of each sensor. */
async function fetchFirst<From extends Source>(options: MergeOptions<From>) {
  const { store, sources, page, pace, hold } = options;
  const share = Math.ceil((2 * limits.datapointsPerStep) / Math.max(1, sources.length));
  const room = {
    rowsMax: Math.min(limits.datapointsPerStep, Math.max(share, limits.mergedDatapointsPerStepMin)),
    charactersMax: limits.mergedCharactersMax / Math.max(1, sources.length),
  };
  const cursorPage = { ...page, skip: 0, limit: page.skip + page.limit };
  const sign = page.order === 'asc' ? 1 : -1;
  const merge = createMerge<Datapoint>((datapoint) => sign * orderTime(datapoint));
  let held = 0;
  for (const { ref } of sources) {
    let bytes = 0;
    const steps = readSteps({ datapoints: store, ref, page: cursorPage, pace, room });
    await merge.add(
      mapSteps(steps, (step) => {
        held -= bytes;
        bytes = bytesPerWeight * weightOf(step);
        held += bytes;
        hold(held);
        return step;
      }),
    );
    if (held > limits.mergedBytesMax) throw tooMuchToMerge();
    if (pace.isOver()) await pace.rest();
  }
  return merge;
}

function mergeMany<From extends Source>(options: MergeOptions<From>): Steps<Merged<From>> {
  const { sources, page, pace } = options;
  let merging: Awaited<ReturnType<typeof fetchFirst>> | undefined;
  let skipped = 0;
  let taken = 0;
  return stepsOf(async () => {
    merging ??= await fetchFirst(options);
    const merge = merging;
    const step: { source: From; datapoint: Datapoint }[] = [];
    let stepBytes = 0;
    for (let top = merge.top(); top !== undefined && taken < page.limit; top = merge.top()) {
      const source = sources[top.place];
      if (skipped < page.skip) {
        skipped += 1;
      } else if (source !== undefined) {
        step.push({ source, datapoint: top.item });
        stepBytes += bytesPerWeight * weigh(top.item);
        taken += 1;
      }
      const fetched = merge.next();
      if (fetched !== undefined) await fetched;
      // Skipped datapoints are read as well.
      if ((skipped + taken) % stepsPerLook === 0 && pace.isOver()) await pace.rest();
      const isFull = stepBytes > limits.datapointCharactersPerStep;
      if (isFull || step.length >= limits.datapointsPerStep) break;
    }
    return step.length > 0 ? step : undefined;
  });
}

const tooMuchToMerge = (): Error =>
  invalid(
    `the values of these sensors are too long to be merged: of all sensors together the next ` +
      `ones may take ${limits.mergedBytesMax} bytes; name fewer sensors`,
  );
