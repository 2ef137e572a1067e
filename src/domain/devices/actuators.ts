import type { Clock } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Access } from '../access/access.ts';
import type { Scope } from '../access/scopes.ts';
import type { Actor } from '../actor.ts';
import type { Envelope } from '../envelope.ts';
import { invalid, notFound } from '../errors.ts';
import type { ActuatorId, DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Actuator, ActuatorChanges } from './actuator.ts';
import { actuatorOf, type Device, withoutActuatorValues } from './device.ts';
import type { DeviceStore } from './device-store.ts';
import { deviceResource, noDevice, requireDevice } from './devices.ts';

/** That an actuator was set, durably. */
export interface ActuatorChange {
  readonly deviceId: DeviceId;
  readonly actuatorId: ActuatorId;
  readonly value: JsonValue;
  readonly envelope?: Envelope;
}

/**
 * Actuators of devices. What one is set to is data: to set it takes devices-data:create, to see it
 * devices-data:view; the rest is the device's description.
 */
export interface Actuators {
  list(actor: Actor, id: DeviceId): Promise<readonly Actuator[]>;
  get(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<Actuator>;
  /** What it is set to. Throws not_found when it never was. */
  value(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<JsonValue>;
  /** Adds the actuator, or replaces its description and keeps a value it does not speak of. */
  put(actor: Actor, id: DeviceId, actuator: Actuator): Promise<void>;
  update(
    actor: Actor,
    id: DeviceId,
    actuatorId: ActuatorId,
    changes: Omit<ActuatorChanges, 'value'>,
  ): Promise<void>;
  /** When it resolves the value is synced to disk, and those who watch were told. */
  setValue(
    actor: Actor,
    id: DeviceId,
    actuatorId: ActuatorId,
    value: JsonValue,
    envelope?: Envelope,
  ): Promise<void>;
  remove(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<void>;
  /** Throws what setValue would throw, and sets nothing. */
  requireSettable(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<void>;
}

export function createActuators(options: {
  readonly store: DeviceStore;
  readonly access: Access;
  readonly clock: Clock;
  /** Tells those who watch; must not throw. */
  readonly publish: (change: ActuatorChange) => void;
}): Actuators {
  const { store, access, clock, publish } = options;

  async function requireRight(actor: Actor, scope: Scope, id: DeviceId): Promise<Device> {
    const device = await requireDevice(store, id);
    await access.require(actor, scope, deviceResource(device));
    return device;
  }

  /** The device as the actor may see its actuators. */
  async function visible(actor: Actor, id: DeviceId): Promise<Device> {
    const device = await requireRight(actor, 'devices:view', id);
    const maySee = await access.allows(actor, 'devices-data:view', deviceResource(device));
    return maySee ? device : withoutActuatorValues(device);
  }

  return {
    list: async (actor, id) => (await visible(actor, id)).actuators,
    get: async (actor, id, actuatorId) => requireActuator(await visible(actor, id), actuatorId),
    async value(actor, id, actuatorId) {
      const device = await requireRight(actor, 'devices-data:view', id);
      const { value } = requireActuator(device, actuatorId);
      if (value === undefined) throw notFound(`actuator ${actuatorId} was never set`);
      return value;
    },
    async put(actor, id, actuator) {
      const { value } = actuator;
      await requireRight(actor, 'devices:update', id);
      if (value !== undefined) await requireRight(actor, 'devices-data:create', id);
      const outcome = await store.putActuator(id, actuator, clock.now());
      if (outcome === 'missing') throw noDevice(id);
      if (outcome === 'too_many') {
        throw invalid(`a device may have ${limits.sensorsPerDeviceMax} actuators`);
      }
      if (value !== undefined) publish({ deviceId: id, actuatorId: actuator.id, value });
    },
    async update(actor, id, actuatorId, changes) {
      await requireRight(actor, 'devices:update', id);
      const outcome = await store.updateActuator(id, actuatorId, changes, clock.now());
      if (outcome === 'missing') throw noActuator(id, actuatorId);
    },
    async requireSettable(actor, id, actuatorId) {
      requireActuator(await requireRight(actor, 'devices-data:create', id), actuatorId);
    },
    async setValue(actor, id, actuatorId, value, envelope) {
      await requireRight(actor, 'devices-data:create', id);
      const outcome = await store.updateActuator(id, actuatorId, { value }, clock.now());
      if (outcome === 'missing') throw noActuator(id, actuatorId);
      const change = { deviceId: id, actuatorId, value };
      publish(envelope === undefined ? change : { ...change, envelope });
    },
    async remove(actor, id, actuatorId) {
      await requireRight(actor, 'devices:update', id);
      const outcome = await store.removeActuator(id, actuatorId, clock.now());
      if (outcome === 'missing') throw noActuator(id, actuatorId);
    },
  };
}

function requireActuator(device: Device, actuatorId: ActuatorId): Actuator {
  const actuator = actuatorOf(device, actuatorId);
  if (actuator === undefined) throw noActuator(device.id, actuatorId);
  return actuator;
}

const noActuator = (id: DeviceId, actuatorId: ActuatorId) =>
  notFound(`device ${id} has no actuator with id ${actuatorId}`);
