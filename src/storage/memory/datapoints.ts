import { emptyBatch, toColumnBatch, toDatapoints } from '../../domain/datapoints/column-batch.ts';
import {
  type Datapoint,
  lastAmong,
  orderTime,
  type SensorRef,
} from '../../domain/datapoints/datapoint.ts';
import {
  type DatapointColumns,
  toDatapointColumns,
} from '../../domain/datapoints/datapoint-columns.ts';
import type {
  AppendOutcome,
  BriefLastValues,
  DatapointStore,
  LastValues,
  Page,
  PagePart,
  Push,
  Range,
} from '../../domain/datapoints/datapoint-store.ts';
import {
  addToHours,
  type HourTally,
  stretchesOf,
} from '../../domain/datapoints/retention/hours.ts';
import type { Retaining, RetentionStep } from '../../domain/datapoints/retention/retaining.ts';
import type { RetentionLimits } from '../../domain/datapoints/retention/retention.ts';
import { summariseWithHours } from '../../domain/datapoints/retention/summarise-with-hours.ts';
import type { Stretches } from '../../domain/datapoints/stretches.ts';
import { bytesPerWeight, weightOf, weightOfBatch } from '../../domain/datapoints/weight.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { SessionKey } from '../../domain/messaging/message.ts';
import type { Instant } from '../../lib/clock.ts';
import { writeJson } from '../../lib/long-json.ts';
import type { MemoryState } from './memory-state.ts';

/** Datapoints in memory, with what their owner must call. */
export interface MemoryDatapoints extends DatapointStore {
  /** Drops what a removed sensor, or all sensors of a removed device, had. */
  forget(deviceId: DeviceId, sensorId?: SensorId): void;
  /** Takes what is too old, as `shown` shows it. */
  takeOld(
    sensor: SensorRef,
    limits: RetentionLimits,
    shown: (columns: DatapointColumns) => DatapointColumns,
  ): RetentionStep;
  readonly retained: Pick<Retaining, 'state' | 'restore'>;
  /** When the oldest datapoint, and the oldest hour, are of. */
  oldest(sensor: SensorRef): { readonly oldest?: Instant; readonly oldestHour?: Instant };
  /** When the last datapoint was received, of those up to `atMost`. */
  newestReceived(atMost: Instant): Promise<Instant | undefined>;
  /** The stored weight of a sensor, or of a device. */
  weightOf(deviceId: DeviceId, sensorId?: SensorId): number;
}

interface History {
  /** By order time, ties by arrival. */
  readonly datapoints: Datapoint[];
  /** Summaries of the datapoints that retention took. */
  readonly hours: Map<Instant, HourTally>;
  rawBefore: Instant | undefined;
  /** Timestamps and values that are stored. */
  readonly known: Set<string>;
  last: Datapoint | undefined;
}

