import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { createEvaluatedValues } from './evaluated-values.ts';
import { createEvaluationQueue } from './evaluation-queue.ts';
import { createEvaluationRunner } from './evaluation-runner.ts';
import { createFire } from './fire.ts';
import type { EvaluationStore, WaitingEvaluation } from './notification-store.ts';
import type { Notifier, NotifierParts } from './notifier.ts';
import { handled } from './push-evaluations.ts';
import type { Rule } from './rule.ts';
import {
  evaluateOnce,
  lastValueEvaluation,
  planFiring,
  type RuleEvaluation,
  silenceEvaluation,
} from './rule-evaluation.ts';
import type { ValueReads } from './sensor-values.ts';
import type { Silent } from './silences.ts';
import { evaluateAgainAt, isSilenceTold } from './step.ts';

export interface SharedNotifierParts extends NotifierParts {
  readonly looks: EvaluationStore;
  readonly datapoints: ValueReads;
  /** The push that was published to other processes as this text; undefined: it was none. */
  readonly pushOf: (text: string) => StoredPush | undefined;
}

/** A notifier of one of several processes on the same data. */
export interface SharedNotifier extends Notifier {
  /** The evaluation that a push is filed with, in its commit; undefined: no rule asks for one. */
  newEvaluation(push: {
    readonly deviceId: DeviceId;
    readonly sensorId: SensorId;
  }): NewEvaluation | undefined;
}

/** An evaluation that no push calls for, with those behind it in the queue. */
interface Turn {
  readonly evaluationId: string;
  readonly rest: readonly WaitingEvaluation[];
}

/**
 * Evaluates as the notifier of one process does, each device in the order of the commits of all
 * processes: every evaluation waits until it is the first in the queue, then reads what rules
 * remember, and ends in the commit that keeps what they remember from then on. An evaluation that a
 * process did not end is run by another one.
 */
export function createSharedNotifier(parts: SharedNotifierParts): SharedNotifier {
  const { book, devices, clock, states, looks } = parts;
  const fire = createFire({ ...parts, onGone: (rule) => book.remove(rule.notification.id) });
  const pushesOf = (some: readonly WaitingEvaluation[]): readonly StoredPush[] =>
    some.flatMap(({ text }) => (text === '' ? [] : (parts.pushOf(text) ?? [])));
  const values = createEvaluatedValues({ ...parts, pushesOf });
  const line = createEvaluationQueue(
    looks,
    createEvaluationRunner({ ...parts, values, fire, refresh, pushesOf }),
  );

  /** Reads what the rules remember of the device: no other process changes that before the end. */
  async function refresh(deviceId: DeviceId, rules: Iterable<Rule>): Promise<void> {
    const ids = [...new Set([...rules].map(({ notification }) => notification.id))];
    if (ids.length > 0) states.refresh(deviceId, await looks.statesOf(deviceId, ids));
  }

  /** Runs an evaluation that no push calls for, when first; undefined: another process ended it. */
  async function alone<Answer>(
    deviceId: DeviceId,
    work: (turn: Turn) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    let answer: Answer | undefined;
    await line.task(deviceId, ({ id }) => async (rest) => {
      answer = await work({ evaluationId: id, rest });
      return looks.finish({ ids: [id], deviceId, states: states.takeUnsaved(deviceId) });
    });
    return answer;
  }

  async function lookNow(look: RuleEvaluation) {
    const result = evaluateOnce(parts, look);
    const planned = result.firing && (await planFiring(parts, { ...look, ...result.firing }));
    if (planned !== undefined) await fire(planned, { isRepeatedByCaller: true });
    return result;
  }

  async function evaluateSilence(silent: Silent, { evaluationId, rest }: Turn) {
    const { rule, deviceId, sensorId } = silent;
    const device = await devices.find(deviceId);
    if (device === undefined || sensorOf(device, sensorId) === undefined) return undefined;
    const at = clock.now();
    const isOther = (push: StoredPush): boolean => push.sensorId !== sensorId;
    const found = await values.before(device, [evaluationId], { behind: [], rest, isOther });
    const look = silenceEvaluation(parts, silent, { device, sensorId, values: found, at });
    if (look === undefined) return at;
    await refresh(deviceId, [rule]);
    return evaluateAgainAt(rule, await lookNow(look));
  }

  /** Whether it is over: another process reported the silence, or heard the sensor. */
  async function isOver({ rule, deviceId, sensorId, seenAt }: Silent): Promise<boolean> {
    const device = await devices.find(deviceId);
    if (device === undefined || sensorOf(device, sensorId) === undefined) return true;
    const { id } = rule.notification;
    const stored = (await looks.statesOf(deviceId, [id])).get(id);
    return isSilenceTold(stored?.state ?? {}, sensorId, seenAt);
  }

  return {
    newEvaluation: ({ deviceId, sensorId }) =>
      book.index.concerns(deviceId, sensorId) ? line.newEvaluation(deviceId) : undefined,
    consequences(pushes) {
      if (pushes.every(({ evaluationId }) => evaluationId === undefined)) return undefined;
      return pushes.map((push) =>
        push.evaluationId === undefined ? undefined : handled(line.push(push, push.evaluationId)),
      );
    },
    async evaluate(rule, device, sensorId) {
      await alone(device.id, async ({ evaluationId, rest }) => {
        const about = { behind: [], rest, isOther: () => true };
        const found = await values.before(device, [evaluationId], about);
        if (found.get(sensorId) === undefined) return;
        await refresh(device.id, [rule]);
        const moment = { device, sensorId, values: found, at: clock.now() };
        const look = lastValueEvaluation(parts, rule, moment);
        if (look !== undefined) await lookNow(look);
      });
    },
    async silenceOf(silent) {
      const { deviceId } = silent;
      if (await isOver(silent)) return undefined;
      return alone(deviceId, (turn) => evaluateSilence(silent, turn));
    },
    // Nothing is remembered between two evaluations, and what is left of others is swept.
    forgetValues: async () => undefined,
    catchUp: async () => undefined,
    async retry() {
      await fire.retry();
      try {
        await line.sweep();
      } catch (error) {
        parts.log.warn({ err: error }, 'looks of other processes could not be made');
      }
    },
    async drain() {
      await line.drain();
      await fire.drain();
    },
  };
}
