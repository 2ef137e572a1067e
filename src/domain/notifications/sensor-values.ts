import type { Instant } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import type { JsonValue } from '../../lib/json.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { calibratedDatapoint } from '../datapoints/history.ts';
import type { Device } from '../devices/device.ts';
import type { Sensor } from '../devices/sensor.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import { charactersOf, compacted } from './compact-value.ts';

/** The last value of a sensor, calibrated as people see it, and when it was received. */
export interface Seen {
  readonly value: JsonValue;
  readonly at: Instant;
}

/** What is known of the sensors of one device, by sensor id. */
export class SeenValues {
  readonly #values = new Map<string, Seen>();
  /** What they take in memory, roughly. */
  characters = 0;

  get(sensorId: string): Seen | undefined {
    return this.#values.get(sensorId);
  }

  /** Takes of the value what rules look at. */
  set(sensorId: string, { value, at }: Seen): void {
    const kept = compacted(value, limits.otherValueCharactersMax);
    this.delete(sensorId);
    this.characters += charactersPerSensor + charactersOf(kept);
    this.#values.set(sensorId, { value: kept, at });
  }

  delete(sensorId: string): void {
    const former = this.#values.get(sensorId);
    if (former === undefined) return;
    this.characters -= charactersPerSensor + charactersOf(former.value);
    this.#values.delete(sensorId);
  }
}

const charactersPerSensor = 96;

/**
 * Last values as they were after each datapoint: within a batch the store is ahead of the
 * evaluation. Only devices that rules over several sensors asked for are kept.
 */
export interface SensorValues {
  has(deviceId: DeviceId): boolean;
  /** Undefined: they have to be fetched, as when the device was changed since. */
  peek(device: Device): SeenValues | undefined;
  /** The values in the store, whatever is known. */
  fetch(device: Device): Promise<SeenValues>;
  /** Weighs those of a device anew, after some were set. */
  keep(device: Device, values: SeenValues): void;
  /** Forgets what is known of a device. */
  drop(deviceId: DeviceId): void;
  clear(): void;
}

interface Known {
  readonly modifiedAt: Instant;
  readonly values: SeenValues;
  /** What it was counted as: a little more, so that it is not counted at every datapoint. */
  readonly weighed: number;
}

/** How last values are read: one after the other where they are large. */
export type ValueReads = Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;

/** Nothing is known yet. */
export function createSensorValues(datapoints: ValueReads): SensorValues {
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

  return {
    has: (deviceId) => known.size > 0 && known.get(deviceId) !== undefined,
    peek(device) {
      const found = known.get(device.id);
      return found?.modifiedAt === device.modifiedAt ? found.values : undefined;
    },
    async fetch(device) {
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
        if (datapoint !== undefined) values.set(sensorId, seenOf(sensor, datapoint));
        const pause = breathe();
        if (pause !== undefined) await pause;
      }
      keep(device, values);
      return values;
    },
    keep,
    drop: (deviceId) => known.delete(deviceId),
    clear: () => known.clear(),
  };
}

export function seenOf(sensor: Sensor, datapoint: Datapoint): Seen {
  const { value, receivedAt } = calibratedDatapoint(sensor, datapoint);
  return { value, at: receivedAt };
}
