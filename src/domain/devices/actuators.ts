import type { Clock } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import { type Access, byRight } from '../access/policy.ts';
import { type Actor, asSeerOfActuators, usernameOf } from '../actor.ts';
import { type Payer, payerOf } from '../budgets/budget.ts';
import type { StorageQuotas } from '../budgets/storage-quotas.ts';
import { invalid, notFound } from '../errors.ts';
import type { ActuatorId, DeviceId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PublishContext } from '../publish-context.ts';
import { type Actuator, type ActuatorChanges, withoutSetting } from './actuator.ts';
import {
  actuatorOf,
  type Device,
  type DeviceStore,
  isTooLarge,
  requireRoomOn,
  valueTooLarge,
  withoutActuatorValues,
} from './device.ts';
import { deviceResource, noDevice, requireDevice } from './devices.ts';
import type { TimedSettings } from './timed-settings.ts';

/** A durable setting of an actuator. */
export interface ActuatorChange {
  readonly deviceId: DeviceId;
  readonly actuatorId: ActuatorId;
  readonly value: JsonValue;
  readonly publishContext?: PublishContext;
}

/**
 * Actuators of devices. What one is set to is data: to set it takes devices-data:create, to see it
 * devices-data:view, or a key with devices-data:create; the rest is the device's description.
 */
