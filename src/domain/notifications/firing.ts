import type { Clock, Instant } from '../../lib/clock.ts';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import type { Access } from '../access/policy.ts';
import { personOf } from '../actor.ts';
import type { Device, DeviceStore } from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import type { ActuatorId, DeviceId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { notConfigured } from '../socials/socials.ts';
import type { UserStore } from '../users/user.ts';
import type { Channel, Outcome } from './channel.ts';
import type { Firing, NewDelivery } from './delivery.ts';
import { fillMessage, fillValue, type Variables } from './message.ts';
import { isAnother, isAnotherTarget } from './notification-rights.ts';
import type { Rule } from './rule.ts';
import type { Reading, RuleState } from './step.ts';

/** A notification's setting of an actuator. */
interface Actuation {
  readonly deviceId: DeviceId;
  readonly actuatorId: ActuatorId;
  readonly value: JsonValue;
}

/** The text of a delivery that sets an actuator: JSON. */
const actuationText = ({ deviceId, actuatorId, value }: Actuation): string =>
  JSON.stringify({ device_id: deviceId, actuator_id: actuatorId, actuator_value: value });

const skewMs = 1_000;

/** Sets an actuator as the text of a delivery says. */
export type Actuate = (message: string, by: Username, firedAt: Instant) => Promise<Outcome>;

/** For notifications whose right was asked when they fired. */
export function createActuate(parts: {
  readonly devices: Pick<DeviceStore, 'find' | 'stepActuator'>;
  readonly publish: (actuation: Actuation) => void;
  /** Resolves when every watch will receive it; absent: they did. */
  readonly told?: (() => Promise<void>) | undefined;
  readonly clock: Clock;
}): Actuate {
  return async (message, by, firedAt) => {
    // Written when the notification fired.
    const written = parseJson(message) as {
      readonly device_id: DeviceId;
      readonly actuator_id: ActuatorId;
      readonly actuator_value: JsonValue;
    };
    const { device_id: deviceId, actuator_id: actuatorId, actuator_value: value } = written;
    const setting = { kind: 'set', value, by, at: parts.clock.now() } as const;
    const device = await parts.devices.find(deviceId);
    // A device made since the firing is another device; clocks of two processes differ a little.
    const isThere = device !== undefined && device.createdAt <= firedAt + skewMs;
    const step = isThere && (await parts.devices.stepActuator(deviceId, actuatorId, setting));
    if (step === false || step === 'missing') {
      return { kind: 'refused', reason: `there is no actuator ${actuatorId} on ${deviceId}` };
    }
    parts.publish({ deviceId, actuatorId, value });
    await parts.told?.();
    return { kind: 'sent' };
  };
}

/** Parts that making a firing takes. */
export interface FiringParts {
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly devices: Pick<DeviceStore, 'find'>;
  readonly access: Access;
  /** Configured channels, by name. */
  readonly channels: ReadonlyMap<string, Channel>;
}

/**
 * Whether the rule may fire for this device: its owner may view the data, and set the actuator, at
 * this moment [contract 4].
 */
export async function mayFire(
  { users, devices, access }: Omit<FiringParts, 'channels'>,
  { notification }: Rule,
  device: Device,
): Promise<boolean> {
  const user = await users.findByUsername(notification.owner);
  if (user === undefined || user.isDisabled) return false;
  const owner = personOf(user);
  if (!(await access.allows(owner, 'devices-data:view', deviceResource(device)))) return false;
  const { action } = notification;
  if (isAnother(notification, device)) return false;
  if (action.kind === 'message') return true;
  const target = await devices.find(action.deviceId);
  // The delivery reports a target that does not exist.
  if (target === undefined) return true;
  if (isAnotherTarget(notification, target)) return false;
  return access.allowsSetting(owner, deviceResource(target));
}

/** Fills in the message at this reading; undefined for an actuation. */
export function messageAt(rule: Rule, device: Device, reading: Reading): string | undefined {
  const { action } = rule.notification;
  if (action.kind === 'actuation') return undefined;
  return fillMessage(action.message, variablesAt(device, reading));
}

/** The firing at this reading, with one delivery per user and channel, or one for the actuator. */
export function firingAt(
  { notification, throttlingMs }: Rule,
  device: Device,
  reading: Reading,
  after: { readonly state: RuleState; readonly channels: ReadonlyMap<string, Channel> },
): Firing {
  const { action, owner, id: notificationId } = notification;
  const { now: at } = reading;
  const state = after.state.device;
  const fields = { notificationId, deviceId: device.id, at, throttlingMs, state };
  const variables = variablesAt(device, reading);
  if (action.kind === 'actuation') {
    const value: JsonValue = fillValue(action.value, variables);
    const message = actuationText({ ...action, value });
    const progress = { status: 'pending', dueAt: at + limits.deliveryLeaseMs } as const;
    const channel = 'actuation';
    return {
      ...fields,
      deliveries: [{ username: owner, channel, message, progress, isUnderWay: true }],
    };
  }
  const message = fillMessage(action.message, variables);
  const ids = new Map(action.accounts?.map(({ username, id }) => [username, id]));
  const deliveries = action.usernames.flatMap((username) => {
    const accountId = ids.get(username);
    const missing = accountId === undefined ? `there is no user ${username}` : undefined;
    return action.channels.map((channel): NewDelivery => {
      const reason = after.channels.has(channel) ? missing : notConfigured(channel);
      const progress =
        reason === undefined
          ? ({ status: 'pending', dueAt: at } as const)
          : ({ status: 'failed', reason } as const);
      return { username, ...(accountId && { accountId }), channel, message, progress };
    });
  });
  return { ...fields, deliveries };
}

const variablesAt = (device: Device, { sensorId, value, now, time }: Reading): Variables => ({
  ...{ deviceId: device.id, sensorId, value },
  measuredAt: time,
  ageMs: now - time,
});
