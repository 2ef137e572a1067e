import { createLruCache } from '../../lib/cache.ts';
import type { Instant } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import { LongJson } from '../../lib/long-json.ts';
import {
  calibratedDatapoint,
  type Datapoint,
  isHistory,
  type Newest,
  newestWith,
  noNewest,
  orderTime,
  type SensorRef,
} from '../datapoints/datapoint.ts';
import { datapointsOf } from '../datapoints/datapoint-columns.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { Device, Sensor } from '../devices/device.ts';
import { hasNumber } from '../devices/query-evaluation.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { evaluationLimits } from './evaluation-limits.ts';

/** How many characters a value takes, roughly: as text, or as JSON. */
export function charactersOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || isBigNumber(value)) return 8;
  return value instanceof LongJson ? value.text.length : JSON.stringify(value).length;
}

/** The value, or where it has more characters the beginning of its text, for people to see. */
export function shortened(value: JsonValue, charactersMax: number): JsonValue {
  if (charactersOf(value) <= charactersMax) return value;
  if (value instanceof LongJson) {
    const text = value.isString ? value.beginning(6 * charactersMax) : value.text;
    return beginningOf(text, charactersMax);
  }
  return beginningOf(typeof value === 'string' ? value : JSON.stringify(value), charactersMax);
}

/**
 * The first characters of a text, as a text of its own: a slice would keep all of the text in
 * memory for as long as it is kept itself.
 */
export function beginningOf(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return Buffer.from(text.slice(0, charactersMax), 'utf16le').toString('utf16le');
}

/** The value, or where it has more characters what rules evaluate: it stays of its kind. */
export function compacted(value: JsonValue, charactersMax: number): JsonValue {
  if (charactersOf(value) <= charactersMax) return value;
  if (typeof value !== 'object' || value === null || isBigNumber(value) || isLongText(value)) {
    return shortened(value, charactersMax);
  }
  let room = charactersMax;
  const fits = (characters: number): boolean => {
    const isIn = characters < room;
    if (isIn) room -= characters + 1;
    return isIn;
  };
  if (value instanceof LongJson && !value.isArray) return {};
  if (value instanceof LongJson || Array.isArray(value)) {
    const elements: readonly JsonValue[] =
      value instanceof LongJson ? value.elements(charactersMax) : value;
    return elements.filter((element) => fits(charactersOf(element)));
  }
  const fields = Object.entries(value);
  return Object.fromEntries(
    fields.filter(([key, field]) => fits(key.length + charactersOf(field))),
  );
}

const isLongText = (value: JsonValue): boolean => value instanceof LongJson && value.isString;

/** A value, calibrated as people see it, and how long before its receipt it was measured. */
interface Aged {
  readonly value: JsonValue;
  readonly ageMs: number;
}

/** The newest value of a sensor, and when the sensor was heard of last. */
export interface Seen extends Aged {
  readonly at: Instant;
  /** When the value was measured; the values of a device know. */
  readonly measuredAt?: Instant;
  /** The last one that is a number, where the newest is none. */
  readonly number?: Aged | undefined;
}

/** Known values of one device's sensors, by sensor id. */
export class SeenValues {
  readonly #values = new Map<string, Seen>();
  /** Characters that the values take in memory, roughly. */
  characters = 0;

  get(sensorId: string): Seen | undefined {
    return this.#values.get(sensorId);
  }

  /** Takes the part of the value that rules evaluate. */
  set(sensorId: string, { value, at, ageMs }: Seen): void {
    const kept = compacted(value, limits.otherValueCharactersMax);
    const former = this.#values.get(sensorId);
    const number = former === undefined || hasNumber(kept) ? undefined : numberOf(former);
    this.delete(sensorId);
    const seen = { value: kept, at, ageMs, measuredAt: at - ageMs, number };
    this.characters += weightOf(seen);
    this.#values.set(sensorId, seen);
  }

  /** Something older than its value came: the sensor was heard of. */
  heard(sensorId: string, at: Instant): void {
    const former = this.#values.get(sensorId);
    if (former !== undefined && at > former.at) this.#values.set(sensorId, { ...former, at });
  }

  delete(sensorId: string): void {
    const former = this.#values.get(sensorId);
    if (former === undefined) return;
    this.characters -= weightOf(former);
    this.#values.delete(sensorId);
  }
}

const charactersPerSensor = 96;

const weightOf = ({ value, number }: Seen): number =>
  charactersPerSensor + charactersOf(value) + (number ? charactersOf(number.value) : 0);