export function createActuators(options: {
  readonly store: DeviceStore;
  readonly access: Access;
  readonly clock: Clock;
  /** Publishes to listeners; must not throw. */
  readonly publish: (change: ActuatorChange) => void;
  /** Resolves when all of them will receive what was published; absent: they all did. */
  readonly told?: (() => Promise<void>) | undefined;
  /** Maximum bytes of a value as JSON text. */
  readonly valueBytesMax: number;
  readonly timedSettings: TimedSettings;
  readonly room: StorageQuotas;
}) {
  const { store, access, clock, publish, valueBytesMax, timedSettings, room } = options;
  const { told } = options;
  /** Thousands of settings may be published at once: payers queue fairly for the store. */
  const storeTurns = createSemaphore({ parallelMax: limits.settingsStoredAtOnce });

  function requireSmall(actor: Actor, value: JsonValue): void {
    if (isTooLarge(actor, value, valueBytesMax)) throw valueTooLarge(valueBytesMax, '');
  }

  const requireRight = byRight(access, store, requireDevice, deviceResource);

  async function requireSetting(actor: Actor, id: DeviceId): Promise<Device> {
    const device = await requireDevice(store, id);
    await access.requireSetting(actor, deviceResource(device));
    return device;
  }

  /** The device as the actor may see its actuators. */
  async function visible(asker: Actor, id: DeviceId): Promise<Device> {
    const actor = asSeerOfActuators(asker);
    const device = await requireRight(actor, 'devices:view', id);
    const resource = deviceResource(device);
    const maySee = await access.allows(actor, 'devices-data:view', resource);
    const seen = maySee ? device : withoutActuatorValues(device);
    if (await access.allowsSetting(actor, resource)) return seen;
    return { ...seen, actuators: seen.actuators.map(withoutSetting) };
  }

  async function set(id: DeviceId, actuatorId: ActuatorId, { payer, ...setting }: Setting) {
    const outcome = await storeTurns.run(payer, () =>
      store.stepActuator(id, actuatorId, { kind: 'set', at: clock.now(), ...setting }),
    );
    if (typeof outcome === 'string') throw noActuator(id, actuatorId);
    timedSettings.forget(id, actuatorId);
    return outcome;
  }

  async function setForAWhile(id: DeviceId, actuatorId: ActuatorId, setting: Setting) {
    const { payer } = setting;
    timedSettings.reserve(payer);
    try {
      const { revert } = await set(id, actuatorId, setting);
      timedSettings.watch({ deviceId: id, actuatorId, at: revert?.at ?? clock.now() }, payer);
    } catch (error) {
      timedSettings.release(payer);
      throw error;
    }
  }

  return {
    list: async (actor: Actor, id: DeviceId) => (await visible(actor, id)).actuators,
    get: async (actor: Actor, id: DeviceId, actuatorId: ActuatorId) =>
      requireActuator(await visible(actor, id), actuatorId),
    /** The value that the actuator is set to. Throws not_found when it never was. */
    async value(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<JsonValue> {
      const device = await requireRight(asSeerOfActuators(actor), 'devices-data:view', id);
      const { value } = requireActuator(device, actuatorId);
      if (value === undefined) throw notFound(`actuator ${actuatorId} was never set`);
      return value;
    },
    /** Adds the actuator, or replaces its description and keeps a value it does not speak of. */
    async put(actor: Actor, id: DeviceId, actuator: Actuator): Promise<void> {
      const { value } = actuator;
      const device = await requireRight(actor, 'devices:update', id);
      room.require(actor, device.owner);
      requireRoomOn(actor, device, actuator.id, actuator);
      if (value !== undefined) {
        await requireSetting(actor, id);
        requireSmall(actor, value);
      }
      const at = clock.now();
      // The value that a new actuator comes with was there before; a known actuator is set.
      const isSet = value !== undefined && actuatorOf(device, actuator.id) !== undefined;
      const put = isSet ? { ...actuator, setBy: usernameOf(actor), setAt: at } : actuator;
      const outcome = await store.putActuator(id, put, at);
      if (outcome === 'missing') throw noDevice(id);
      if (outcome === 'too_many') {
        throw invalid(`a device may have ${limits.sensorsPerDeviceMax} actuators`);
      }
      if (value === undefined) return;
      timedSettings.forget(id, actuator.id);
      publish({ deviceId: id, actuatorId: actuator.id, value });
      await told?.();
    },
    async update(
      actor: Actor,
      id: DeviceId,
      actuatorId: ActuatorId,
      changes: ActuatorChanges,
    ): Promise<void> {
      const device = await requireRight(actor, 'devices:update', id);
      requireRoomOn(actor, device, actuatorId, { ...actuatorOf(device, actuatorId), ...changes });
      const outcome = await store.updateActuator(id, actuatorId, changes, clock.now());
      if (outcome === 'missing') throw noActuator(id, actuatorId);
    },
    /** Throws what setValue would throw, and sets nothing. */
    async requireSettable(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<void> {
      requireActuator(await requireSetting(actor, id), actuatorId);
    },
    /**
     * When it resolves the value is synced to disk, and listeners have received it, or will from
     * the other processes that serve. With `forMs` it is set back after so many milliseconds.
     * Throws unavailable also when it is set, but it is unknown who will receive it.
     */
    async setValue(
      actor: Actor,
      id: DeviceId,
      actuatorId: ActuatorId,
      value: JsonValue,
      extra: { readonly publishContext?: PublishContext; readonly forMs?: number } = {},
    ): Promise<void> {
      const { publishContext, forMs } = extra;
      const device = await requireSetting(actor, id);
      requireSmall(actor, value);
      requireRoomOn(actor, device, actuatorId, { ...actuatorOf(device, actuatorId), value });
      const setting = { value, by: usernameOf(actor), payer: payerOf(actor) };
      if (forMs === undefined) await set(id, actuatorId, setting);
      else await setForAWhile(id, actuatorId, { ...setting, forMs });
      const change = { deviceId: id, actuatorId, value };
      publish(publishContext === undefined ? change : { ...change, publishContext });
      await told?.();
    },
    /** The device says that the actuator is as it was set. Throws invalid when it is not. */
    async confirm(
      actor: Actor,
      id: DeviceId,
      actuatorId: ActuatorId,
      value: JsonValue,
    ): Promise<void> {
      await requireSetting(actor, id);
      const outcome = await storeTurns.run(payerOf(actor), () =>
        store.stepActuator(id, actuatorId, { kind: 'confirm', value, at: clock.now() }),
      );
      if (outcome === 'missing') throw noActuator(id, actuatorId);
      if (outcome === 'unchanged') {
        throw invalid(`actuator ${actuatorId} is not set to the value that is confirmed`);
      }
    },
    async remove(actor: Actor, id: DeviceId, actuatorId: ActuatorId): Promise<void> {
      await requireRight(actor, 'devices:update', id);
      const outcome = await store.removeActuator(id, actuatorId, clock.now());
      if (outcome === 'missing') throw noActuator(id, actuatorId);
    },
  };
}
export type Actuators = ReturnType<typeof createActuators>;

interface Setting {
  readonly value: JsonValue;
  readonly by: Username;
  readonly payer: Payer;
  readonly forMs?: number;
}

function requireActuator(device: Device, actuatorId: ActuatorId): Actuator {
  const actuator = actuatorOf(device, actuatorId);
  if (actuator === undefined) throw noActuator(device.id, actuatorId);
  return actuator;
}

const noActuator = (id: DeviceId, actuatorId: ActuatorId) =>
  notFound(`device ${id} has no actuator with id ${actuatorId}`);
