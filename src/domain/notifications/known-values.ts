import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { calibratedDatapoint } from '../datapoints/history.ts';
import { type Device, sensorOf } from '../devices/device.ts';
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
export interface KnownValues {
  has(deviceId: DeviceId): boolean;
  /** Fetches what is not known, or what belongs to the device before it was changed. */
  of(device: Device): SeenValues | Promise<SeenValues>;
  /** Takes note of a datapoint, if its device is known. */
  note(deviceId: DeviceId, sensorId: string, seen: Seen): void;
  /** The values in the store, whatever is known. */
  fetch(device: Device): Promise<SeenValues>;
}

export function createKnownValues(datapoints: Pick<DatapointStore, 'lastValues'>): KnownValues {
  const known = createLruCache<DeviceId, { modifiedAt: Instant; values: SeenValues }>(
    limits.evaluatedDevicesMax,
  );

  async function fetch(device: Device): Promise<SeenValues> {
    const stored = (await datapoints.lastValues([device.id])).get(device.id);
    const values: SeenValues = new Map();
    for (const [sensorId, datapoint] of stored ?? []) {
      const sensor = sensorOf(device, sensorId);
      if (sensor === undefined) continue;
      const { value, receivedAt } = calibratedDatapoint(sensor, datapoint);
      values.set(sensorId, { value, at: receivedAt });
    }
    known.set(device.id, { modifiedAt: device.modifiedAt, values });
    return values;
  }

  return {
    has: (deviceId) => known.size > 0 && known.get(deviceId) !== undefined,
    of(device) {
      const found = known.get(device.id);
      return found?.modifiedAt === device.modifiedAt ? found.values : fetch(device);
    },
    note(deviceId, sensorId, seen) {
      known.get(deviceId)?.values.set(sensorId, seen);
    },
    fetch,
  };
}