/** Makes the rules' view of sensors, without values measured over `maxAgeMs` before receipt. */
export const viewOf = (find: (sensorId: string) => Seen | undefined) => ({
  value: (sensorId: string, maxAgeMs?: number) => young(find(sensorId), maxAgeMs)?.value,
  number: (sensorId: string, maxAgeMs?: number) => young(numberOf(find(sensorId)), maxAgeMs)?.value,
  seenAt: (sensorId: string) => find(sensorId)?.at,
  measuredAt: (sensorId: string) => find(sensorId)?.measuredAt,
});

const young = (one: Aged | undefined, maxAgeMs = Number.POSITIVE_INFINITY): Aged | undefined =>
  one === undefined || one.ageMs > maxAgeMs ? undefined : one;

/** The last number of the sensor; undefined: none is known. */
export const numberOf = (seen: Seen | undefined): Aged | undefined =>
  seen === undefined || hasNumber(seen.value) ? seen : seen.number;

interface Known {
  readonly modifiedAt: Instant;
  readonly values: SeenValues;
  /** Size as counted: a little more, so that values are not counted at every datapoint. */
  readonly weighed: number;
}

/** How last values are read: one after the other where they are large. */
export type ValueReads = Pick<DatapointStore, 'briefLastValues' | 'lastValue' | 'scan'>;

/** The last datapoints of sensors, those that have one. */
export async function* lastDatapoints(
  datapoints: Pick<DatapointStore, 'briefLastValues' | 'lastValue'>,
  wanted: ReadonlyMap<DeviceId, Iterable<SensorId>>,
): AsyncGenerator<SensorRef & { readonly last: Datapoint }> {
  const brief = await datapoints.briefLastValues([...wanted.keys()]);
  for (const [deviceId, sensorIds] of wanted) {
    for (const sensorId of sensorIds) {
      const found = brief.get(deviceId)?.get(sensorId);
      const last = found === 'large' ? await datapoints.lastValue({ deviceId, sensorId }) : found;
      if (last !== undefined) yield { deviceId, sensorId, last };
    }
  }
}

/** Nothing is known yet. */
export function createSensorValues(datapoints: ValueReads) {
  const known = createLruCache<DeviceId, Known>(limits.evaluatedDevicesMax, {
    max: limits.evaluatedCharactersMax,
    weigh: ({ weighed }) => weighed,
  });

  function keep({ id, modifiedAt }: Device, values: SeenValues): void {
    const weighed = known.get(id)?.weighed ?? 0;
    const { characters } = values;
    // Small changes are not worth a place in front.
    if (known.get(id)?.values === values && characters <= weighed) return;
    known.set(id, { modifiedAt, values, weighed: characters + Math.ceil(characters / 4) });
  }

  /**
   * The newest by time is not the one that was pushed last where that came late, or where a later
   * push repeated one that is newer than what else it brought.
   */
  async function setNewest(
    values: SeenValues,
    { deviceId, sensor, last }: { deviceId: DeviceId; sensor: Sensor; last: Datapoint },
  ): Promise<void> {
    const seen = seenOf(sensor, last);
    const readNewest = async (limit: number): Promise<readonly Datapoint[]> => {
      const ref = { deviceId, sensorId: sensor.id };
      const page = { order: 'desc', skip: 0, limit } as const;
      const part = await datapoints.scan(ref, page, evaluationLimits.newestSearchCharactersMax);
      return datapointsOf(part.columns);
    };
    const isLate = orderTime(last) < last.receivedAt;
    const [newest = last] = isLate || !hasNumber(seen.value) ? [] : await readNewest(1);
    const isOlder = orderTime(newest) <= orderTime(last);
    const isNewest = !isLate && hasNumber(seen.value) && isOlder;
    if (isNewest) values.set(sensor.id, seen);
    else {
      const some = await readNewest(evaluationLimits.lastNumberSearchedMax);
      const isThere = some.some(
        (one) => one.receivedAt === last.receivedAt && one.timestamp === last.timestamp,
      );
      setInOrder(values, sensor, isThere ? some : [...some, last]);
    }
    values.heard(sensor.id, last.receivedAt);
  }

  return {
    has: (deviceId: DeviceId): boolean => known.size > 0 && known.get(deviceId) !== undefined,
    /** Undefined: they have to be fetched, as when the device was changed since. */
    peek(device: Device): SeenValues | undefined {
      const found = known.get(device.id);
      return found?.modifiedAt === device.modifiedAt ? found.values : undefined;
    },
    /** The values in the store, whatever is known. */
    async fetch(device: Device): Promise<SeenValues> {
      const stored = (await datapoints.briefLastValues([device.id])).get(device.id);
      const sensors = new Map(device.sensors.map((sensor) => [sensor.id, sensor]));
      const values = new SeenValues();
      const breathe = createBreather();
      let large = 0;
      for (const [sensorId, found] of stored ?? []) {
        const sensor = sensors.get(sensorId);
        if (found === 'large') large += 1;
        const isOneTooMany = found === 'large' && large > limits.otherLargeValuesMax;
        if (sensor === undefined || isOneTooMany) continue;
        const datapoint =
          found === 'large' ? await datapoints.lastValue({ deviceId: device.id, sensorId }) : found;
        if (datapoint !== undefined) {
          await setNewest(values, { deviceId: device.id, sensor, last: datapoint });
        }
        await breathe();
      }
      keep(device, values);
      return values;
    },
    /** Weighs those of a device anew, after some were set. */
    keep,
    /** Forgets what is known of a device. */
    drop: (deviceId: DeviceId): void => known.delete(deviceId),
    clear: (): void => known.clear(),
  };
}

