import type { JsonValue } from '../../lib/json.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { Device, DeviceStore } from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import type { Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { notConfigured } from '../socials/social.ts';
import type { UserStore } from '../users/user.ts';
import { actuationText } from './actuate.ts';
import type { Channel } from './channel.ts';
import type { Firing, NewDelivery } from './delivery.ts';
import { fillMessage, fillValue, type Variables } from './message.ts';
import { isAnother, isAnotherTarget } from './named-devices.ts';
import type { Rule } from './rule.ts';
import type { Reading, RuleState } from './step.ts';

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
  const owner = await actorOf(users, notification.owner);
  if (owner === undefined) return false;
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

async function actorOf(
  users: Pick<UserStore, 'findByUsername'>,
  username: Username,
): Promise<Actor | undefined> {
  const user = await users.findByUsername(username);
  if (user === undefined || user.isDisabled) return undefined;
  return { kind: user.isAdmin ? 'admin' : 'user', userId: user.id, username: user.username };
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
