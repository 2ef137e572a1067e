import { createReadThroughCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import type { GrantStore } from '../access/grant.ts';
import { acceptorOf, handingOver } from '../access/handing-over.ts';
import { type Access, byRight } from '../access/policy.ts';
import type { Resource } from '../access/scopes.ts';
import type { Viewer } from '../access/viewer.ts';
import { type Actor, usernameOf } from '../actor.ts';
import { createGuestShares, makeWithin } from '../budgets/guest-shares.ts';
import type { StorageQuotas } from '../budgets/storage-quotas.ts';
import type { ChangeSource } from '../changes.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { type DeviceId, guestUsername, type SensorId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { ListPart } from '../listing.ts';
import type { UserStore } from '../users/user.ts';
import {
  type Device,
  type DeviceChanges,
  type DeviceHead,
  type DeviceStore,
  requireRoomOn,
  type Sensor,
  type SensorChanges,
  type SomeDevices,
  sensorOf,
} from './device.ts';

/** The store of devices behind a read-through cache: every push and every delivery asks. */
export interface DeviceDirectory extends DeviceStore {
  /** The device, if it is at hand now. Undefined: not known, ask `find`. */
  peek(id: DeviceId): Device | undefined;
}

/** Remembers whole devices until they change. */
export function createDeviceDirectory(store: DeviceStore, changes: ChangeSource): DeviceDirectory {
  const remembering = (entriesMax: number, max: number) =>
    createReadThroughCache<DeviceId, Device | undefined>({
      ...{ entriesMax, weight: { max, weigh: charactersOf } },
      isCurrent: (readAt) => changes.isCurrent?.(readAt) !== false,
    });
  const { deviceCacheEntriesMax: most, deviceCacheCharactersMax: charactersMax } = limits;
  const devices = remembering(most, charactersMax);
  /** Devices of short lists, which many ask for again, apart: they push none of the others out. */
  const listed = remembering(most / listedShare, charactersMax / listedShare);
  let changesSeen = 0;
  function forget(id: DeviceId): void {
    changesSeen += 1;
    devices.forget(id);
    listed.forget(id);
  }
  changes.onChange(async (change) => {
    if ('deviceId' in change) forget(change.deviceId);
    if (change.kind !== 'anything') return;
    changesSeen += 1;
    devices.clear();
    listed.clear();
  });

  /** Devices of which something is being removed, as often: a reader looks whether it is there. */
  const leaving = new Map<DeviceId, number>();
  const peek = (id: DeviceId): Device | undefined =>
    leaving.size > 0 && leaving.has(id) ? undefined : devices.peek(id);

  /** Remembers nothing of the device from before the removal to its end. */
  async function removing<Outcome>(id: DeviceId, remove: () => Promise<Outcome>): Promise<Outcome> {
    leaving.set(id, (leaving.get(id) ?? 0) + 1);
    forget(id);
    try {
      return await remove();
    } finally {
      const left = (leaving.get(id) ?? 0) - 1;
      if (left > 0) leaving.set(id, left);
      else leaving.delete(id);
    }
  }

  /** Reads cached devices at the head of the ids. */
  function peekSome(ids: readonly DeviceId[]): SomeDevices {
    const known: Device[] = [];
    let parts = 0;
    for (const id of ids) {
      const device = peek(id) ?? (leaving.size > 0 ? undefined : listed.peek(id));
      if (device === undefined || parts > limits.deviceCachePartsPerSlice) break;
      parts += 1 + device.sensors.length + device.actuators.length;
      known.push(device);
    }
    return { devices: known, taken: known.length };
  }

  return {
    ...store,
    peek,
    find: (id) => (leaving.has(id) ? store.find(id) : devices.get(id, () => store.find(id))),
    remove: (id) => removing(id, () => store.remove(id)),
    removeSensor: (id, ...sensor) => removing(id, () => store.removeSensor(id, ...sensor)),
    // Lists pass by many devices once: they use what is remembered and do not push it out.
    async readSome(ids) {
      const known = peekSome(ids);
      if (known.taken > 0) return known;
      const [seenBefore, readAt] = [changesSeen, performance.now()];
      const read = await store.readSome(ids);
      if (ids.length > limits.devicesPageDefault) return read;
      // A change meanwhile may be of one of them.
      if (changesSeen === seenBefore && leaving.size === 0) {
        for (const device of read.devices) listed.keep(device.id, device, readAt);
      }
      return read;
    },
  };
}

/** The memory for lists is this part of that for pushes; it divides both limits. */
const listedShare = 16;
/** Memory of a device and of each of its parts beside its texts. */
const charactersPerPart = 96;
/** Of its signs, or as a number. */
const charactersPerValue = 5;

function charactersOf(device: Device | undefined): number {
  if (device === undefined) return 0;
  const parts = 1 + device.sensors.length + device.actuators.length;
  return charactersIn(device) + charactersPerPart * parts;
}

/** About as many characters as its JSON text has, which is not written for it. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return charactersPerValue;
  let sum = charactersPerValue;
  if (Array.isArray(value)) for (const one of value) sum += 1 + charactersIn(one);
  else {
    for (const key of Object.keys(value)) {
      sum += key.length + charactersPerValue + charactersIn(Reflect.get(value, key));
    }
  }
  return sum;
}

/** Description of a new device by a client; owner and dates are the service's to say. */
export type NewDevice = Omit<Device, 'owner' | 'createdAt' | 'modifiedAt'>;

/** The device as the policy sees it. */
export function deviceResource(device: DeviceHead): Resource {
  const { id, owner, visibility, createdAt } = device;
  return visibility === undefined
    ? { kind: 'device', id, owner, createdAt }
    : { kind: 'device', id, owner, createdAt, visibility };
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

/** Devices and their sensors, with the rights of [contract 4]. */
export function createDevices(options: {
  readonly store: DeviceStore;
  readonly users: UserStore;
  readonly grants: Pick<GrantStore, 'find' | 'put' | 'remove'>;
  readonly access: Access;
  readonly clock: Clock;
  readonly room: StorageQuotas;
}) {
  const { store, access, clock, room } = options;
  const shares = createGuestShares();
  const inTurn = createKeyedSequence();
  /** Bound from below for what is made from now on: made again it is younger, always. */
  let removedAt = 0;
  const requireRight = byRight(access, store, requireDevice, deviceResource);

  async function change(id: DeviceId, changes: DeviceChanges): Promise<void> {
    if ((await store.update(id, changes, clock.now())) === 'missing') throw noDevice(id);
  }

  return {
    /** Creates a device; without a token it belongs to the guest and is public [spec 5.5]. */
    async create(actor: Actor, device: NewDevice): Promise<void> {
      requireCreation(actor, device.id);
      const now = Math.max(clock.now(), removedAt + 1);
      const made: Device = {
        ...device,
        ...(actor.kind === 'guest' && { visibility: 'public' }),
        ...{ owner: usernameOf(actor), createdAt: now, modifiedAt: now },
      };
      room.require(actor, made.owner);
      const guests = { shares, what: 'devices', max: limits.guestDevicesMax, store };
      const outcome = await makeWithin(guests, actor, () => store.insert(made));
      if (outcome === 'duplicate') throw conflict(`the device id ${device.id} is taken`);
      room.addFor(actor, made.owner, JSON.stringify(made).length);
    },
    /** The device, if the actor may view it. Throws not_found, forbidden. */
    get: (actor: Actor, id: DeviceId) => requireRight(actor, 'devices:view', id),
    list: ({ viewer, ...page }: ListPart & { readonly viewer: Viewer }) =>
      store.list({ ...page, visibleTo: viewer.visibleTo }),
    /** As many of these devices as fit into memory; those that its viewer may view. */
    async readSome(viewer: Viewer, ids: readonly DeviceId[]): Promise<SomeDevices> {
      const { devices, taken } = await store.readSome(ids);
      const mayView = (device: Device) => viewer.may('devices:view', deviceResource(device));
      return { devices: devices.filter(mayView), taken };
    },
    async update(actor: Actor, id: DeviceId, changes: DeviceChanges): Promise<void> {
      const device = await requireRight(actor, 'devices:update', id);
      if (changes.visibility === 'private' && device.owner === guestUsername) {
        throw invalid('a device without an owner is always public: set its owner first');
      }
      if (changes.meta !== undefined) room.require(actor, device.owner);
      await change(id, changes);
    },
    /** Offers the device to another user, or takes it back; admins hand it over at once. */
    handOver: (actor: Actor, id: DeviceId, owner: Username) =>
      inTurn(id, async () => {
        const { offeredTo, ...device } = await requireDevice(store, id);
        const resource = deviceResource(device);
        const changes = await handingOver(options, actor, { resource, offeredTo }, owner);
        // The store ends the grants in the same step.
        await change(id, { ...changes, isPending: undefined });
      }),
    /** Takes what was offered to the actor: from then on it is the actor's, with its bytes. */
    accept: (actor: Actor, id: DeviceId) =>
      inTurn(id, async () => {
        const { offeredTo, ...device } = await requireDevice(store, id);
        const owner = acceptorOf(access, actor, { resource: deviceResource(device), offeredTo });
        if (owner !== undefined) {
          room.require(actor, owner, await store.storedBytes(id));
          await change(id, { owner, offeredTo: undefined, isPending: undefined });
        } else if (device.isPending === true) await change(id, { isPending: undefined });
      }),
    async remove(actor: Actor, id: DeviceId): Promise<void> {
      const { createdAt } = await requireRight(actor, 'devices:delete', id);
      removedAt = Math.max(removedAt, createdAt, clock.now());
      if ((await store.remove(id)) === 'missing') throw noDevice(id);
    },
    async getSensor(actor: Actor, id: DeviceId, sensorId: SensorId): Promise<[Device, Sensor]> {
      const device = await requireRight(actor, 'devices:view', id);
      const sensor = sensorOf(device, sensorId);
      if (sensor === undefined) throw noSensor(id, sensorId);
      return [device, sensor];
    },
    /** Adds the sensor, or replaces its description and keeps its datapoints [contract 2]. */
    async putSensor(actor: Actor, id: DeviceId, sensor: Sensor): Promise<void> {
      const device = await requireRight(actor, 'devices:update', id);
      room.require(actor, device.owner);
      // A program that describes its sensors at each start knows nothing of it [contract 15].
      const measures = sensor.measures ?? sensorOf(device, sensor.id)?.measures;
      const kept = measures === undefined ? sensor : { ...sensor, measures };
      requireRoomOn(actor, device, sensor.id, kept);
      const outcome = await store.putSensor(id, kept, clock.now());
      if (outcome === 'missing') throw noDevice(id);
      if (outcome === 'too_many') {
        throw invalid(`a device may have ${limits.sensorsPerDeviceMax} sensors`);
      }
    },
    async updateSensor(
      actor: Actor,
      id: DeviceId,
      sensorId: SensorId,
      changes: SensorChanges,
    ): Promise<void> {
      const device = await requireRight(actor, 'devices:update', id);
      if (changes.meta !== undefined) room.require(actor, device.owner);
      requireRoomOn(actor, device, sensorId, { ...sensorOf(device, sensorId), ...changes });
      const outcome = await store.updateSensor(id, sensorId, changes, clock.now());
      if (outcome === 'missing') throw noSensor(id, sensorId);
    },
    async removeSensor(actor: Actor, id: DeviceId, sensorId: SensorId): Promise<void> {
      await requireRight(actor, 'devices:update', id);
      const outcome = await store.removeSensor(id, sensorId, clock.now());
      if (outcome === 'missing') throw noSensor(id, sensorId);
    },
  };
}
export type Devices = ReturnType<typeof createDevices>;

/** Every actor may create a device; a key only within its limits. */
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

/** Devices that one commit removes: what they begin at once holds the event loop for 5 ms or so. */
const removedTogether = 32;

/**
 * Removes the devices of an owner, some of them at a time: an account may have millions, and in one
 * step all other writes would wait for them.
 */
export async function removeDevicesOf(
  store: Pick<DeviceStore, 'candidates' | 'readSome' | 'remove'>,
  owner: Username,
): Promise<void> {
  const wanted = owner.toLowerCase();

  async function removeAll(found: readonly DeviceHead[]): Promise<void> {
    for (let ids = found.map(({ id }) => id); ids.length > 0; ) {
      // Just before: meanwhile another account may have accepted one, or made one of the same id.
      const { devices, taken } = await store.readSome(ids.slice(0, removedTogether));
      const owned = devices.filter((device) => device.owner.toLowerCase() === wanted);
      await Promise.all(owned.map(({ id }) => store.remove(id)));
      ids = ids.slice(taken);
    }
  }

  const search = { visibleTo: { who: 'everything' }, equals: new Map([['owner', owner]]) } as const;
  let page = await store.candidates(search);
  await removeAll(page.devices);
  while (page.next !== undefined) {
    page = await store.candidates({ ...search, after: page.next });
    await removeAll(page.devices);
  }
}
