import type { VisibleTo } from '../../domain/access/viewer.ts';
import { bytesPerWeight } from '../../domain/datapoints/weight.ts';
import type { Actuator } from '../../domain/devices/actuator.ts';
import { actuatorAfter } from '../../domain/devices/actuator-step.ts';
import { actuatorOf, type Device, sensorOf } from '../../domain/devices/device.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { withChanges } from '../../lib/record.ts';
import { descriptionBytes, partBytes } from '../sql/stored-size.ts';
import type { MemoryDatapoints } from './datapoints.ts';
import {
  isVisible,
  type MemoryState,
  removeDevice,
  removeGrantsOn,
  sameUsername,
} from './memory-state.ts';

/** Devices in memory. */
export function createDeviceStore(
  state: MemoryState,
  datapoints: Pick<MemoryDatapoints, 'weightOf'>,
): DeviceStore {
  const { devices } = state;

  const bytesOf = (device: Device): number =>
    descriptionBytes(device) + bytesPerWeight * datapoints.weightOf(device.id);

  function change(id: DeviceId, changes: Partial<Device>): void {
    const device = devices.get(id);
    if (device !== undefined) devices.set(id, withChanges(device, changes));
  }

  const visibleOf = (visibleTo: VisibleTo): readonly Device[] =>
    [...devices.values()].filter((device) => isVisible(state, 'device', device, visibleTo));

  return {
    async insert(device) {
      if (devices.has(device.id)) return 'duplicate';
      const sensors = lastOfEach(device.sensors);
      devices.set(device.id, { ...device, sensors, actuators: lastOfEach(device.actuators) });
      return 'inserted';
    },
    find: async (id) => devices.get(id),
    async list({ visibleTo, limit, offset }) {
      const visible = visibleOf(visibleTo);
      const page = visible
        .slice(offset, offset + limit)
        .map(({ id, owner, visibility, createdAt }) => ({
          ...{ id, owner, createdAt },
          ...(visibility !== undefined && { visibility }),
        }));
      return { devices: page, total: visible.length };
    },
    candidates: async ({ visibleTo }) => ({
      ids: visibleOf(visibleTo).map(({ id }) => id),
      next: undefined,
    }),
    async readSome(ids) {
      const found = ids.map((id) => devices.get(id)).filter((device) => device !== undefined);
      return { devices: found, taken: ids.length };
    },
    existing: async (parts) =>
      parts.map(({ deviceId, sensorId, actuatorId }) => {
        const device = devices.get(deviceId);
        if (device === undefined) return false;
        if (sensorId !== undefined && sensorOf(device, sensorId) === undefined) return false;
        return actuatorId === undefined || actuatorOf(device, actuatorId) !== undefined;
      }),
    countOwnedBy: async (owner) =>
      [...devices.values()].filter((device) => sameUsername(device.owner, owner)).length,
    async storedBytes(id, sensorId) {
      const device = devices.get(id);
      if (device === undefined) return 0;
      if (sensorId === undefined) return bytesOf(device);
      const sensor = sensorOf(device, sensorId);
      if (sensor === undefined) return 0;
      return partBytes(sensor) + bytesPerWeight * datapoints.weightOf(id, sensorId);
    },
    async storedByOwner() {
      const uses = new Map<Username, number>();
      for (const device of devices.values()) {
        uses.set(device.owner, (uses.get(device.owner) ?? 0) + bytesOf(device));
      }
      return uses;
    },
    ...strangerCount(state),
    async update(id, changes, at) {
      const device = devices.get(id);
      if (device === undefined) return 'missing';
      const { owner = device.owner, ...others } = changes;
      if (!sameUsername(owner, device.owner)) removeGrantsOn(state, 'device', id);
      devices.set(id, withChanges(device, { ...others, owner, modifiedAt: at }));
      return 'updated';
    },
    async remove(id) {
      if (!devices.has(id)) return 'missing';
      removeDevice(state, id);
      return 'removed';
    },
    async putSensor(id, sensor, at) {
      const sensors = withPart(devices.get(id)?.sensors, sensor);
      if (typeof sensors === 'string') return sensors;
      change(id, { sensors, modifiedAt: at });
      return 'put';
    },
    async updateSensor(id, sensorId, changes, at) {
      const sensors = devices.get(id)?.sensors;
      if (!sensors?.some((sensor) => sensor.id === sensorId)) return 'missing';
      const changed = sensors.map((sensor) =>
        sensor.id === sensorId ? withChanges(sensor, changes) : sensor,
      );
      change(id, { sensors: changed, modifiedAt: at });
      return 'updated';
    },
    async removeSensor(id, sensorId, at) {
      const sensors = withoutPart(devices.get(id)?.sensors, sensorId);
      if (sensors === 'missing') return sensors;
      change(id, { sensors, modifiedAt: at });
      state.forgetDatapoints(id, sensorId);
      return 'removed';
    },
    async putActuator(id, actuator, at) {
      const known = devices.get(id)?.actuators;
      const before = known?.find((other) => other.id === actuator.id);
      const kept = actuator.value === undefined && before ? settingOf(before) : {};
      const actuators = withPart(known, { ...actuator, ...kept });
      if (typeof actuators === 'string') return actuators;
      change(id, { actuators, modifiedAt: at });
      return 'put';
    },
    async updateActuator(id, actuatorId, changes, at) {
      const actuators = devices.get(id)?.actuators;
      if (!actuators?.some((actuator) => actuator.id === actuatorId)) return 'missing';
      const changed = actuators.map((actuator) =>
        actuator.id === actuatorId ? withChanges(actuator, changes) : actuator,
      );
      change(id, { actuators: changed, modifiedAt: at });
      return 'updated';
    },
    async stepActuator(id, actuatorId, step) {
      const actuators = devices.get(id)?.actuators;
      const before = actuators?.find((actuator) => actuator.id === actuatorId);
      if (actuators === undefined || before === undefined) return 'missing';
      const after = actuatorAfter(before, step);
      if (after === undefined) return 'unchanged';
      const changed = actuators.map((actuator) => (actuator.id === actuatorId ? after : actuator));
      const isModified = step.kind !== 'confirm';
      change(id, { actuators: changed, ...(isModified && { modifiedAt: step.at }) });
      return after;
    },
    listTimedSettings: async () =>
      [...devices.values()].flatMap(({ id: deviceId, actuators }) =>
        actuators.flatMap(({ id: actuatorId, revert }) =>
          revert === undefined ? [] : [{ deviceId, actuatorId, at: revert.at }],
        ),
      ),
    async removeActuator(id, actuatorId, at) {
      const actuators = withoutPart(devices.get(id)?.actuators, actuatorId);
      if (actuators === 'missing') return actuators;
      change(id, { actuators, modifiedAt: at });
      return 'removed';
    },
  };
}

