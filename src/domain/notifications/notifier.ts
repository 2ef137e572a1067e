import type { Clock, Instant } from '../../lib/clock.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import type { SensorRef } from '../datapoints/datapoint.ts';
import type { Consequences, StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { createCommitEvaluations } from './commit-evaluations.ts';
import { createEvaluationQueue } from './evaluation-queue.ts';
import { createEvaluationRunner, type SharedParts } from './evaluation-runner.ts';
import { createFire, type Fire, type FireParts } from './fire.ts';
import { createPushEvaluations, handled } from './push-evaluations.ts';
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
import {
  createNewestTimes,
  createSensorValues,
  type SeenValues,
  setInOrder,
  type ValueReads,
} from './sensor-values.ts';
import type { Silent } from './silences.ts';
import { evaluateAgainAt, isSilenceOver } from './step.ts';

export interface NotifierParts extends EvaluationParts, Omit<FireParts, 'onGone'> {
  readonly book: RuleBook;
  readonly datapoints: ValueReads;
  /** The device, if that can be said at once. */
  readonly peekDevice: (id: DeviceId) => Device | undefined;
  readonly clock: Clock;
}

/** Evaluations of one process, or of several that serve the same data, in the order of a device. */
interface DeviceOrder {
  /** The hook of the ingest path. */
  readonly consequences: Consequences;
  /** The last values of the device are not what they were; nothing fires for it. */
  forgetValues(deviceId: DeviceId): Promise<void>;
  /**
   * Evaluates datapoints from before the start again, in order, with the last ones before them;
   * what was fired for does not fire again.
   */
  catchUp(missed: Readonly<Record<'before' | 'pushes', readonly StoredPush[]>>): Promise<void>;
}

/** Evaluates rules when their sensors are pushed to, in push order, and lets them fire. */
export interface Notifier extends DeviceOrder {
  /** The evaluations that pushes are filed with in their commit. */
  readonly evaluationsOf?: ReturnType<typeof createCommitEvaluations>['evaluationsOf'] | undefined;
  /** Evaluates one sensor's last value now, whether it was evaluated before or not. */
  evaluate(rule: Rule, device: Device, sensorId: SensorId): Promise<void>;
  /** Evaluates a silence; answers when to evaluate again. Undefined: the sensor has sent. */
  silenceOf(silent: Silent): Promise<Instant | undefined>;
  /** Tries again to store firings that could not be stored. */
  retry(): Promise<void>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

/** An evaluation that no push calls for, when those before it on the device are over. */
interface NextEvaluation {
  /** The last values, without pushes that are not evaluated yet where they matter to it. */
  values(device: Device, isOther: (push: StoredPush) => boolean): Promise<SeenValues>;
  /** Reads what the rule remembers of the device, where other processes may have changed it. */
  refresh(rule: Rule): Promise<void>;
}

/** A result, and the firing that is on its way to the store. */
interface Evaluated<Answer> {
  readonly answer?: Answer | undefined;
  readonly stored?: Promise<void> | undefined;
}

interface NotifierOrder extends DeviceOrder, Pick<Notifier, 'evaluationsOf' | 'drain'> {
  /** Resolves when the firing is stored; undefined: another process ended the evaluation. */
  next<Answer>(
    deviceId: DeviceId,
    run: (next: NextEvaluation) => Promise<Evaluated<Answer>>,
  ): Promise<Answer | undefined>;
  /** Whether an evaluation that a client calls for is run again where its firing is not stored. */
  readonly isRepeated: boolean;
  /** Whether another process reported the silence, or heard the sensor. */
  isOver(silent: Silent): Promise<boolean>;
  /** Runs evaluations that other processes left. */
  sweep(): Promise<void>;
}

/** `shared`: where several processes serve the same data. */
export function createNotifier(parts: NotifierParts, shared?: SharedParts): Notifier {
  const { book, devices, clock } = parts;
  const fire = createFire({ ...parts, onGone: (rule) => book.remove(rule.notification.id) });
  const order =
    shared === undefined ? createOwnOrder(parts, fire) : createSharedOrder(parts, shared, fire);

  /** Runs an evaluation that no push calls for; a firing is on its way when it resolves. */
  async function evaluateNow(evaluation: RuleEvaluation, isRepeatedByCaller: boolean) {
    const result = evaluateOnce(parts, evaluation);
    const planned = result.firing && (await planFiring(parts, { ...evaluation, ...result.firing }));
    return { result, stored: planned && handled(fire(planned, { isRepeatedByCaller })) };
  }

  const evaluateSilence = (silent: Silent) =>
    order.next(silent.deviceId, async (next): Promise<Evaluated<Instant>> => {
      const { rule, deviceId, sensorId } = silent;
      const device = await devices.find(deviceId);
      if (device === undefined || sensorOf(device, sensorId) === undefined) return {};
      const values = await next.values(device, (push) => push.sensorId !== sensorId);
      const at = clock.now();
      const evaluation = silenceEvaluation(parts, silent, { device, sensorId, values, at });
      if (evaluation === undefined) return { answer: at };
      await next.refresh(rule);
      const { result, stored } = await evaluateNow(evaluation, true);
      return { answer: evaluateAgainAt(rule, result), stored };
    });

  return {
    ...order,
    async evaluate(rule, device, sensorId) {
      await order.next(device.id, async (next) => {
        const values = await next.values(device, () => true);
        const moment = { device, sensorId, values, at: clock.now() };
        const evaluation = lastValueEvaluation(parts, rule, moment);
        if (evaluation === undefined) return {};
        await next.refresh(rule);
        return evaluateNow(evaluation, order.isRepeated);
      });
    },
    silenceOf: async (silent) =>
      (await order.isOver(silent)) ? undefined : evaluateSilence(silent),
    async retry() {
      await fire.retry();
      await order.sweep();
    },
    async drain() {
      await order.drain();
      await fire.drain();
    },
  };
}

/** Each device one evaluation after the other, in the order of the pushes of this process. */
function createOwnOrder(parts: NotifierParts, fire: Fire): NotifierOrder {
  const { book, devices } = parts;
  const known = createSensorValues(parts.datapoints);
  const times = createNewestTimes(parts.datapoints);
  const evaluatePushes = createPushEvaluations({ ...parts, fire });
  // Tasks of two devices may call for one rule: the store throttles, one firing after the other.
  const inOrder = createKeyedSequence();

  const forgetValues = (deviceId: DeviceId): Promise<void> =>
    inOrder(deviceId, async () => {
      known.drop(deviceId);
      times.forget(deviceId);
    });

  /** Whether the push is evaluated. */
  function isConcerned({ deviceId, sensorId, publishContext }: StoredPush): boolean {
    const isKnown = known.has(deviceId);
    const isImport = publishContext?.isImport === true;
    if (!isImport && (isKnown || book.index.concerns(deviceId, sensorId))) return true;
    // Datapoints that are not evaluated may be newer than those that were.
    if (!times.isEmpty()) times.forget(deviceId, sensorId);
    if (isKnown) void forgetValues(deviceId);
    return false;
  }

  return {
    isRepeated: false,
    consequences(pushes) {
      const concerned = pushes.filter(isConcerned);
      if (concerned.length === 0) return undefined;
      const waits = new Map<StoredPush, Promise<void>>();
      const startedAt = performance.now();
      const isLate = () => performance.now() - startedAt > limits.turnMs;
      for (const [deviceId, some] of byDevice(concerned)) {
        const evaluations = evaluatePushes(some, { isAgain: false, isLate, known, times });
        const ran = inOrder(deviceId, evaluations.run);
        if (evaluations.isOverWithNothing()) continue;
        for (const push of some) {
          waits.set(push, handled(ran.then(() => evaluations.firingsOf(push))));
        }
      }
      return waits.size === 0 ? undefined : pushes.map((push) => waits.get(push));
    },
    async next(deviceId, run) {
      const values = known.fetch;
      const refresh = async () => undefined;
      const { answer, stored } = await inOrder(deviceId, () => run({ values, refresh }));
      await stored;
      return answer;
    },
    async catchUp({ before, pushes }) {
      // What fails for one sensor keeps no other from being evaluated.
      async function attempt({ deviceId, sensorId }: SensorRef, work: () => unknown) {
        try {
          await work();
        } catch (err) {
          const owner = (await devices.find(deviceId).catch(() => undefined))?.owner;
          const what = 'what was received last could not be looked at again';
          parts.log.error({ err, deviceId, sensorId, owner }, what);
        }
      }
      // Nothing is pushed yet: values are those before the datapoints that were missed.
      for (const push of before) {
        await attempt(push, async () => {
          const device = await devices.find(push.deviceId);
          const sensor = device && sensorOf(device, push.sensorId);
          if (device === undefined || sensor === undefined) return;
          setInOrder(known.peek(device) ?? (await known.fetch(device)), sensor, push.datapoints);
        });
      }
      const isLate = () => false;
      const evaluations = evaluatePushes(pushes, { isAgain: true, isLate, known, times });
      await evaluations.run();
      known.clear();
      await Promise.all(pushes.map((push) => attempt(push, () => evaluations.firingsOf(push))));
    },
    isOver: async () => false,
    sweep: async () => undefined,
    forgetValues,
    drain: inOrder.drain,
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

/**
 * Each device in the order of the commits of all processes: every evaluation waits until it is the
 * first in the queue, then reads what rules remember, and ends in the commit that keeps what they
 * remember from then on. An evaluation that a process did not end is run by another one.
 */
function createSharedOrder(parts: NotifierParts, shared: SharedParts, fire: Fire): NotifierOrder {
  const { devices, states } = parts;
  const { looks } = shared;
  const runner = createEvaluationRunner({ ...parts, ...shared, fire });
  const queue = createEvaluationQueue(looks, runner);
  const commits = createCommitEvaluations({ ...parts, ...shared, ...queue });

  return {
    isRepeated: true,
    evaluationsOf: commits.evaluationsOf,
    consequences(pushes) {
      let waits: Promise<void>[] | undefined;
      for (const [at, push] of pushes.entries()) {
        const { evaluationId, batch } = push;
        if (evaluationId !== undefined) {
          waits ??= [];
          waits[at] = handled(queue.push(push, evaluationId));
        } else if (batch !== undefined) commits.noteOutcomes(batch, parts.evaluations);
      }
      return waits;
    },
    async next<Answer>(
      deviceId: DeviceId,
      run: (next: NextEvaluation) => Promise<Evaluated<Answer>>,
    ) {
      let answer: Answer | undefined;
      await queue.task(deviceId, (id) => async (rest) => {
        const evaluated = await run({
          values: (device, isOther) =>
            runner.valuesBefore(device, [id], { behind: [], rest, isOther }),
          refresh: (rule) => runner.refresh(deviceId, [rule]),
        });
        await evaluated.stored;
        ({ answer } = evaluated);
        return looks.finish({ ids: [id], states: states.takeUnsaved(deviceId) });
      });
      return answer;
    },
    async isOver({ rule, deviceId, sensorId, seenAt }) {
      const device = await devices.find(deviceId);
      if (device === undefined || sensorOf(device, sensorId) === undefined) return true;
      const { id } = rule.notification;
      const stored = (await looks.line(deviceId, [id])).states.get(id);
      return isSilenceOver(rule, stored?.state ?? {}, sensorId, seenAt);
    },
    async sweep() {
      try {
        await queue.sweep();
      } catch (error) {
        parts.log.warn({ err: error }, 'looks of other processes could not be made');
      }
    },
    // Nothing is remembered between two evaluations, and what is left of others is swept.
    forgetValues: async () => undefined,
    catchUp: async () => undefined,
    drain: queue.drain,
  };
}
