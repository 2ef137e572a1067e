import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import type { Budget, Payer } from '../budgets/budget.ts';
import { createClockChecks } from '../clock-checks.ts';
import type { ActuatorId, DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { TimedSetting } from './actuator.ts';
import type { DeviceStore } from './device.ts';

/** Where several processes serve. */
export const timedSettingTimes = {
  /** How often each searches for settings that an ended process has left. */
  readMs: 60_000,
  /** How long a process leaves to another one what that one took. */
  graceMs: 1_000,
} as const;

interface Waiting extends TimedSetting {
  /** Payer who reserved it; absent: another process took it, or this one before a restart. */
  readonly payer: Payer | undefined;
  /** Not tried before. */
  notBefore: Instant;
}

/** Sets actuators back that were set for a while [contract 13]: one timer for all. */
export function createTimedSettings(options: {
  readonly store: Pick<DeviceStore, 'stepActuator' | 'listTimedSettings'>;
  readonly budget: Budget;
  /** Publishes to listeners; must not throw. */
  readonly publish: (change: Omit<TimedSetting, 'at'> & { readonly value: JsonValue }) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** Other processes may set the same actuators. */
  readonly isShared?: boolean;
}) {
  const { store, budget, publish, clock, log } = options;
  const graceMs = options.isShared === true ? timedSettingTimes.graceMs : 0;
  const waiting = new Map<string, Waiting>();
  let nextAt = Number.POSITIVE_INFINITY;
  let readAt = Number.POSITIVE_INFINITY;
  const checks = createClockChecks(() => clock.now() >= Math.min(nextAt, readAt), lookAtAll);

  function forget(deviceId: DeviceId, actuatorId: ActuatorId): void {
    const key = keyOf(deviceId, actuatorId);
    const known = waiting.get(key);
    if (known?.payer !== undefined) budget.release(known.payer, 1);
    waiting.delete(key);
  }

  function watch(setting: TimedSetting, payer?: Payer): void {
    forget(setting.deviceId, setting.actuatorId);
    const { deviceId, actuatorId, at } = setting;
    // The process that took it sets it back first; clocks of two machines may differ a little.
    const notBefore = payer === undefined ? at + graceMs : at;
    waiting.set(keyOf(deviceId, actuatorId), { ...setting, payer, notBefore });
    nextAt = Math.min(nextAt, notBefore);
  }

  /** Knows afterwards what is stored, but for what was set here while it was read. */
  async function readAll(): Promise<void> {
    const before = new Map(waiting);
    const stored = await store.listTimedSettings();
    const isAsBefore = (key: string): boolean => waiting.get(key) === before.get(key);
    for (const setting of stored) {
      const key = keyOf(setting.deviceId, setting.actuatorId);
      // Another process may have replaced one that was taken here.
      if (isAsBefore(key) && before.get(key)?.at !== setting.at) watch(setting);
      before.delete(key);
    }
    for (const [key, { deviceId, actuatorId }] of before) {
      if (isAsBefore(key)) forget(deviceId, actuatorId);
    }
  }

  async function takeUp(): Promise<void> {
    readAt = clock.now() + timedSettingTimes.readMs;
    try {
      await readAll();
    } catch (error) {
      log.warn({ err: error }, 'settings of other processes could not be read yet');
      readAt = Math.min(readAt, clock.now() + limits.timedSettingRetryMs);
    }
  }

  async function setBack(one: Waiting): Promise<void> {
    const { deviceId, actuatorId, at: until } = one;
    try {
      const step = { kind: 'revert', until, at: clock.now() } as const;
      const after = await store.stepActuator(deviceId, actuatorId, step);
      // Set again meanwhile: that setting decides what is to become of it. Another process may
      // have set it back as well: the store lets one of them.
      if (waiting.get(keyOf(deviceId, actuatorId)) === one) forget(deviceId, actuatorId);
      if (typeof after === 'string' || after.value === undefined) return;
      publish({ deviceId, actuatorId, value: after.value });
    } catch (error) {
      log.error({ err: error, deviceId, actuatorId }, 'an actuator could not be set back yet');
      one.notBefore = clock.now() + limits.timedSettingRetryMs;
      nextAt = Math.min(nextAt, one.notBefore);
    }
  }

  async function lookAtAll(): Promise<void> {
    if (clock.now() >= readAt) await takeUp();
    const now = clock.now();
    if (now < nextAt) return;
    nextAt = Number.POSITIVE_INFINITY;
    const due: Waiting[] = [];
    for (const one of waiting.values()) {
      if (one.notBefore <= now) due.push(one);
      else nextAt = Math.min(nextAt, one.notBefore);
    }
    await Promise.all(due.map(setBack));
  }

  return {
    /** Reserves budget for one more, until it is over. Throws limit_reached. */
    reserve: (payer: Payer) => budget.takeOrThrow(payer, 1),
    release: (payer: Payer) => budget.release(payer, 1),
    /** Sets it back at its time; `payer` has reserved budget for it. */
    watch,
    /** Drops the timer of an actuator that was set to stay: nothing is to be set back. */
    forget,
    /** Checks the clock now; resolves when all that are due were set back. */
    tick: checks.tick,
    /** Takes up what a restart interrupted; before ports open. */
    async start(): Promise<void> {
      await readAll();
      await checks.tick();
      checks.start();
    },
    /**
     * Another process that sets the same actuators may have ended: takes up what it left at the
     * next check of the clock, and once more each minute from then on.
     */
    takeOver(): void {
      readAt = clock.now();
    },
    stop: checks.stop,
  };
}
export type TimedSettings = ReturnType<typeof createTimedSettings>;

// No id holds a slash.
const keyOf = (deviceId: DeviceId, actuatorId: ActuatorId): string => `${deviceId}/${actuatorId}`;
