import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, requireDevice } from '../devices/devices.ts';
import type { Sensor } from '../devices/sensor.ts';
import { invalid, notFound } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { SensorRef } from './datapoint.ts';

/** The sensors whose datapoints are read together. */
export interface SensorSelection {
  readonly deviceIds: readonly DeviceId[];
  /** Absent: all sensors of the devices. Each must be a sensor of one of the devices at least. */
  readonly sensorIds?: readonly SensorId[];
  /** Nobody named the devices: those whose data the actor may not view are passed over. */
  readonly areFound?: boolean;
}

/** A sensor to read, as it is described. */
export interface Source {
  readonly ref: SensorRef;
  readonly sensor: Sensor;
}

/**
 * Finds the sensors of a selection, device after device, for those who may view the data of every
 * device named, or of those that were found. A device that lacks a sensor is passed over for it;
 * throws not_found when all do [contract 10].
 */
export function createSourceOpening(options: {
  readonly devices: DeviceStore;
  readonly access: Access;
}): (actor: Actor, selection: SensorSelection) => Promise<readonly Source[]> {
  const { devices, access } = options;
  /** Undefined: it is passed over. */
  async function view(actor: Actor, id: DeviceId, isFound: boolean): Promise<Device | undefined> {
    if (!isFound) {
      const device = await requireDevice(devices, id);
      await access.require(actor, 'devices-data:view', deviceResource(device));
      return device;
    }
    const device = await devices.find(id);
    if (device === undefined) return undefined;
    const maySee = await access.allows(actor, 'devices-data:view', deviceResource(device));
    return maySee ? device : undefined;
  }

  return async (actor, { deviceIds, sensorIds, areFound = false }) => {
    refuseTooMany('devices', deviceIds.length, limits.mergedDevicesMax);
    const sources: Source[] = [];
    for (const deviceId of deviceIds) {
      const device = await view(actor, deviceId, areFound);
      for (const sensor of device === undefined ? [] : sensorsOf(device, sensorIds)) {
        sources.push({ ref: { deviceId, sensorId: sensor.id }, sensor });
      }
    }
    const found = new Set(sources.map(({ sensor }) => sensor.id));
    const missing = sensorIds?.find((id) => !found.has(id));
    if (missing !== undefined) {
      throw notFound(`none of these devices has a sensor with id ${missing}`);
    }
    refuseTooMany('sensors', sources.length, limits.mergedSensorsMax);
    return sources;
  };
}

function sensorsOf(device: Device, ids: readonly SensorId[] | undefined): readonly Sensor[] {
  return ids === undefined ? device.sensors : ids.flatMap((id) => sensorOf(device, id) ?? []);
}

function refuseTooMany(what: string, count: number, max: number): void {
  if (count > max) throw invalid(`one request reads at most ${max} ${what}, got ${count}`);
}
