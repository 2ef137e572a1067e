import type { Clock, Instant } from '../../lib/clock.ts';
import { createKeyedSequence } from '../../lib/scheduling/keyed-sequence.ts';
import type { Consequences, StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { createFire, type FireParts } from './fire.ts';
import { createPushEvaluations, handled } from './push-evaluations.ts';
import { createNewestTimes } from './push-times.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import {
  type EvaluationParts,
  evaluateOnce,
  lastValueEvaluation,
  planFiring,
  type RuleEvaluation,
  silenceEvaluation,
} from './rule-evaluation.ts';
import { createSensorValues, setInOrder, type ValueReads } from './sensor-values.ts';
import type { Silent } from './silences.ts';
import { evaluateAgainAt } from './step.ts';

export interface NotifierParts extends EvaluationParts, Omit<FireParts, 'onGone'> {
  readonly book: RuleBook;
  readonly datapoints: ValueReads;
  /** The device, if that can be said at once. */
  readonly peekDevice: (id: DeviceId) => Device | undefined;
  readonly clock: Clock;
}

/** Evaluates rules when their sensors are pushed to, in push order, and lets them fire. */
export interface Notifier {
  /** The hook of the ingest path. */
  readonly consequences: Consequences;
  /** Evaluates one sensor's last value now, whether it was evaluated before or not. */
  evaluate(rule: Rule, device: Device, sensorId: SensorId): Promise<void>;
  /** The last values of the device are not what they were; nothing fires for it. */
  forgetValues(deviceId: DeviceId): Promise<void>;
  /** Evaluates datapoints from before the start again; what was fired for does not fire again. */
  catchUp(missed: Missed): Promise<void>;
  /** Evaluates a silence; answers when to evaluate again, undefined: when the sensor was heard. */
  silenceOf(silent: Silent): Promise<Instant | undefined>;
  /** Tries again to store firings that could not be stored. */
  retry(): Promise<void>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

/** Datapoints that may not have been evaluated, and the last ones before them, in order. */
export interface Missed {
  readonly before: readonly StoredPush[];
  readonly pushes: readonly StoredPush[];
}

export function createNotifier(parts: NotifierParts): Notifier {
  const { book, devices, clock } = parts;
  const known = createSensorValues(parts.datapoints);
  const times = createNewestTimes(parts.datapoints);
  const fire = createFire({ ...parts, onGone: (rule) => book.remove(rule.notification.id) });
  const evaluatePushes = createPushEvaluations({ ...parts, fire });
  // Tasks of two devices may call for one rule: the store throttles, one firing after the other.
  const inOrder = createKeyedSequence();

  /** Sets values of sensors back to those before the datapoints that were missed. */
  async function goBackTo(before: readonly StoredPush[]): Promise<void> {
    for (const { deviceId, sensorId, datapoints } of before) {
      const device = await devices.find(deviceId);
      const sensor = device && sensorOf(device, sensorId);
      if (device === undefined || sensor === undefined) continue;
      const values = known.peek(device) ?? (await known.fetch(device));
      setInOrder(values, sensor, datapoints);
    }
  }

  /** Runs an evaluation that no push calls for; a firing is on its way when it resolves. */
  async function lookNow(look: RuleEvaluation, options: { readonly isRepeatedByCaller: boolean }) {
    const result = evaluateOnce(parts, look);
    const planned = result.firing && (await planFiring(parts, { ...look, ...result.firing }));
    return { result, stored: planned && handled(fire(planned, options)) };
  }

  async function evaluateSilence(silent: Silent) {
    const { deviceId, sensorId } = silent;
    const device = await devices.find(deviceId);
    if (device === undefined || sensorOf(device, sensorId) === undefined) return {};
    const values = await known.fetch(device);
    const at = clock.now();
    const look = silenceEvaluation(parts, silent, { device, sensorId, values, at });
    if (look === undefined) return { nextAt: at };
    const { result, stored } = await lookNow(look, { isRepeatedByCaller: true });
    return { nextAt: evaluateAgainAt(silent.rule, result), stored };
  }

  const forgetValues = (deviceId: DeviceId): Promise<void> =>
    inOrder(deviceId, async () => {
      known.drop(deviceId);
      times.forget(deviceId);
    });

  return {
    consequences(pushes) {
      const concerned = pushes.filter((push) => {
        const { deviceId, sensorId, publishContext } = push;
        const isImport = publishContext?.isImport === true;
        const isKnown = known.has(deviceId);
        if (!isImport && (isKnown || book.index.concerns(deviceId, sensorId))) return true;
        // Datapoints that are not evaluated may be newer than those that were.
        if (!times.isEmpty()) times.forget(deviceId, sensorId);
        if (isKnown) void forgetValues(deviceId);
        return false;
      });
      if (concerned.length === 0) return undefined;
      const waits = new Map<StoredPush, Promise<void>>();
      const startedAt = performance.now();
      const isLate = () => performance.now() - startedAt > limits.turnMs;
      for (const [deviceId, some] of byDevice(concerned)) {
        const looks = evaluatePushes(some, { isAgain: false, isLate, known, times });
        const looked = inOrder(deviceId, looks.run);
        if (looks.isOverWithNothing()) continue;
        for (const push of some) waits.set(push, handled(looked.then(() => looks.firingsOf(push))));
      }
      return waits.size === 0 ? undefined : pushes.map((push) => waits.get(push));
    },
    async evaluate(rule, device, sensorId) {
      const { stored } = await inOrder(device.id, async () => {
        const moment = { device, sensorId, values: await known.fetch(device), at: clock.now() };
        const look = lastValueEvaluation(parts, rule, moment);
        if (look === undefined) return { stored: undefined };
        return lookNow(look, { isRepeatedByCaller: false });
      });
      await stored;
    },
    async catchUp({ before, pushes }) {
      // Nothing is pushed yet.
      await goBackTo(before);
      const looks = evaluatePushes(pushes, { isAgain: true, isLate: () => false, known, times });
      await looks.run();
      known.clear();
      await Promise.all(pushes.map(looks.firingsOf));
    },
    async silenceOf(silent) {
      const { nextAt, stored } = await inOrder(silent.deviceId, () => evaluateSilence(silent));
      await stored;
      return nextAt;
    },
    forgetValues,
    retry: fire.retry,
    async drain() {
      await inOrder.drain();
      await fire.drain();
    },
  };
}

/** The pushes of each device, in their order. */
function byDevice(pushes: readonly StoredPush[]): ReadonlyMap<DeviceId, readonly StoredPush[]> {
  const [first] = pushes;
  const isOne = first !== undefined && pushes.every(({ deviceId }) => deviceId === first.deviceId);
  return isOne
    ? new Map([[first.deviceId, pushes]])
    : Map.groupBy(pushes, ({ deviceId }) => deviceId);
}
