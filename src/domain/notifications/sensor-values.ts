import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { calibratedDatapoint } from '../datapoints/history.ts';
import { type Device, sensorOf } from '../devices/device.ts';
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

/** Nothing is known yet. */
export function createSensorValues(datapoints: Pick<DatapointStore, 'lastValues'>): SensorValues {
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
      const stored = (await datapoints.lastValues([device.id])).get(device.id);
      const values = new SeenValues();
      for (const [sensorId, datapoint] of stored ?? []) {
        const sensor = sensorOf(device, sensorId);
        if (sensor !== undefined) values.set(sensorId, seenOf(sensor, datapoint));
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
