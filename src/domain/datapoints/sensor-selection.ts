import type { Pace } from '../../lib/fair-turns.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { Hold } from '../budgets/long-work.ts';
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
  /** Absent: as many as one read merges. */
  readonly devicesMax?: number;
}

/** A sensor to read, with what its values are calibrated by: of its notes there may be much. */
export interface Source {
  readonly ref: SensorRef;
  readonly sensor: Pick<Sensor, 'id' | 'calibration'>;
}

/** Finds the sensors of a selection in turns; `hold` is told the bytes that they take. */
export type OpenSources = (
  actor: Actor,
  selection: SensorSelection,
  pace: Pace,
  hold: Hold,
) => Promise<readonly Source[]>;

const sourceBytes = 200;
const pointBytes = 100;

/** About what the sensors take in memory while they are read. */
export function bytesOfSources(sources: readonly Source[]): number {
  let bytes = sourceBytes * sources.length;
  for (const { sensor } of sources) bytes += pointBytes * (sensor.calibration?.points.length ?? 0);
  return bytes;
}

/**
 * Finds the sensors of a selection, device after device, for those who may view the data of every
 * device named, or of those that were found. A device that lacks a sensor is passed over for it;
 * throws not_found when all do [contract 10].
 */
export function createSourceOpening(options: {
  readonly devices: DeviceStore;
  readonly access: Access;
}): OpenSources {
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

  return async (actor, selection, pace, hold) => {
    const { deviceIds, sensorIds, areFound = false } = selection;
    refuseTooMany('devices', deviceIds.length, selection.devicesMax ?? limits.mergedDevicesMax);
    const sources: Source[] = [];
    let bytes = 0;
    for (const deviceId of deviceIds) {
      const device = await view(actor, deviceId, areFound);
      const ofDevice = device === undefined ? [] : sourcesOf(device, sensorIds);
      sources.push(...ofDevice);
      refuseTooMany('sensors', sources.length, limits.mergedSensorsMax);
      bytes += bytesOfSources(ofDevice);
      hold(bytes);
      if (pace.isOver()) await pace.rest();
    }
    const found = new Set(sources.map(({ sensor }) => sensor.id));
    const missing = sensorIds?.find((id) => !found.has(id));
    if (missing !== undefined) {
      throw notFound(`none of these devices has a sensor with id ${missing}`);
    }
    return sources;
  };
}

function sourcesOf(device: Device, ids: readonly SensorId[] | undefined): readonly Source[] {
  const sensors = ids === undefined ? device.sensors : named(device, ids);
  return sensors.map(({ id, calibration }) => ({
    ref: { deviceId: device.id, sensorId: id },
    sensor: calibration === undefined ? { id } : { id, calibration },
  }));
}

function named(device: Device, ids: readonly SensorId[]): readonly Sensor[] {
  const [only, ...others] = ids;
  if (only !== undefined && others.length === 0) {
    const sensor = sensorOf(device, only);
    return sensor === undefined ? [] : [sensor];
  }
  const byId = new Map(device.sensors.map((sensor) => [sensor.id, sensor]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function refuseTooMany(what: string, count: number, max: number): void {
  if (count > max) throw invalid(`one request reads at most ${max} ${what}, got ${count}`);
}
