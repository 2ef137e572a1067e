import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, requireDevice } from '../devices/devices.ts';
import { invalid, notFound } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import type { DatapointStore } from './datapoint-store.ts';
import { calibratedDatapoint } from './history.ts';

/** The last value of one of many sensors. */
export interface LastValue {
  readonly sensor: SensorRef;
  readonly datapoint: Datapoint;
}

/**
 * The last value of each sensor of the selection that has one, device after device; for those who
 * may view the data of every device named. Throws not_found when no device has a sensor named.
 */
export type ReadLastValues = (
  actor: Actor,
  selection: {
    readonly deviceIds: readonly DeviceId[];
    /** Absent: all sensors of the devices. */
    readonly sensorIds?: readonly SensorId[];
    readonly isCalibrated: boolean;
  },
) => Promise<readonly LastValue[]>;

export function createReadLastValues(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly access: Access;
}): ReadLastValues {
  const { devices, datapoints, access } = options;
  return async (actor, { deviceIds, sensorIds, isCalibrated }) => {
    if (deviceIds.length > limits.mergedDevicesMax) {
      throw invalid(`one request reads at most ${limits.mergedDevicesMax} devices`);
    }
    const found: Device[] = [];
    for (const id of deviceIds) {
      const device = await requireDevice(devices, id);
      await access.require(actor, 'devices-data:view', deviceResource(device));
      found.push(device);
    }
    for (const sensorId of sensorIds ?? []) {
      if (found.some((device) => sensorOf(device, sensorId) !== undefined)) continue;
      throw notFound(`none of these devices has a sensor with id ${sensorId}`);
    }
    const values = await datapoints.lastValues(deviceIds);
    return found.flatMap((device) => {
      const wanted = sensorIds ?? device.sensors.map(({ id }) => id);
      return wanted.flatMap((sensorId): readonly LastValue[] => {
        const sensor = sensorOf(device, sensorId);
        const raw = sensor && values.get(device.id)?.get(sensorId);
        if (sensor === undefined || raw === undefined) return [];
        const datapoint = isCalibrated ? calibratedDatapoint(sensor, raw) : raw;
        return [{ sensor: { deviceId: device.id, sensorId }, datapoint }];
      });
    });
  };
}