/** The fields that a setting wrote. */
function settingOf({ value, setBy, setAt, confirmedAt, revert }: Actuator): Partial<Actuator> {
  return {
    ...(value !== undefined && { value }),
    ...(setBy !== undefined && { setBy }),
    ...(setAt !== undefined && { setAt }),
    ...(confirmedAt !== undefined && { confirmedAt }),
    ...(revert !== undefined && { revert }),
  };
}

interface Part {
  readonly id: string;
}

/** The parts, each id once: the last description, in the place of the first. */
function lastOfEach<P extends Part>(parts: readonly P[]): readonly P[] {
  return [...new Map(parts.map((part) => [part.id, part])).values()];
}

function withPart<P extends Part>(
  parts: readonly P[] | undefined,
  part: P,
): readonly P[] | 'missing' | 'too_many' {
  if (parts === undefined) return 'missing';
  const isNew = parts.every(({ id }) => id !== part.id);
  if (isNew && parts.length >= limits.sensorsPerDeviceMax) return 'too_many';
  return lastOfEach([...parts, part]);
}

function withoutPart<P extends Part>(
  parts: readonly P[] | undefined,
  id: P['id'],
): readonly P[] | 'missing' {
  const others = parts?.filter((part) => part.id !== id);
  return others === undefined || others.length === parts?.length ? 'missing' : others;
}

function strangerCount(
  state: MemoryState,
): Pick<DeviceStore, 'strangerBytes' | 'strangersByOwner' | 'addStrangerBytes'> {
  const { devices, strangerBytes } = state;
  return {
    strangerBytes: async (id) => strangerBytes.get(id) ?? 0,
    async strangersByOwner() {
      const uses = new Map<Username, number>();
      for (const [id, bytes] of strangerBytes) {
        const owner = devices.get(id)?.owner;
        if (owner !== undefined && bytes > 0) uses.set(owner, (uses.get(owner) ?? 0) + bytes);
      }
      return uses;
    },
    async addStrangerBytes(added) {
      for (const [id, bytes] of added) {
        const after = Math.max(0, (strangerBytes.get(id) ?? 0) + bytes);
        if (devices.has(id)) strangerBytes.set(id, after);
      }
    },
  };
}
