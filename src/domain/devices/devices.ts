import type { Clock } from '../../lib/clock.ts';
import type { Access } from '../access/access.ts';
import type { Resource } from '../access/policy.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import { createGuestShares, makeAsGuest } from '../budgets/guest-shares.ts';
import type { StorageRoom } from '../budgets/storage-room.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { type DeviceId, guestUsername, type SensorId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { UserStore } from '../users/user-store.ts';
import { type Device, type DeviceChanges, sensorOf } from './device.ts';
import type { DeviceHead, DeviceListing, DeviceStore, SomeDevices } from './device-store.ts';
import type { Sensor, SensorChanges } from './sensor.ts';
import { requireRoomOn } from './value-size.ts';

/** What a client says of a new device; owner and dates are the service's to say. */
export type NewDevice = Omit<Device, 'owner' | 'createdAt' | 'modifiedAt'>;

/** Devices and their sensors, with the rights of [contract 4]. */
export interface Devices {
  /** Creates a device; without a token it belongs to the guest and is public [spec 5.5]. */
  create(actor: Actor, device: NewDevice): Promise<void>;
  /** The device, if the actor may view it. Throws not_found, forbidden. */
  get(actor: Actor, id: DeviceId): Promise<Device>;
  list(page: { viewer: Viewer; limit: number; offset: number }): Promise<DeviceListing>;
  /** As many of these devices as fit into memory; those that its viewer may view. */
  readSome(viewer: Viewer, ids: readonly DeviceId[]): Promise<SomeDevices>;
  update(actor: Actor, id: DeviceId, changes: DeviceChanges): Promise<void>;
  /** Hands the device over to another user; for its owner and admins. */
  handOver(actor: Actor, id: DeviceId, owner: Username): Promise<void>;
  /** Takes what was handed over: from then on alerts that name no device watch it too. */
  accept(actor: Actor, id: DeviceId): Promise<void>;
  remove(actor: Actor, id: DeviceId): Promise<void>;

  getSensor(actor: Actor, id: DeviceId, sensorId: SensorId): Promise<[Device, Sensor]>;
  /** Adds the sensor, or replaces its description and keeps its datapoints [contract 2]. */
  putSensor(actor: Actor, id: DeviceId, sensor: Sensor): Promise<void>;
  updateSensor(
    actor: Actor,
    id: DeviceId,
    sensorId: SensorId,
    changes: SensorChanges,
  ): Promise<void>;
  removeSensor(actor: Actor, id: DeviceId, sensorId: SensorId): Promise<void>;
}

/** The device as the policy sees it. */
export function deviceResource(device: DeviceHead): Resource {
  return device.visibility === undefined
    ? { kind: 'device', id: device.id, owner: device.owner }
    : { kind: 'device', id: device.id, owner: device.owner, visibility: device.visibility };
}

/** The device with this id. Throws not_found. */
export async function requireDevice(store: DeviceStore, id: DeviceId): Promise<Device> {
  const device = await store.find(id);
  if (device === undefined) throw noDevice(id);
  return device;
}

export const noDevice = (id: DeviceId) => notFound(`there is no device with id ${id}`);
export const noSensor = (id: DeviceId, sensorId: SensorId) =>
  notFound(`device ${id} has no sensor with id ${sensorId}`);

