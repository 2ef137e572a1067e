import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import {
  createStorageQuotas,
  type Disk,
  type StorageQuotas,
} from '../domain/budgets/storage-quotas.ts';
import type { ChangeFeed } from '../domain/changes.ts';
import { bytesPerWeight, weightOfBatch } from '../domain/datapoints/column-batch.ts';
import type { AppendOutcome, Push } from '../domain/datapoints/datapoint-store.ts';
import { actuatorOf, type Device, type DeviceStore, sensorOf } from '../domain/devices/device.ts';
import type { DeviceDirectory } from '../domain/devices/devices.ts';
import type { DeviceId, SensorId, Username } from '../domain/ids.ts';
import type { Log } from '../lib/log.ts';
import { createKeyedSequence } from '../lib/scheduling/payer-queues.ts';
import { descriptionBytes, partBytes } from '../storage/sql/stored-bytes.ts';
import type { ServiceStorage } from './service-parts.ts';
import { uncountedStores } from './uncounted-stores.ts';

/** The storage with its quotas, and with what is there already counted. */
export async function openStorageQuotas(options: {
  readonly config: Config;
  readonly storage: ServiceStorage;
  readonly changes: Pick<ChangeFeed, 'onChange'>;
  readonly log: Log;
}): Promise<{ readonly storage: ServiceStorage; readonly room: StorageQuotas }> {
  const { config, storage, changes, log } = options;
  const { engine, directory, ...limits } = config.storage;
  const disk = engine !== 'sqlite' ? noDisk : watchDisk(directory, log);
  const room = createStorageQuotas({ ...limits, disk });
  const followSignUps = async () => {
    for (const username of await storage.users.signUps()) room.setSignUp(username, true);
  };
  await followSignUps();
  room.recount(await storage.devices.storedByOwner());
  const strangers = createStrangerCount(storage.devices, room);
  await strangers.load();
  changes.onChange(async (change) => {
    if (change.kind === 'anything') await followSignUps();
    if (change.kind !== 'user_added') return;
    const user = await storage.users.find(change.userId);
    if (user !== undefined) room.setSignUp(user.username, user.isSignUp === true);
  });
  return { storage: createStorageCount(storage, room, strangers, log), room };
}

/**
 * The storage, with what it takes counted for each owner: whatever path something takes to disk, or
 * is removed by, it ends here. What is there already is counted by `recount`.
 */
function createStorageCount(
  storage: ServiceStorage,
  room: StorageQuotas,
  strangers: StrangerCount,
  log: Log,
): ServiceStorage {
  const { users, datapoints } = storage;

  /**
   * Stored bytes that no owner has been charged for, and those of strangers among them: owners of
   * these devices are not read yet.
   */
  const uncounted = new Map<DeviceId, { readonly bytes: number; readonly ofStrangers: number }>();
  let isCounting = false;

  /** Neighbours in a batch mostly have one owner: what they take is added at once. */
  function countBatch(batch: readonly Push[], outcomes: readonly AppendOutcome[]): void {
    let owner: Username | undefined;
    let weight = 0;
    const add = (): void => {
      if (owner !== undefined) room.add(owner, bytesPerWeight * weight);
      weight = 0;
    };
    for (let at = 0; at < batch.length; at += 1) {
      const outcome = outcomes[at];
      const push = batch[at];
      if (push === undefined) continue;
      const stored = (outcome?.kind === 'stored' && outcome.weight) || 0;
      const bytes = bytesPerWeight * stored;
      const ofStranger = push.isByStranger === true ? bytes : 0;
      if (push.isByStranger === true) strangers.settle(push, bytes);
      if (stored === 0) continue;
      // At hand, as it was asked for its rights a moment ago.
      const device = storage.devices.peek(push.deviceId);
      if (device === undefined) {
        const known = uncounted.get(push.deviceId) ?? { bytes: 0, ofStrangers: 0 };
        const ofStrangers = known.ofStrangers + ofStranger;
        uncounted.set(push.deviceId, { bytes: known.bytes + bytes, ofStrangers });
        continue;
      }
      if (device.owner !== owner) add();
      owner = device.owner;
      weight += stored;
      if (ofStranger > 0) room.strangers.add(owner, ofStranger);
    }
    add();
    if (uncounted.size > 0 && !isCounting) void countLater();
  }

  /** Charges the owner for what is not counted yet of the device. */
  function countNow({ id, owner }: Device): void {
    const { bytes = 0, ofStrangers = 0 } = uncounted.get(id) ?? {};
    uncounted.delete(id);
    room.add(owner, bytes);
    room.strangers.add(owner, ofStrangers);
  }

  /** The values are stored: no answer waits for this. What fails is tried with the next batch. */
  async function countLater(): Promise<void> {
    isCounting = true;
    try {
      for (const id of uncounted.keys()) {
        const device = await storage.devices.find(id);
        if (device === undefined) uncounted.delete(id);
        else countNow(device);
      }
    } catch (error) {
      log.debug({ err: error }, 'what devices store could not be counted');
    } finally {
      isCounting = false;
    }
  }

  return {
    ...storage,
    devices: countedDevices(storage.devices, room, strangers, countNow),
    ...uncountedStores(storage, room),
    users: {
      ...users,
      async insert(user, passwordHash) {
        room.requireDisk();
        const outcome = await users.insert(user, passwordHash);
        if (outcome === 'inserted') room.setSignUp(user.username, user.isSignUp === true);
        return outcome;
      },
      async remove(id) {
        const user = await users.find(id);
        const outcome = await users.remove(id);
        if (outcome !== 'missing' && user !== undefined) {
          room.add(user.username, -room.useOf(user.username).used);
          room.strangers.add(user.username, -room.strangers.of(user.username));
          room.setSignUp(user.username, false);
        }
        return outcome;
      },
    },
    retaining: {
      ...storage.retaining,
      async step(sensor, limits) {
        const step = await storage.retaining.step(sensor, limits);
        const owner = (await storage.devices.find(sensor.deviceId))?.owner;
        if (owner === undefined) return step;
        room.add(owner, -step.bytes);
        await strangers.giveBack(sensor.deviceId, owner, step.bytes);
        return step;
      },
    },
    datapoints: {
      ...datapoints,
      async append(batch, notesOf) {
        const kept = strangers.keep(batch)?.catch(() => undefined);
        const outcomes = await datapoints.append(batch, notesOf);
        await kept;
        countBatch(batch, outcomes);
        return outcomes;
      },
    },
  };
}