/** Keeps datapoints as plainly as possible: other engines are compared with this one. */
export function createDatapointStore(
  hasSensor: (sensor: SensorRef) => boolean,
  sessions: MemoryState['mqttSessions'],
): MemoryDatapoints {
  const devices = new Map<DeviceId, Map<SensorId, History>>();

  function historyOf({ deviceId, sensorId }: SensorRef): History {
    const sensors = devices.get(deviceId) ?? new Map<SensorId, History>();
    devices.set(deviceId, sensors);
    const history = sensors.get(sensorId) ?? emptyHistory();
    sensors.set(sensorId, history);
    return history;
  }

  function find({ deviceId, sensorId }: SensorRef): History | undefined {
    return devices.get(deviceId)?.get(sensorId);
  }

  function hoursWithin(sensor: SensorRef, range: Range, max: number): Stretches {
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
    const hours = [...(find(sensor)?.hours.values() ?? [])]
      .filter(({ begin }) => begin >= from && begin <= to)
      .sort((a, b) => a.begin - b.begin);
    return stretchesOf(hours.slice(0, max));
  }

  function within({ deviceId, sensorId }: SensorRef, range: Range): readonly Datapoint[] {
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
    const datapoints = devices.get(deviceId)?.get(sensorId)?.datapoints ?? [];
    return datapoints.filter((one) => orderTime(one) >= from && orderTime(one) <= to);
  }

  function readPage(sensor: SensorRef, page: Page): readonly Datapoint[] {
    const datapoints = within(sensor, page);
    const ordered = page.order === 'asc' ? datapoints : datapoints.toReversed();
    return ordered.slice(page.skip, page.skip + page.limit);
  }

  function lastValues(deviceIds: readonly DeviceId[]): LastValues {
    const values = new Map<DeviceId, ReadonlyMap<SensorId, Datapoint>>();
    for (const deviceId of deviceIds) {
      const lasts = new Map<SensorId, Datapoint>();
      for (const [sensorId, { last }] of devices.get(deviceId) ?? []) {
        if (last !== undefined) lasts.set(sensorId, last);
      }
      if (lasts.size > 0) values.set(deviceId, lasts);
    }
    return values;
  }

  return {
    async append(batch) {
      return batch.map((push): AppendOutcome => {
        if (!hasSensor(push)) return { kind: 'missing' };
        const id = push.publishContext?.receivedAs;
        // Sessions have no other keys.
        const session = id && sessions.get(id.session as SessionKey);
        if (id !== undefined && session?.received.has(id.packetId)) return alreadyStored;
        if (id !== undefined && session?.stored.has(id.packetId)) return alreadyStored;
        const fresh = toColumnBatch(addPush(historyOf(push), push));
        if (fresh.count === 0) return { kind: 'stored', fresh };
        if (id !== undefined) session?.stored.add(id.packetId);
        return { kind: 'stored', fresh, weight: weightOfBatch(fresh) };
      });
    },
    read: async (sensor, page) => readPage(sensor, page),
    readPart: async (sensor, page, charactersMax) => partOf(readPage(sensor, page), charactersMax),
    async scan(sensor, page, charactersMax) {
      const { datapoints, isCut } = partOf(readPage(sensor, page), charactersMax);
      return { columns: toDatapointColumns(datapoints), isCut };
    },
    async summarise(sensor, page) {
      const rawBefore = find(sensor)?.rawBefore;
      return summariseWithHours({
        page,
        state: rawBefore === undefined ? undefined : { rawBefore },
        hours: (from, to, max) => hoursWithin(sensor, { from, to }, max),
        raw: (part) => ({
          parts: [toDatapointColumns(readPage(sensor, { ...part, order: 'asc' }))],
        }),
      });
    },
    async standsFrom(sensors, { from = Number.NEGATIVE_INFINITY }) {
      const befores = sensors.flatMap((sensor) => find(sensor)?.rawBefore ?? []);
      const latest = Math.max(...befores.filter((before) => before > from));
      return latest === Number.NEGATIVE_INFINITY ? undefined : latest;
    },
    hours: async (sensor, range, max) => hoursWithin(sensor, range, max),
    takeOld(sensor, limits, shown) {
      const history = find(sensor);
      return history === undefined ? nothingTaken : takeOld(history, limits, shown);
    },
    retained: {
      async state(sensor) {
        const rawBefore = find(sensor)?.rawBefore;
        return rawBefore === undefined ? undefined : { rawBefore };
      },
      async restore(sensor, { rawBefore }, hours) {
        if (!hasSensor(sensor)) return 'missing';
        const history = historyOf(sensor);
        history.rawBefore = Math.max(history.rawBefore ?? -Infinity, rawBefore);
        for (const hour of hours) history.hours.set(hour.begin, { ...hour });
        return 'put';
      },
    },
    oldest(sensor) {
      const [first] = find(sensor)?.datapoints ?? [];
      const hours = [...(find(sensor)?.hours.keys() ?? [])];
      return {
        ...(first !== undefined && { oldest: orderTime(first) }),
        ...(hours.length > 0 && { oldestHour: Math.min(...hours) }),
      };
    },
    async count(sensor, range) {
      return within(sensor, range).length;
    },
    lastValues: async (deviceIds) => lastValues(deviceIds),
    async briefLastValues(deviceIds): Promise<BriefLastValues> {
      return lastValues(deviceIds);
    },
    async newestReceived(atMost) {
      const histories = [...devices.values()].flatMap((sensors) => [...sensors.values()]);
      const received = histories.flatMap(({ datapoints }) =>
        datapoints.map(({ receivedAt }) => receivedAt).filter((one) => one <= atMost),
      );
      return received.length === 0 ? undefined : received.reduce((a, b) => Math.max(a, b));
    },
    lastValue: async ({ deviceId, sensorId }) => devices.get(deviceId)?.get(sensorId)?.last,
    weightOf(deviceId, sensorId) {
      let weight = 0;
      for (const [id, { datapoints }] of devices.get(deviceId) ?? []) {
        if (sensorId === undefined || sensorId === id) weight += weightOf(datapoints);
      }
      return weight;
    },
    forget(deviceId, sensorId) {
      if (sensorId === undefined) devices.delete(deviceId);
      else devices.get(deviceId)?.delete(sensorId);
    },
  };
}

