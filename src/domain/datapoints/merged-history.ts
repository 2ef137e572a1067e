import type { Pace } from '../../lib/fair-turns.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, noSensor, requireDevice } from '../devices/devices.ts';
import type { Sensor } from '../devices/sensor.ts';
import { invalid } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { type Datapoint, orderTime, type SensorRef } from './datapoint.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';
import { calibratedDatapoint, type HistoryQuery, pageOf, readSteps } from './history.ts';
import { bytesPerWeight, weigh, weightOf } from './weight.ts';

/** The sensors whose datapoints are read together. */
export interface SensorSelection {
  readonly deviceIds: readonly DeviceId[];
  /** Absent: all sensors of the devices. Each must be a sensor of every device that is named. */
  readonly sensorIds?: readonly SensorId[];
}

export interface SensorDatapoint {
  readonly sensor: SensorRef;
  readonly datapoint: Datapoint;
}

export interface MergedHistory {
  /** All datapoints of the sensors in the range, whatever the page. */
  readonly total: number;
  readonly steps: AsyncIterable<readonly SensorDatapoint[]>;
}

/** Stored datapoints of many sensors, for those who may view the data of every device named. */
export interface ReadMany {
  /** In order of time; at the same time in the order in which sensors are named. */
  merged(actor: Actor, selection: SensorSelection, query: HistoryQuery): Promise<MergedHistory>;
  /** Sensor after sensor; the page counts for each of them. */
  sequential(actor: Actor, selection: SensorSelection, query: HistoryQuery): Promise<MergedHistory>;
  /** The same for one device; undefined when it is not there, or its data is not to be viewed. */
  ifViewable(
    actor: Actor,
    deviceId: DeviceId,
    query: HistoryQuery,
  ): Promise<MergedHistory | undefined>;
}

/** A sensor to read, as it is described. */
export interface Source {
  readonly ref: SensorRef;
  readonly sensor: Sensor;
}

export function createReadMany(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly access: Access;
  readonly longWork: LongWork;
}): ReadMany {
  const { devices, datapoints, access, longWork } = options;
  const open = createSourceOpening(options);

  const countAll = (
    actor: Actor,
    sources: readonly Source[],
    query: HistoryQuery,
  ): Promise<number> =>
    longWork.run(actor, async (pace) => {
      let total = 0;
      for (const { ref } of sources) {
        total += await datapoints.count(ref, query);
        if (pace.isOver()) await pace.rest();
      }
      return total;
    });

  async function sequential(
    actor: Actor,
    selection: SensorSelection,
    query: HistoryQuery,
  ): Promise<MergedHistory> {
    const sources = await open(actor, selection);
    const total = await countAll(actor, sources, query);
    const steps = stepsInTurn(datapoints, sources, query, longWork.paceOf(actor));
    return { total, steps: calibrated(steps, query) };
  }

  return {
    async merged(actor, selection, query) {
      const sources = await open(actor, selection);
      const total = await countAll(actor, sources, query);
      const page = pageOf(query, total);
      const steps = mergeSteps(datapoints, sources, page, longWork.paceOf(actor));
      return { total, steps: longWork.during(actor, calibrated(steps, query)) };
    },
    sequential,
    async ifViewable(actor, deviceId, query) {
      const device = await devices.find(deviceId);
      if (device === undefined) return undefined;
      const mayView = await access.allows(actor, 'devices-data:view', deviceResource(device));
      return mayView ? sequential(actor, { deviceIds: [deviceId] }, query) : undefined;
    },
  };
}

/** Finds the sensors of a selection for those who may view the data of every device named. */
export function createSourceOpening(options: {
  readonly devices: DeviceStore;
  readonly access: Access;
}): (actor: Actor, selection: SensorSelection) => Promise<readonly Source[]> {
  const { devices, access } = options;
  return async (actor, selection) => {
    refuseTooMany('devices', selection.deviceIds.length, limits.mergedDevicesMax);
    const sources: Source[] = [];
    for (const deviceId of selection.deviceIds) {
      const device = await requireDevice(devices, deviceId);
      await access.require(actor, 'devices-data:view', deviceResource(device));
      for (const sensor of sensorsOf(device, selection.sensorIds)) {
        sources.push({ ref: { deviceId, sensorId: sensor.id }, sensor });
      }
    }
    refuseTooMany('sensors', sources.length, limits.mergedSensorsMax);
    return sources;
  };
}

function sensorsOf(device: Device, ids: readonly SensorId[] | undefined): readonly Sensor[] {
  if (ids === undefined) return device.sensors;
  return ids.map((id) => {
    const sensor = sensorOf(device, id);
    if (sensor === undefined) throw noSensor(device.id, id);
    return sensor;
  });
}

function refuseTooMany(what: string, count: number, max: number): void {
  if (count > max) throw invalid(`one request reads at most ${max} ${what}, got ${count}`);
}

type SourceStep = readonly { readonly source: Source; readonly datapoint: Datapoint }[];

async function* stepsInTurn(
  store: DatapointStore,
  sources: readonly Source[],
  page: Page,
  pace: Pace,
): AsyncGenerator<SourceStep> {
  for (const source of sources) {
    if (pace.isOver()) await pace.rest();
    for await (const step of readSteps(store, source.ref, page, pace)) {
      yield step.map((datapoint) => ({ source, datapoint }));
    }
  }
}