function countedDevices(
  devices: DeviceDirectory,
  room: StorageQuotas,
  strangers: StrangerCount,
  countNow: (device: Device) => void,
): DeviceDirectory {
  /** Changes of one device: each is counted by what was there before and is there afterwards. */
  const inTurn = createKeyedSequence();

  const changing = <Outcome>(
    id: DeviceId,
    change: () => Promise<Outcome>,
    bytesOf: (device: Device) => number,
  ): Promise<Outcome> =>
    inTurn(id, async () => {
      const before = await devices.find(id);
      const outcome = await change();
      const after = before && (await devices.find(id));
      if (before && after) room.add(after.owner, bytesOf(after) - bytesOf(before));
      return outcome;
    });

  /** A write of the part that `partOf` finds by what stands behind the id of the device. */
  const changingPart =
    <Named, Given extends readonly unknown[], Outcome>(
      partOf: (device: Device, named: Named) => Parameters<typeof sizeOf>[0],
      write: (id: DeviceId, named: Named, ...given: Given) => Promise<Outcome>,
    ) =>
    (id: DeviceId, named: Named, ...given: Given): Promise<Outcome> =>
      changing(
        id,
        () => write(id, named, ...given),
        (device) => sizeOf(partOf(device, named)),
      );

  /** The bytes of a device or sensor, those of strangers on the device, and the device itself. */
  const standing = (id: DeviceId, sensorId?: SensorId) =>
    Promise.all([devices.storedBytes(id, sensorId), devices.strangerBytes(id), devices.find(id)]);

  const removing = <Outcome extends string>(
    id: DeviceId,
    sensorId: SensorId | undefined,
    removal: () => Promise<Outcome>,
  ): Promise<Outcome> =>
    inTurn(id, async () => {
      const [freed, ofStrangers, device] = await standing(id, sensorId);
      if (device !== undefined) countNow(device);
      const outcome = await removal();
      if (outcome === 'missing' || device === undefined) return outcome;
      room.add(device.owner, -freed);
      if (sensorId === undefined) room.strangers.add(device.owner, -ofStrangers);
      else await strangers.giveBack(id, device.owner, freed);
      return outcome;
    });

  const handingOver = <Outcome>(
    id: DeviceId,
    owner: Username,
    change: () => Promise<Outcome>,
  ): Promise<Outcome> =>
    inTurn(id, async () => {
      const [bytes, ofStrangers, before] = await standing(id);
      if (before !== undefined) countNow(before);
      const outcome = await change();
      if (before === undefined || outcome === 'missing') return outcome;
      room.add(before.owner, -bytes);
      room.add(owner, await devices.storedBytes(id));
      room.strangers.add(before.owner, -ofStrangers);
      room.strangers.add(owner, ofStrangers);
      return outcome;
    });

  return {
    ...devices,
    async insert(device) {
      const outcome = await devices.insert(device);
      if (outcome === 'inserted') room.add(device.owner, descriptionBytes(device));
      return outcome;
    },
    update(id, changes, at) {
      const change = () => devices.update(id, changes, at);
      return changes.owner === undefined
        ? changing(id, change, bytesOfFields)
        : handingOver(id, changes.owner, change);
    },
    remove: (id) => removing(id, undefined, () => devices.remove(id)),
    putSensor: changingPart((device, { id }) => sensorOf(device, id), devices.putSensor),
    updateSensor: changingPart(sensorOf, devices.updateSensor),
    removeSensor: (id, sensorId, at) =>
      removing(id, sensorId, () => devices.removeSensor(id, sensorId, at)),
    putActuator: changingPart((device, { id }) => actuatorOf(device, id), devices.putActuator),
    stepActuator: changingPart(actuatorOf, devices.stepActuator),
    updateActuator: changingPart(actuatorOf, devices.updateActuator),
    removeActuator: changingPart(actuatorOf, devices.removeActuator),
  };
}