export function createDevices(options: {
  readonly store: DeviceStore;
  readonly users: UserStore;
  readonly access: Access;
  readonly clock: Clock;
  readonly room: StorageRoom;
}): Devices {
  const { store, users, access, clock, room } = options;
  const shares = createGuestShares();

  async function requireRight(
    actor: Actor,
    scope: 'devices:view' | 'devices:update' | 'devices:delete',
    id: DeviceId,
  ): Promise<Device> {
    const device = await requireDevice(store, id);
    await access.require(actor, scope, deviceResource(device));
    return device;
  }

  async function insert(actor: Actor, device: Device): Promise<'inserted' | 'duplicate'> {
    if (actor.kind !== 'guest') return store.insert(device);
    const used = await store.countOwnedBy(guestUsername);
    const rule = { what: 'devices', used, max: limits.guestDevicesMax };
    const outcome = await makeAsGuest(shares, actor, rule, () => store.insert(device));
    if (outcome === 'inserted') room.addFor(actor, device.owner, JSON.stringify(device).length);
    return outcome;
  }

  return {
    async create(actor, device) {
      requireCreation(actor, device.id);
      const now = clock.now();
      const owner = actor.kind === 'guest' ? guestUsername : actor.username;
      room.require(actor, owner);
      const outcome = await insert(actor, {
        ...device,
        ...(actor.kind === 'guest' && { visibility: 'public' as const }),
        owner,
        createdAt: now,
        modifiedAt: now,
      });
      if (outcome === 'duplicate') throw conflict(`the device id ${device.id} is taken`);
    },
    get: (actor, id) => requireRight(actor, 'devices:view', id),
    list: ({ viewer, ...page }) => store.list({ ...page, visibleTo: viewer.visibleTo }),
    async readSome(viewer, ids) {
      const { devices, taken } = await store.readSome(ids);
      const mayView = (device: Device) => viewer.may('devices:view', deviceResource(device));
      return { devices: devices.filter(mayView), taken };
    },
    async update(actor, id, changes) {
      const device = await requireRight(actor, 'devices:update', id);
      if (changes.visibility === 'private' && device.owner === guestUsername) {
        throw invalid('a device without an owner is always public: set its owner first');
      }
      if (changes.meta !== undefined) room.require(actor, device.owner);
      if ((await store.update(id, changes, clock.now())) === 'missing') throw noDevice(id);
    },
    async handOver(actor, id, owner) {
      const before = await requireDevice(store, id);
      access.requireOwner(actor, deviceResource(before));
      const user = await users.findByUsername(owner);
      if (user === undefined) throw notFound(`there is no user ${owner}`);
      if (user.username === before.owner) return;
      // Nobody is made to pay for alerts on what somebody else gave them [contract 14].
      const isAccepted =
        actor.kind === 'admin' || (actor.kind !== 'guest' && actor.userId === user.id);
      const isPending = isAccepted ? undefined : (true as const);
      // The store ends the grants in the same step.
      const outcome = await store.update(id, { owner: user.username, isPending }, clock.now());
      if (outcome === 'missing') throw noDevice(id);
    },
    async accept(actor, id) {
      const device = await requireDevice(store, id);
      access.requireOwner(actor, deviceResource(device));
      if (device.isPending !== true) return;
      const outcome = await store.update(id, { isPending: undefined }, clock.now());
      if (outcome === 'missing') throw noDevice(id);
    },
    async remove(actor, id) {
      await requireRight(actor, 'devices:delete', id);
      if ((await store.remove(id)) === 'missing') throw noDevice(id);
    },
    async getSensor(actor, id, sensorId) {
      const device = await requireRight(actor, 'devices:view', id);
      const sensor = sensorOf(device, sensorId);
      if (sensor === undefined) throw noSensor(id, sensorId);
      return [device, sensor];
    },
    async putSensor(actor, id, sensor) {
      const device = await requireRight(actor, 'devices:update', id);
      room.require(actor, device.owner);
      requireRoomOn(actor, device, sensor.id, sensor);
      const outcome = await store.putSensor(id, sensor, clock.now());
      if (outcome === 'missing') throw noDevice(id);
      if (outcome === 'too_many') {
        throw invalid(`a device may have ${limits.sensorsPerDeviceMax} sensors`);
      }
    },
    async updateSensor(actor, id, sensorId, changes) {
      const device = await requireRight(actor, 'devices:update', id);
      if (changes.meta !== undefined) room.require(actor, device.owner);
      requireRoomOn(actor, device, sensorId, { ...sensorOf(device, sensorId), ...changes });
      const outcome = await store.updateSensor(id, sensorId, changes, clock.now());
      if (outcome === 'missing') throw noSensor(id, sensorId);
    },
    async removeSensor(actor, id, sensorId) {
      await requireRight(actor, 'devices:update', id);
      const outcome = await store.removeSensor(id, sensorId, clock.now());
      if (outcome === 'missing') throw noSensor(id, sensorId);
    },
  };
}

/** Anybody may create a device; a key only within its limits. */
function requireCreation(actor: Actor, id: DeviceId): void {
  if (actor.kind === 'guest' || actor.key === undefined) return;
  const { scopes, devices } = actor.key;
  if (scopes !== undefined && !scopes.has('devices:update')) {
    throw forbidden('this access key lacks the right devices:update');
  }
  if (devices !== undefined && !devices.has(id)) {
    throw forbidden(`this access key is not for the device ${id}`);
  }
}
