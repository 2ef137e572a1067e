import type { Config } from '../config/config.ts';
import { createStorageRoom, type StorageRoom } from '../domain/budgets/storage-room.ts';
import { bytesPerWeight } from '../domain/datapoints/weight.ts';
import { actuatorOf, type Device, sensorOf } from '../domain/devices/device.ts';
import type { DeviceDirectory } from '../domain/devices/device-directory.ts';
import type { DeviceId } from '../domain/ids.ts';
import type { Log } from '../lib/log.ts';
import { descriptionBytes, partBytes } from '../storage/sql/stored-size.ts';
import { noDisk, watchDisk } from './disk-space.ts';
import type { ServiceStorage } from './service-storage.ts';

/** The storage with its quotas, and with what is there already counted. */
export async function openStorageRoom(options: {
  readonly config: Config;
  readonly storage: ServiceStorage;
  readonly log: Log;
}): Promise<{ readonly storage: ServiceStorage; readonly room: StorageRoom }> {
  const { config, storage, log } = options;
  const { engine, directory, ...limits } = config.storage;
  const disk = engine === 'memory' ? noDisk : watchDisk(directory, log);
  const room = createStorageRoom({ ...limits, disk });
  room.recount(await storage.devices.storedByOwner());
  return { storage: createStorageCount(storage, room), room };
}

/**
 * The storage, with what it takes counted for each owner: whatever path something takes to disk, or
 * is removed by, it ends here. What is there already is counted by `recount`.
 */
function createStorageCount(storage: ServiceStorage, room: StorageRoom): ServiceStorage {
  const { users, gateways, projects, notifications, socials, datapoints } = storage;
  const whileThereIsRoom =
    <Arguments extends readonly unknown[], Outcome>(
      insert: (...given: Arguments) => Promise<Outcome>,
    ) =>
    async (...given: Arguments): Promise<Outcome> => {
      room.requireDisk();
      return insert(...given);
    };
  return {
    ...storage,
    devices: countedDevices(storage.devices, room),
    gateways: { ...gateways, insert: whileThereIsRoom(gateways.insert) },
    projects: { ...projects, insert: whileThereIsRoom(projects.insert) },
    notifications: { ...notifications, insert: whileThereIsRoom(notifications.insert) },
    socials: { ...socials, insert: whileThereIsRoom(socials.insert) },
    users: {
      ...users,
      insert: whileThereIsRoom(users.insert),
      async remove(id) {
        const user = await users.find(id);
        const outcome = await users.remove(id);
        if (outcome !== 'missing' && user !== undefined) {
          room.add(user.username, -room.useOf(user.username).used);
        }
        return outcome;
      },
    },
    datapoints: {
      ...datapoints,
      async append(batch) {
        const outcomes = await datapoints.append(batch);
        for (const [at, outcome] of outcomes.entries()) {
          const id = batch[at]?.deviceId;
          if (outcome.kind !== 'stored' || outcome.weight === undefined || id === undefined)
            continue;
          const bytes = bytesPerWeight * outcome.weight;
          // At hand, as it was asked for its rights a moment ago.
          const device = storage.devices.peek(id) ?? (await storage.devices.find(id));
          if (device !== undefined) room.add(device.owner, bytes);
        }
        return outcomes;
      },
    },
  };
}

function countedDevices(devices: DeviceDirectory, room: StorageRoom): DeviceDirectory {
  /** Counts what a change of the description adds or takes away. */
  async function changing<Outcome>(
    id: DeviceId,
    change: () => Promise<Outcome>,
    bytesOf: (device: Device) => number,
  ): Promise<Outcome> {
    const before = await devices.find(id);
    const outcome = await change();
    if (before === undefined || outcome === 'missing' || outcome === 'too_many') return outcome;
    const after = await devices.find(id);
    if (after !== undefined) room.add(after.owner, bytesOf(after) - bytesOf(before));
    return outcome;
  }

  async function removing<Outcome extends string>(
    id: DeviceId,
    bytes: Promise<number>,
    removal: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const [freed, device] = await Promise.all([bytes, devices.find(id)]);
    const outcome = await removal();
    if (outcome !== 'missing' && device !== undefined) room.add(device.owner, -freed);
    return outcome;
  }

  return {
    ...devices,
    async insert(device) {
      const outcome = await devices.insert(device);
      if (outcome === 'inserted') room.add(device.owner, descriptionBytes(device));
      return outcome;
    },
    async update(id, changes, at) {
      const before = await devices.find(id);
      const isMoving = changes.owner !== undefined && changes.owner !== before?.owner;
      const moved = isMoving ? await devices.storedBytes(id) : 0;
      const bytesOf = (device: Device) =>
        descriptionBytes({ ...device, sensors: [], actuators: [] });
      const outcome = await changing(id, () => devices.update(id, changes, at), bytesOf);
      if (
        outcome === 'updated' &&
        isMoving &&
        before !== undefined &&
        changes.owner !== undefined
      ) {
        room.add(before.owner, -moved);
        room.add(changes.owner, moved);
      }
      return outcome;
    },
    remove: (id) => removing(id, devices.storedBytes(id), () => devices.remove(id)),
    putSensor: (id, sensor, at) =>
      changing(
        id,
        () => devices.putSensor(id, sensor, at),
        (device) => sizeOf(sensorOf(device, sensor.id)),
      ),
    updateSensor: (id, sensorId, changes, at) =>
      changing(
        id,
        () => devices.updateSensor(id, sensorId, changes, at),
        (device) => sizeOf(sensorOf(device, sensorId)),
      ),
    removeSensor: (id, sensorId, at) =>
      removing(id, devices.storedBytes(id, sensorId), () => devices.removeSensor(id, sensorId, at)),
    putActuator: (id, actuator, at) =>
      changing(
        id,
        () => devices.putActuator(id, actuator, at),
        (device) => sizeOf(actuatorOf(device, actuator.id)),
      ),
    stepActuator: (id, actuatorId, step) =>
      changing(
        id,
        () => devices.stepActuator(id, actuatorId, step),
        (device) => sizeOf(actuatorOf(device, actuatorId)),
      ),
    updateActuator: (id, actuatorId, changes, at) =>
      changing(
        id,
        () => devices.updateActuator(id, actuatorId, changes, at),
        (device) => sizeOf(actuatorOf(device, actuatorId)),
      ),
    removeActuator: (id, actuatorId, at) =>
      changing(
        id,
        () => devices.removeActuator(id, actuatorId, at),
        (device) => sizeOf(actuatorOf(device, actuatorId)),
      ),
  };
}

const sizeOf = (part: Parameters<typeof partBytes>[0] | undefined): number =>
  part === undefined ? 0 : partBytes(part);