/**
 * Last values as they were after each datapoint: within a batch the store is ahead of the
 * evaluation. Only devices that rules over several sensors asked for are kept.
 */
export type SensorValues = ReturnType<typeof createSensorValues>;

export function seenOf(sensor: Sensor, datapoint: Datapoint): Seen {
  const { value, receivedAt } = calibratedDatapoint(sensor, datapoint);
  return { value, at: receivedAt, ageMs: receivedAt - orderTime(datapoint) };
}

/**
 * Sets the newest of these datapoints, newest first, and the last number before it, as they were
 * evaluated: in the order of their receipt, without those that were history.
 */
export function setInOrder(values: SeenValues, sensor: Sensor, some: readonly Datapoint[]): void {
  values.delete(sensor.id);
  let newest = noNewest;
  const byReceipt = some
    .toReversed()
    .sort((one, other) => one.receivedAt - other.receivedAt || orderTime(one) - orderTime(other));
  for (const datapoint of byReceipt) {
    if (!isHistory(datapoint, newest)) values.set(sensor.id, seenOf(sensor, datapoint));
    newest = newestWith(newest, datapoint);
    values.heard(sensor.id, datapoint.receivedAt);
  }
}

/** Finds by sensor the newest times before a push: what is older is history. */
export interface PushTimes {
  /** Undefined: it has to be fetched. */
  peek(sensor: SensorRef): Newest | undefined;
  /** The newest of those that were received before the push; none: before all times. */
  before(push: StoredPush): Promise<Newest>;
  keep(sensor: SensorRef, newest: Newest): void;
}

/** The newest times of sensors as they are evaluated. */
export function createNewestTimes(datapoints: Pick<DatapointStore, 'scan'>) {
  const known = createLruCache<DeviceId, Map<SensorId, Newest>>(limits.evaluatedDevicesMax);
  return {
    peek: ({ deviceId, sensorId }: SensorRef): Newest | undefined =>
      known.get(deviceId)?.get(sensorId),
    async before(push: StoredPush): Promise<Newest> {
      const first = push.batch?.received[0] ?? push.datapoints[0]?.receivedAt;
      const received = first ?? Number.POSITIVE_INFINITY;
      return newestOf(datapoints, push, ({ receivedAt }) => receivedAt < received);
    },
    keep({ deviceId, sensorId }: SensorRef, newest: Newest): void {
      const times = known.get(deviceId);
      if (times === undefined) known.set(deviceId, new Map([[sensorId, newest]]));
      else times.set(sensorId, newest);
    },
    /** Of one sensor, or of all of the device. */
    forget(deviceId: DeviceId, sensorId?: SensorId): void {
      if (sensorId === undefined) known.delete(deviceId);
      else known.get(deviceId)?.delete(sensorId);
    },
    isEmpty: () => known.size === 0,
  };
}

/**
 * The newest times of the wanted datapoints of a sensor, among as many as are searched: those that
 * are dated after their receipt come first in the store.
 */
export async function newestOf(
  datapoints: Pick<DatapointStore, 'scan'>,
  { deviceId, sensorId }: SensorRef,
  isWanted: (datapoint: Datapoint) => boolean,
): Promise<Newest> {
  let limit = 20;
  let newest = noNewest;
  const breathe = createBreather();
  for (let skip = 0; skip < evaluationLimits.newestSearchedMax; ) {
    const page = { order: 'desc', skip, limit } as const;
    const { columns, isCut } = await datapoints.scan(
      { deviceId, sensorId },
      page,
      evaluationLimits.newestSearchCharactersMax,
    );
    for (const datapoint of datapointsOf(columns)) {
      if (!isWanted(datapoint)) continue;
      newest = newestWith(newest, datapoint);
      if (orderTime(datapoint) <= newest.received) return newest;
    }
    if ((columns.count < limit && !isCut) || columns.count === 0) return newest;
    skip += columns.count;
    limit = 1_000;
    await breathe();
  }
  return newest;
}