/** Up to the value that makes the texts so many characters or more; numbers count for nothing. */
function partOf(datapoints: readonly Datapoint[], charactersMax: number): PagePart {
  let characters = 0;
  for (const [at, { value }] of datapoints.entries()) {
    if (typeof value === 'number') continue;
    characters += typeof value === 'string' ? value.length : writeJson(value).length;
    if (characters >= charactersMax)
      return { datapoints: datapoints.slice(0, at + 1), isCut: true };
  }
  return { datapoints, isCut: false };
}

const alreadyStored: AppendOutcome = { kind: 'stored', fresh: emptyBatch };

const emptyHistory = (): History => ({
  ...{ datapoints: [], hours: new Map(), rawBefore: undefined, known: new Set(), last: undefined },
});

const nothingTaken: RetentionStep = {
  ...{ datapoints: 0, hours: 0, hoursKept: 0, bytes: 0, state: 'done' },
};

/** All at once: nobody waits for it in a test. */
function takeOld(
  history: History,
  { rawBefore, hourlyBefore = Number.NEGATIVE_INFINITY }: RetentionLimits,
  shown: (columns: DatapointColumns) => DatapointColumns,
): RetentionStep {
  const { datapoints, hours, known } = history;
  let gone = 0;
  for (const begin of [...hours.keys()].filter((one) => one < hourlyBefore)) {
    hours.delete(begin);
    gone += 1;
  }
  const old = datapoints.filter((one) => orderTime(one) < (rawBefore ?? -Infinity));
  if (old.length === 0) return { ...nothingTaken, hours: gone };
  datapoints.splice(0, old.length);
  for (const one of old) known.delete(keyOf(one) ?? '');
  const made = new Map<Instant, HourTally>();
  addToHours(shown(toDatapointColumns(old)), { there: hours, open: undefined, made });
  const kept = [...made].filter(([begin]) => begin >= hourlyBefore);
  const hoursKept = kept.filter(([begin]) => !hours.has(begin)).length;
  for (const [begin, hour] of kept) hours.set(begin, hour);
  history.rawBefore = Math.max(history.rawBefore ?? -Infinity, rawBefore ?? -Infinity);
  const bytes = bytesPerWeight * weightOf(old);
  return { datapoints: old.length, hours: gone, hoursKept, bytes, state: 'done' };
}

/** Stores what is not stored yet, moves the last value, and answers what was stored. */
function addPush(history: History, push: Push): readonly Datapoint[] {
  const fresh: Datapoint[] = [];
  const freshKeys = new Set<string>();
  /** All but what the same push brought before. */
  const said: Datapoint[] = [];
  for (const datapoint of toDatapoints(push.batch)) {
    const key = keyOf(datapoint);
    if (key !== undefined && freshKeys.has(key)) continue;
    said.push(datapoint);
    if (key !== undefined && history.known.has(key)) continue;
    if (key !== undefined) freshKeys.add(key);
    fresh.push(datapoint);
  }
  const candidate = lastAmong(said);
  if (candidate !== undefined && fresh.includes(candidate)) history.last = candidate;
  for (const datapoint of fresh) {
    const key = keyOf(datapoint);
    if (key !== undefined) history.known.add(key);
    insert(history.datapoints, datapoint);
  }
  return fresh;
}

function insert(datapoints: Datapoint[], datapoint: Datapoint): void {
  const time = orderTime(datapoint);
  const last = datapoints.at(-1);
  if (last === undefined || orderTime(last) <= time) {
    datapoints.push(datapoint);
    return;
  }
  const before = datapoints.findLastIndex((one) => orderTime(one) <= time);
  datapoints.splice(before + 1, 0, datapoint);
}

function keyOf({ timestamp, value }: Datapoint): string | undefined {
  return timestamp === undefined ? undefined : `${timestamp} ${writeJson(value)}`;
}