/** Of the device itself, without its sensors and actuators. */
const bytesOfFields = (device: Device): number =>
  descriptionBytes({ ...device, sensors: [], actuators: [] });

const sizeOf = (part: Parameters<typeof partBytes>[0] | undefined): number =>
  part === undefined ? 0 : partBytes(part);

/** How often what other processes counted is read, while strangers push. */
const readAgainMs = 10_000;
/** Bytes that strangers store: kept beside each device, so as to be known after a restart. */
type StrangerCount = ReturnType<typeof createStrangerCount>;

function createStrangerCount(
  devices: Pick<
    DeviceStore,
    'strangerBytes' | 'strangersByOwner' | 'addStrangerBytes' | 'storedBytes'
  >,
  room: Pick<StorageQuotas, 'strangers'>,
) {
  /** Bytes to give back with the next batch. */
  let surplus = new Map<DeviceId, number>();
  let readAt = performance.now();
  const bytesOf = ({ batch }: Push): number => bytesPerWeight * weightOfBatch(batch);

  /** Reads what is kept. */
  async function load(): Promise<void> {
    readAt = performance.now();
    room.strangers.recount(await devices.strangersByOwner());
  }

  return {
    load,
    /**
     * Keeps what the batch brings of strangers, beside its own commit; undefined: nothing. What is
     * there already, or is not stored, is given back with `settle`.
     */
    keep(batch: readonly Push[]): Promise<void> | undefined {
      if (!batch.some(({ isByStranger }) => isByStranger === true)) return undefined;
      const added = surplus;
      surplus = new Map();
      for (const push of batch) {
        if (push.isByStranger !== true) continue;
        added.set(push.deviceId, (added.get(push.deviceId) ?? 0) + bytesOf(push));
      }
      // Of other processes; what fails is read the next time.
      if (performance.now() - readAt > readAgainMs) void load().catch(() => undefined);
      return devices.addStrangerBytes(added);
    },
    /** Gives back what was kept for a push and not stored: of it so many bytes are. */
    settle(push: Push, bytes: number): void {
      const less = bytesOf(push) - bytes;
      if (less > 0) surplus.set(push.deviceId, (surplus.get(push.deviceId) ?? 0) - less);
    },
    /** Gives back the strangers' part of what was freed of a device. */
    async giveBack(deviceId: DeviceId, owner: Username, freed: number): Promise<void> {
      if (freed <= 0 || room.strangers.of(owner) === 0) return;
      const [ofStrangers, left] = await Promise.all([
        devices.strangerBytes(deviceId),
        devices.storedBytes(deviceId),
      ]);
      // Unknown whose datapoints went: as many of strangers as there are among all.
      const bytes = Math.min(ofStrangers, Math.ceil((ofStrangers * freed) / (left + freed)));
      if (bytes === 0) return;
      await devices.addStrangerBytes(new Map([[deviceId, -bytes]]));
      room.strangers.add(owner, -bytes);
    },
  };
}

const lookMs = 1_000;
/** For engines whose data is not on a disk of this machine. */
const noDisk: Disk = { freeBytes: () => undefined, sizeBytes: undefined };

/** The disk that a directory is on; checked once a second at most, and only when asked. */
function watchDisk(directory: string, log: Log): Disk {
  let free: number | undefined;
  let sizeBytes: number | undefined;
  let isFailing = false;
  /** A timer keeps it, since each push asks: to read the clock costs more than all else. */
  let isRecent = true;
  const outdateLater = () => {
    setTimeout(() => {
      isRecent = false;
    }, lookMs).unref();
  };

  function tell(error: unknown): void {
    free = undefined;
    if (!isFailing) log.warn({ err: error, directory }, 'the free space of the disk is unknown');
    isFailing = true;
  }

  async function look(): Promise<void> {
    isRecent = true;
    try {
      const { bavail, bsize } = await statfs(directory);
      free = bavail * bsize;
      isFailing = false;
    } catch (error) {
      tell(error);
    } finally {
      outdateLater();
    }
  }

  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    free = bavail * bsize;
    sizeBytes = blocks * bsize;
  } catch (error) {
    tell(error);
  }
  outdateLater();
  return {
    sizeBytes,
    freeBytes() {
      if (!isRecent) void look();
      return free;
    },
  };
}
