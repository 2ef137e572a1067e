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

/** The last value of a sensor, calibrated as people see it, and when it was received. */
export interface Seen {
  readonly value: JsonValue;
  readonly at: Instant;
}

/** What is known of the sensors of one device, by sensor id. */
export type SeenValues = Map<string, Seen>;

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
  clear(): void;
}

/** Nothing is known yet. */
export function createSensorValues(datapoints: Pick<DatapointStore, 'lastValues'>): SensorValues {
  const known = createLruCache<DeviceId, { modifiedAt: Instant; values: SeenValues }>(
    limits.evaluatedDevicesMax,
  );
  return {
    has: (deviceId) => known.size > 0 && known.get(deviceId) !== undefined,
    peek(device) {
      const found = known.get(device.id);
      return found?.modifiedAt === device.modifiedAt ? found.values : undefined;
    },
    async fetch(device) {
      const stored = (await datapoints.lastValues([device.id])).get(device.id);
      const values: SeenValues = new Map();
      for (const [sensorId, datapoint] of stored ?? []) {
        const sensor = sensorOf(device, sensorId);
        if (sensor !== undefined) values.set(sensorId, seenOf(sensor, datapoint));
      }
      known.set(device.id, { modifiedAt: device.modifiedAt, values });
      return values;
    },
    clear: () => known.clear(),
  };
}

export function seenOf(sensor: Sensor, datapoint: Datapoint): Seen {
  const { value, receivedAt } = calibratedDatapoint(sensor, datapoint);
  return { value, at: receivedAt };
}
