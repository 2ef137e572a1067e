import type { Device } from '../../domain/devices/device.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { topicsOfPart } from '../../domain/messaging/place.ts';
import { passing, type ReadLastValues } from '../device-filter.ts';
import {
  isVisible,
  type MemoryState,
  removeDevice,
  removeRetained,
  sameUsername,
  withChanges,
} from './memory-state.ts';

/** Devices in memory. */
export function createDeviceStore(state: MemoryState, readLastValues: ReadLastValues): DeviceStore {
  const { devices } = state;

  function change(id: DeviceId, changes: Partial<Device>): void {
    const device = devices.get(id);
    if (device !== undefined) devices.set(id, withChanges(device, changes));
  }

  return {
    async insert(device) {
      if (devices.has(device.id)) return 'duplicate';
      const sensors = lastOfEach(device.sensors);
      devices.set(device.id, { ...device, sensors, actuators: lastOfEach(device.actuators) });
      return 'inserted';
    },
    find: async (id) => devices.get(id),
    async list({ visibleTo, filter, maySeeValues, limit, offset }) {
      const visible = [...devices.values()].filter((device) =>
        isVisible(state, 'device', device, visibleTo),
      );
      const matching =
        filter === undefined
          ? visible
          : await passing(visible, filter, { maySeeValues, readLastValues });
      return { devices: matching.slice(offset, offset + limit), total: matching.length };
    },
    countOwnedBy: async (owner) =>
      [...devices.values()].filter((device) => sameUsername(device.owner, owner)).length,
    async update(id, changes, at) {
      const device = devices.get(id);
      if (device === undefined) return 'missing';
      const { owner = device.owner, ...others } = changes;
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
      removeRetained(state, topicsOfPart(id, 'sensor', sensorId));
      state.forgetDatapoints(id, sensorId);
      return 'removed';
    },
    async putActuator(id, actuator, at) {
      const known = devices.get(id)?.actuators;
      const value = known?.find((other) => other.id === actuator.id)?.value;
      const kept = actuator.value === undefined && value !== undefined ? { value } : {};
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
    async removeActuator(id, actuatorId, at) {
      const actuators = withoutPart(devices.get(id)?.actuators, actuatorId);
      if (actuators === 'missing') return actuators;
      change(id, { actuators, modifiedAt: at });
      removeRetained(state, topicsOfPart(id, 'actuator', actuatorId));
      return 'removed';
    },
  };
}

interface Part {
  readonly id: string;
}

/** One part per id: the last description, in the place of the first. */
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
