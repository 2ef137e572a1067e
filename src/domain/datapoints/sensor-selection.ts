import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { type Access, byRight } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import type { Hold } from '../budgets/long-work.ts';
import { type Device, type DeviceStore, type Sensor, sensorOf } from '../devices/device.ts';
import { deviceResource, noSensor, requireDevice } from '../devices/devices.ts';
import { invalid, notFound } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { SensorRef } from './datapoint.ts';
import type { DatapointStore } from './datapoint-store.ts';

/** The sensors whose datapoints are read together. */
export interface SensorSelection {
  readonly deviceIds: readonly DeviceId[];
  /** Absent: all sensors of the devices. Each must be a sensor of one of the devices at least. */
  readonly sensorIds?: readonly SensorId[];
  /** Instead of sensorIds: an id that no device has is a list with commas [contract 15]. */
  readonly listedSensorIds?: readonly SensorId[];
  /** A device id without a device is a list with commas [contract 15]. */
  readonly areDevicesListed?: boolean;
  /** The devices were not named: those whose data the actor may not view are passed over. */
  readonly areFound?: boolean;
  /** Absent: as many as one read merges. */
  readonly devicesMax?: number;
}

/** A sensor to read, with what its values are calibrated by: of its notes there may be much. */
export interface Source {
  readonly ref: SensorRef;
  readonly sensor: Pick<Sensor, 'id' | 'calibration'>;
}

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
 * throws not_found when all do [contract 10]. They are found in slices; `hold` reserves the bytes
 * that they take.
 */
export function createSourceOpening(options: ViewParts) {
  const { devices } = options;
  /** Undefined: it is passed over. */
  const view = (actor: Actor, id: DeviceId, isFound: boolean): Promise<Device | undefined> =>
    isFound ? viewableDevice(options, actor, id) : requireViewable(options, actor, id);

  /** The devices that a list names: one whose id has commas comes before those between them. */
  async function namedDevices(ids: readonly DeviceId[]): Promise<readonly DeviceId[]> {
    const found: DeviceId[] = [];
    for (const id of ids) {
      const isOne = !id.includes(',') || (await devices.find(id)) !== undefined;
      found.push(...(isOne ? [id] : partsOf(id)));
    }
    if (found.length === 0) throw invalid('device_id is missing: name one device or more');
    return [...new Set(found)];
  }

  return async (
    actor: Actor,
    selection: SensorSelection,
    pace: Pace,
    hold: Hold,
  ): Promise<readonly Source[]> => {
    const { sensorIds, listedSensorIds, areFound = false } = selection;
    const devicesMax = selection.devicesMax ?? limits.mergedDevicesMax;
    refuseTooMany('devices', selection.deviceIds.length, devicesMax);
    const isList = selection.areDevicesListed === true;
    const deviceIds = isList ? await namedDevices(selection.deviceIds) : selection.deviceIds;
    refuseTooMany('devices', deviceIds.length, devicesMax);
    const wanted = sensorIds ?? candidatesOf(listedSensorIds);
    const sources: Source[] = [];
    let bytes = 0;
    for (const deviceId of deviceIds) {
      const device = await view(actor, deviceId, areFound);
      const ofDevice = device === undefined ? [] : sourcesOf(device, wanted);
      sources.push(...ofDevice);
      refuseTooMany('sensors', sources.length, limits.mergedSensorsMax);
      bytes += bytesOfSources(ofDevice);
      hold(bytes);
      if (pace.isOver()) await pace.rest();
    }
    if (wanted === undefined) return sources;
    const found = new Set(sources.map(({ sensor }) => sensor.id));
    const named = sensorIds ?? listedSensorIds?.flatMap((id) => (found.has(id) ? id : partsOf(id)));
    if (named?.length === 0) throw invalid('sensor_id names no sensor: name one, or leave it out');
    const missing = named?.find((id) => !found.has(id));
    if (missing !== undefined) {
      throw notFound(`none of these devices has a sensor with id ${missing}`);
    }
    const kept = new Set(named);
    return sources.filter(({ sensor }) => kept.has(sensor.id));
  };
}

interface ViewParts {
  readonly devices: DeviceStore;
  readonly access: Access;
}

const requireRight = ({ devices, access }: ViewParts) =>
  byRight(access, devices, requireDevice, deviceResource);

/** The device, for those who may view its data. Throws not_found or forbidden. */
export const requireViewable = (parts: ViewParts, actor: Actor, id: DeviceId): Promise<Device> =>
  requireRight(parts)(actor, 'devices-data:view', id);

/**
 * The store as an actor reads it for long: rights may be taken away, and devices made again,
 * between two steps of a read. What was fetched meanwhile is not handed out.
 */
export const whileViewable = (
  parts: ViewParts,
  actor: Actor,
  store: Pick<DatapointStore, 'scan'>,
): Pick<DatapointStore, 'scan'> => ({
  async scan(ref, ...page) {
    const found = await store.scan(ref, ...page);
    await requireSensor(parts, actor, 'devices-data:view', ref);
    return found;
  },
});

/** A sensor and its device, for those with the right. Throws not_found or forbidden. */
export async function requireSensor(
  parts: ViewParts,
  actor: Actor,
  right: Parameters<Access['require']>[1],
  { deviceId, sensorId }: SensorRef,
): Promise<readonly [Device, Sensor]> {
  const device = await requireRight(parts)(actor, right, deviceId);
  const sensor = sensorOf(device, sensorId);
  if (sensor === undefined) throw noSensor(deviceId, sensorId);
  return [device, sensor];
}

/** The device, where it is there and the actor may view its data. */
export async function viewableDevice(
  { devices, access }: ViewParts,
  actor: Actor,
  id: DeviceId,
): Promise<Device | undefined> {
  const device = await devices.find(id);
  if (device === undefined) return undefined;
  const mayView = await access.allows(actor, 'devices-data:view', deviceResource(device));
  return mayView ? device : undefined;
}

/** The ids between commas. */
export const partsOf = <Id extends string>(text: Id): readonly Id[] =>
  text.split(',').filter((part) => part !== '') as Id[];

/** The sensors that a list may name. */
function candidatesOf(ids: readonly SensorId[] | undefined): readonly SensorId[] | undefined {
  return ids && [...new Set(ids.flatMap((id) => [id, ...partsOf(id)]))];
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
