import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import type { Budget } from '../budgets/budget.ts';
import type { Payer } from '../budgets/payer.ts';
import type { ActuatorId, DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { TimedSetting } from './actuator-step.ts';
import type { DeviceStore } from './device-store.ts';

/** Sets actuators back that were set for a while [contract 13]: one timer for all. */
export interface TimedSettings {
  /** Takes room for one more, which the payer has until it is over. Throws limit_reached. */
  reserve(payer: Payer): void;
  release(payer: Payer): void;
  /** Sets it back at its time; `payer` has reserved the room for it. */
  watch(setting: TimedSetting, payer?: Payer): void;
  /** It was set to stay: nothing is to be set back. */
  forget(deviceId: DeviceId, actuatorId: ActuatorId): void;
  /** Looks at the clock now; resolves when all that are due were set back. */
  tick(): Promise<void>;
  /** Takes up what a restart interrupted; before ports open. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Waiting extends TimedSetting {
  readonly payer: Payer | undefined;
  /** Not tried before. */
  notBefore: Instant;
}

export function createTimedSettings(options: {
  readonly store: Pick<DeviceStore, 'stepActuator' | 'listTimedSettings'>;
  readonly budget: Budget;
  /** Tells those who watch; must not throw. */
  readonly publish: (change: Omit<TimedSetting, 'at'> & { readonly value: JsonValue }) => void;
  readonly clock: Clock;
  readonly log: Log;
}): TimedSettings {
  const { store, budget, publish, clock, log } = options;
  const waiting = new Map<string, Waiting>();
  let nextAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> | undefined;

  function forget(deviceId: DeviceId, actuatorId: ActuatorId): void {
    const key = keyOf(deviceId, actuatorId);
    const known = waiting.get(key);
    if (known?.payer !== undefined) budget.release(known.payer, 1);
    waiting.delete(key);
  }

  function watch(setting: TimedSetting, payer?: Payer): void {
    forget(setting.deviceId, setting.actuatorId);
    const { deviceId, actuatorId, at } = setting;
    waiting.set(keyOf(deviceId, actuatorId), { ...setting, payer, notBefore: at });
    nextAt = Math.min(nextAt, at);
  }

  async function setBack(one: Waiting): Promise<void> {
    const { deviceId, actuatorId } = one;
    try {
      const step = { kind: 'revert', at: clock.now() } as const;
      const after = await store.stepActuator(deviceId, actuatorId, step);
      // Set again meanwhile: whoever did it has told what is to become of it.
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

  async function tick(): Promise<void> {
    while (ticking !== undefined) await ticking;
    ticking = lookAtAll().finally(() => {
      ticking = undefined;
    });
    await ticking;
  }

  return {
    reserve: (payer) => budget.takeOrThrow(payer, 1),
    release: (payer) => budget.release(payer, 1),
    watch,
    forget,
    tick,
    async start() {
      for (const setting of await store.listTimedSettings()) watch(setting);
      await tick();
      timer = setInterval(() => {
        if (clock.now() >= nextAt && ticking === undefined) void tick();
      }, limits.clockCheckMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await ticking;
    },
  };
}

// No id holds a slash.
const keyOf = (deviceId: DeviceId, actuatorId: ActuatorId): string => `${deviceId}/${actuatorId}`;
