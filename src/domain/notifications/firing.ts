import type { Clock, Instant } from '../../lib/clock.ts';
import { isBigNumber, type JsonValue, parseJson } from '../../lib/json.ts';
import { LongJson, writeJson } from '../../lib/long-json.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/policy.ts';
import { personOf } from '../actor.ts';
import {
  actuatorOf,
  type Device,
  type DeviceHead,
  type DeviceStore,
  settingTooLarge,
  tooMuchWith,
} from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import {
  type ActuatorId,
  type DeviceId,
  type SensorId,
  sameUsername,
  type Username,
} from '../ids.ts';
import { limits } from '../limits.ts';
import { notConfigured } from '../socials/socials.ts';
import type { UserStore } from '../users/user.ts';
import type { Channel, Outcome } from './channel.ts';
import type { Firing, NewDelivery } from './delivery.ts';
import type { Notification } from './notification.ts';
import { type Rule, variable } from './rule.ts';
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
    const known = isThere ? actuatorOf(device, actuatorId) : undefined;
    const problem = known && isThere && tooMuchWith(device, actuatorId, { ...known, value });
    if (problem) return { kind: 'refused', reason: problem.message };
    const step = isThere && (await parts.devices.stepActuator(deviceId, actuatorId, setting));
    if (step === false || step === 'missing') {
      return { kind: 'refused', reason: `there is no actuator ${actuatorId} on ${deviceId}` };
    }
    parts.publish({ deviceId, actuatorId, value });
    await parts.told?.();
    return { kind: 'sent' };
  };
}

/** Whether the device took the id of one that is named, which is gone or was never there. */
export function isAnother({ condition, owner }: Notification, device: DeviceHead): boolean {
  const { devices, bound } = condition;
  if (bound === undefined || !devices.includes(device.id)) return false;
  return isOther(bound.find(({ id }) => id === device.id)?.createdAt ?? null, device, owner);
}

/** The same of the device whose actuator it sets. */
export function isAnotherTarget({ action, owner }: Notification, device: Device): boolean {
  const madeAt = action.kind === 'actuation' ? action.deviceMadeAt : undefined;
  return madeAt !== undefined && isOther(madeAt, device, owner);
}

/** A name that nothing had means what the notification's owner makes under it. */
const isOther = (madeAt: Instant | null, device: DeviceHead, owner: Username): boolean =>
  madeAt === null ? !sameUsername(device.owner, owner) : madeAt !== device.createdAt;

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
    const filed = { username: owner, channel: 'actuation' } as const;
    const tooLarge = settingTooLarge(value);
    if (tooLarge !== undefined) {
      const message = actuationText({ ...action, value: null });
      const progress = { status: 'failed', reason: tooLarge.message } as const;
      return { ...fields, deliveries: [{ ...filed, message, progress }] };
    }
    const message = actuationText({ ...action, value });
    const progress = { status: 'pending', dueAt: at + limits.deliveryLeaseMs } as const;
    return { ...fields, deliveries: [{ ...filed, message, progress, isUnderWay: true }] };
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

/** Where no datapoint calls for it, the one that is the newest was measured at some time before. */
function variablesAt(device: Device, reading: Reading): Variables {
  const { sensorId, value, now, time, datapoint, silentSince } = reading;
  const newestAt = datapoint ? time : reading.measuredAt?.(sensorId);
  const measuredAt = newestAt ?? silentSince ?? time;
  return { deviceId: device.id, sensorId, value, measuredAt, ageMs: now - measuredAt };
}

/** Values of the variables in a message. */
interface Variables {
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  value(sensorId: string): JsonValue | undefined;
  /** When that was measured which it fires for, and how long before. */
  readonly measuredAt: Instant;
  readonly ageMs: number;
}

/**
 * Puts values in the place of variables [spec 2, contract 7]: `{id}` is the sensor, `${id}` the
 * device, `{TC1}` and `${TC1}` the last value of TC1; `{time}` is when it was measured and `{age}`
 * how long ago, unless a sensor has that name. What is unknown stays as it was written.
 */
export function fillMessage(template: string, variables: Variables, texts = new Texts()): string {
  const { messageCharactersMax: max } = limits;
  let filled = '';
  let end = 0;
  for (const { 0: written, 1: dollar, 2: name = '', index } of template.matchAll(variable)) {
    filled += template.slice(end, index);
    // What follows would be cut off.
    if (filled.length >= max) return filled.slice(0, max);
    end = index + written.length;
    if (name === 'id') filled += dollar === '' ? variables.sensorId : variables.deviceId;
    else filled += texts.of(name, variables) ?? written;
  }
  return (filled + template.slice(end)).slice(0, max);
}

/** Texts of variables: each is written once, as a value may be long, and be named often. */
class Texts {
  readonly #known = new Map<string, string | undefined>();

  of(name: string, variables: Variables): string | undefined {
    if (!this.#known.has(name)) this.#known.set(name, variableText(name, variables));
    return this.#known.get(name);
  }
}

function variableText(name: string, variables: Variables): string | undefined {
  const value = variables.value(name);
  if (value === undefined && name === 'time') return formatTimestamp(variables.measuredAt);
  if (value === undefined && name === 'age') return ageText(variables.ageMs);
  return value === undefined ? undefined : textOf(value).slice(0, limits.variableCharactersMax);
}

/** A time in its two largest units: 2d 3h, 5m 20s, 0s. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0s';
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count}${unit}`).join(' ');
}

/** Fills the variables in every text of a value. */
export function fillValue(value: JsonValue, variables: Variables, texts = new Texts()): JsonValue {
  if (typeof value === 'string') return fillMessage(value, variables, texts);
  if (Array.isArray(value)) {
    const elements: readonly JsonValue[] = value;
    return elements.map((element) => fillValue(element, variables, texts));
  }
  if (typeof value !== 'object' || value === null || isBigNumber(value)) return value;
  if (value instanceof LongJson) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, fillValue(field, variables, texts)]),
  );
}

function textOf(value: JsonValue): string {
  if (value instanceof LongJson && value.isString) {
    return value.beginning(6 * limits.variableCharactersMax);
  }
  return typeof value === 'string' ? value : writeJson(value);
}
