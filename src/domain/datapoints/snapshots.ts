import type { Access } from '../access/access.ts';
import type { GrantStore } from '../access/grant-store.ts';
import { createViewer, type Viewer, within } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import { type Device, withoutActuatorValues } from '../devices/device.ts';
import { type Devices, deviceResource } from '../devices/devices.ts';
import type { Filter } from '../devices/query.ts';
import type { Sensor } from '../devices/sensor.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import type { Datapoint } from './datapoint.ts';
import type { DatapointStore, LastValues } from './datapoint-store.ts';
import { calibratedDatapoint } from './history.ts';

/** The last value of a sensor as the actor may see it: calibrated, and absent without the right. */
export type LastValueOf = (sensor: Sensor) => Datapoint | undefined;

/** A device with the last values of its sensors. */
export interface DeviceSnapshot {
  readonly device: Device;
  readonly lastValueOf: LastValueOf;
}

export interface SensorSnapshot {
  readonly sensor: Sensor;
  readonly lastValue: Datapoint | undefined;
}

/** Devices as the API shows them, with last values for those who may view the data. */
export interface Snapshots {
  device(actor: Actor, id: DeviceId): Promise<DeviceSnapshot>;
  devices(
    actor: Actor,
    page: { filter?: Filter; limit: number; offset: number },
  ): Promise<{ snapshots: readonly DeviceSnapshot[]; total: number }>;
  /** Those of these devices that exist and the actor may view, in order of creation. */
  those(actor: Actor, ids: readonly DeviceId[]): Promise<readonly DeviceSnapshot[]>;
  sensor(actor: Actor, id: DeviceId, sensorId: SensorId): Promise<SensorSnapshot>;
}

const noLastValue: LastValueOf = () => undefined;

export function createSnapshots(options: {
  readonly devices: Devices;
  readonly datapoints: DatapointStore;
  readonly grants: GrantStore;
  readonly access: Access;
}): Snapshots {
  const { devices, datapoints, grants, access } = options;

  async function snapshotOf(actor: Actor, device: Device): Promise<DeviceSnapshot> {
    const maySee = await access.allows(actor, 'devices-data:view', deviceResource(device));
    if (!maySee) return withoutValues(device);
    if (device.sensors.length === 0) return { device, lastValueOf: noLastValue };
    return withLastValues(device, await datapoints.lastValues([device.id]));
  }

  const viewerOf = (actor: Actor): Promise<Viewer> =>
    createViewer({ actor, kind: 'device', grants, settings: access.settings });

  async function list(
    viewer: Viewer,
    page: { filter?: Filter; limit: number; offset: number },
  ): Promise<{ snapshots: readonly DeviceSnapshot[]; total: number }> {
    const listing = await devices.list({ ...page, viewer });
    const readable = new Set(
      listing.devices.filter((device) => viewer.may('devices-data:view', deviceResource(device))),
    );
    const lastValues = await datapoints.lastValues([...readable].map(({ id }) => id));
    const snapshots = listing.devices.map((device) =>
      readable.has(device) ? withLastValues(device, lastValues) : withoutValues(device),
    );
    return { snapshots, total: listing.total };
  }

  return {
    device: async (actor, id) => snapshotOf(actor, await devices.get(actor, id)),
    devices: async (actor, page) => list(await viewerOf(actor), page),
    async those(actor, ids) {
      if (ids.length === 0) return [];
      const viewer = await viewerOf(actor);
      const visibleTo = within(viewer.visibleTo, ids);
      const page = { limit: ids.length, offset: 0 };
      return (await list({ ...viewer, visibleTo }, page)).snapshots;
    },
    async sensor(actor, id, sensorId) {
      const [device, sensor] = await devices.getSensor(actor, id, sensorId);
      const { lastValueOf } = await snapshotOf(actor, device);
      return { sensor, lastValue: lastValueOf(sensor) };
    },
  };
}

function withoutValues(device: Device): DeviceSnapshot {
  return { device: withoutActuatorValues(device), lastValueOf: noLastValue };
}

function withLastValues(device: Device, lastValues: LastValues): DeviceSnapshot {
  const ofDevice = lastValues.get(device.id);
  const lastValueOf: LastValueOf = (sensor) => {
    const datapoint = ofDevice?.get(sensor.id);
    return datapoint === undefined ? undefined : calibratedDatapoint(sensor, datapoint);
  };
  return { device, lastValueOf };
}