/** Where the merge is in one sensor. */
interface Cursor<From extends Source> {
  readonly source: From;
  /** Among cursors, for those at the same time. */
  readonly place: number;
  readonly steps: AsyncGenerator<readonly Datapoint[], undefined>;
  step: readonly Datapoint[];
  at: number;
  /** The order time of the next datapoint; negated in descending order. */
  key: number;
}

/** Datapoints between two looks at the clock. */
const stepsPerLook = 64;

/** Merges the sensors; what is fetched of all of them at once stays within a few steps. */
export async function* mergeSteps<From extends Source>(
  store: DatapointStore,
  sources: readonly From[],
  page: Page,
  pace: Pace,
): AsyncGenerator<readonly { readonly source: From; readonly datapoint: Datapoint }[]> {
  const { skip, limit } = page;
  const share = Math.ceil((2 * limits.datapointsPerStep) / Math.max(1, sources.length));
  const stepMax = Math.min(
    limits.datapointsPerStep,
    Math.max(share, limits.mergedDatapointsPerStepMin),
  );
  const cursorPage = { ...page, skip: 0, limit: skip + limit };
  const charactersMax = limits.mergedCharactersMax / Math.max(1, sources.length);
  const cursors = sources.map((source, place): Cursor<From> => {
    const steps = readSteps(store, source.ref, cursorPage, pace, { stepMax, charactersMax });
    return { source, place, steps, step: [], at: 0, key: 0 };
  });
  const heap = createHeap<From>();
  let held = 0;
  for (const cursor of cursors) {
    if (await advance(cursor, page.order)) heap.push(cursor);
    held += bytesPerWeight * weightOf(cursor.step);
    if (held > limits.mergedBytesMax) throw tooMuchToMerge();
    if (pace.isOver()) await pace.rest();
  }
  let skipped = 0;
  let taken = 0;
  let step: { source: From; datapoint: Datapoint }[] = [];
  let stepBytes = 0;
  for (let cursor = heap.top(); cursor !== undefined && taken < limit; cursor = heap.top()) {
    const datapoint = cursor.step[cursor.at];
    if (skipped < skip) {
      skipped += 1;
    } else if (datapoint !== undefined) {
      step.push({ source: cursor.source, datapoint });
      stepBytes += bytesPerWeight * weigh(datapoint);
      taken += 1;
    }
    cursor.at += 1;
    const isLeft =
      cursor.at < cursor.step.length
        ? rekey(cursor, page.order)
        : await advance(cursor, page.order);
    if (isLeft) heap.settleTop();
    else heap.dropTop();
    // What is skipped is walked as well.
    if ((skipped + taken) % stepsPerLook === 0 && pace.isOver()) await pace.rest();
    if (step.length >= limits.datapointsPerStep || stepBytes > limits.datapointCharactersPerStep) {
      yield step;
      step = [];
      stepBytes = 0;
    }
  }
  if (step.length > 0) yield step;
}

const tooMuchToMerge = (): Error =>
  invalid(
    `the values of these sensors are too long to be merged: of all sensors together the next ` +
      `ones may take ${limits.mergedBytesMax} bytes; name fewer sensors`,
  );

/** Fetches the next step of a cursor; false at its end. */
async function advance(cursor: Cursor<Source>, order: Page['order']): Promise<boolean> {
  const next = await cursor.steps.next();
  if (next.done === true) return false;
  cursor.step = next.value;
  cursor.at = 0;
  return rekey(cursor, order);
}

function rekey(cursor: Cursor<Source>, order: Page['order']): boolean {
  const datapoint = cursor.step[cursor.at];
  if (datapoint === undefined) return false;
  const time = orderTime(datapoint);
  cursor.key = order === 'asc' ? time : -time;
  return true;
}

/** A binary heap of cursors, the next to read on top. */
function createHeap<From extends Source>() {
  const cursors: Cursor<From>[] = [];

  const isBefore = (a: Cursor<From>, b: Cursor<From>): boolean =>
    a.key < b.key || (a.key === b.key && a.place < b.place);

  function sink(start: number): void {
    let at = start;
    while (true) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = comesFirst(left, at) ? left : at;
      if (comesFirst(right, least)) least = right;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  }

  function comesFirst(one: number, other: number): boolean {
    const [a, b] = [cursors[one], cursors[other]];
    return a !== undefined && b !== undefined && isBefore(a, b);
  }

  function swap(one: number, other: number): void {
    const [a, b] = [cursors[one], cursors[other]];
    if (a === undefined || b === undefined) return;
    cursors[one] = b;
    cursors[other] = a;
  }

  return {
    top: () => cursors[0],
    push(cursor: Cursor<From>): void {
      cursors.push(cursor);
      for (let at = cursors.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (!comesFirst(at, parent)) return;
        swap(at, parent);
        at = parent;
      }
    },
    /** The key of the top has grown. */
    settleTop: () => sink(0),
    dropTop(): void {
      swap(0, cursors.length - 1);
      cursors.pop();
      sink(0);
    },
  };
}

async function* calibrated(
  steps: AsyncIterable<SourceStep>,
  { isCalibrated }: HistoryQuery,
): AsyncGenerator<readonly SensorDatapoint[]> {
  for await (const step of steps) {
    yield step.map(({ source: { ref, sensor }, datapoint }) => ({
      sensor: ref,
      datapoint: isCalibrated ? calibratedDatapoint(sensor, datapoint) : datapoint,
    }));
  }
}
