import type { Log } from '../../lib/log.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { Device } from '../devices/device.ts';
import { DomainError, isFailureToStore } from '../errors.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import type { EvaluationProgress } from './delivery.ts';
import { createEvaluatedValues } from './evaluated-values.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type {
  DeviceQueue,
  EndOutcome,
  EvaluationStore,
  NextPush,
  WaitingEvaluation,
} from './notification-store.ts';
import {
  atMost,
  createPushEvaluations,
  ownerFor,
  type PushEvaluationParts,
} from './push-evaluations.ts';
import type { Rule } from './rule.ts';
import { countHad } from './rule-evaluation.ts';
import type { ValueReads } from './sensor-values.ts';
import type { StateBook } from './state-book.ts';

/** Parts of the evaluations of several processes on the same data. */
export interface SharedParts {
  readonly looks: EvaluationStore;
  /** The push that was published to other processes as this text; undefined: it was none. */
  readonly pushOf: (text: string) => StoredPush | undefined;
}

/** A device's queue and rule states when its evaluations are run. */
interface DeviceEvaluations {
  /** Evaluations that wait behind these. */
  readonly rest: readonly WaitingEvaluation[];
  /** States of rules for the device. */
  readonly remembered: DeviceQueue['states'];
  /** Receives the outcome of each evaluation, before they end; absent: no rule fired. */
  readonly onMade: (id: string, outcome: PromiseSettledResult<void> | undefined) => void;
}

/** An evaluation that is run now. */
export interface Runnable {
  readonly evaluation: WaitingEvaluation;
  /** Absent: time or a client called for it, at a process that ended. */
  readonly push?: StoredPush | undefined;
  /** Whether no caller waits for it: its process ended, or could not run it before. */
  readonly isAgain: boolean;
}

/** Runs evaluations of pushes that are first in the queue, and ends them with what they leave. */
export function createEvaluationRunner(
  parts: PushEvaluationParts & SharedParts & { readonly datapoints: ValueReads; readonly log: Log },
) {
  const { book, devices, states, looks } = parts;
  const evaluatePushes = createPushEvaluations(parts);
  /** The pushes that evaluations wait for; those that time or a client calls for have none. */
  const pushesOf = (some: readonly WaitingEvaluation[]): readonly StoredPush[] =>
    some.flatMap(({ text }) => (text === '' ? [] : (parts.pushOf(text) ?? [])));
  const values = createEvaluatedValues({ ...parts, pushesOf });

  /** Reads what the rules remember of the device: no other process changes that before the end. */
  async function refresh(deviceId: DeviceId, rules: Iterable<Rule>): Promise<void> {
    const ids = [...new Set([...rules].map(({ notification }) => notification.id))];
    if (ids.length > 0) states.refresh(deviceId, (await looks.line(deviceId, ids)).states);
  }

  /** Runs the pushes, one after the other. */
  async function makePushes(
    device: Device,
    some: readonly NextPush[],
    { rest, remembered, onMade, progress }: DeviceEvaluations & { progress: EvaluationProgress },
  ): Promise<void> {
    const deviceId = device.id;
    const pushes = some.map(({ push }) => push);
    const rules = new Set(
      pushes.flatMap(({ sensorId }) => book.index.rulesOn(deviceId, sensorId, ownerFor(device))),
    );
    states.refresh(deviceId, remembered);
    await refresh(
      deviceId,
      [...rules].filter(({ notification }) => !remembered.has(notification.id)),
    );
    const evaluations = evaluatePushes(pushes, {
      isAgain: false,
      isLate: () => false,
      isRepeatedByCaller: true,
      progress,
      known: await values.forPushes(device, rules, some, rest),
      times: values.timesBefore(some, rest),
      had: hadBefore(states, some, rest),
    });
    await evaluations.run();
    const outcomes = await Promise.allSettled(pushes.map(evaluations.firingsOf));
    const unstored = outcomes.find(isUnstored);
    if (unstored !== undefined) throw unstored.reason;
    // Until it is ended it waits in the database, for any process: pushes need not wait.
    for (const [at, { evaluation }] of some.entries()) onMade(evaluation.id, outcomes[at]);
    // Firings that were not stored when this process was killed are made again by another one.
    await atMost(evaluationLimits.ofOthersMs, evaluations.ofOthers());
  }

  /** Runs these evaluations, one after the other, and ends them: what fired is not done twice. */
  async function run(
    deviceId: DeviceId,
    some: readonly Runnable[],
    work: DeviceEvaluations,
  ): Promise<EndOutcome> {
    const ids = some.map(({ evaluation }) => evaluation.id);
    const progress = { isEnded: false };
    try {
      const device = parts.peekDevice(deviceId) ?? (await devices.find(deviceId));
      const next = some.flatMap(({ evaluation, push }) => (push ? { evaluation, push } : []));
      if (device !== undefined && next.length > 0) {
        await makePushes(device, next, { ...work, progress });
      }
      // Evaluations of a device that went are over as well.
      for (const id of ids) work.onMade(id, undefined);
      const saved = next.length > 0 ? states.takeUnsaved(deviceId) : [];
      return await looks.finish({ ids, states: saved, progress });
    } catch (error) {
      progress.isEnded = false;
      if (error instanceof DomainError || some[0]?.isAgain !== true) throw error;
      // An evaluation that cannot be understood must not block the device's queue.
      parts.log.error({ err: error, deviceId }, 'a look that a process left cannot be made');
      return looks.finish({ ids, states: [] });
    }
  }

  /** Rules on what was pushed, as far as that can be said at once. */
  function rulesOn(deviceId: DeviceId, pushes: Iterable<StoredPush>): readonly NotificationId[] {
    const device = parts.peekDevice(deviceId);
    if (device === undefined) return [];
    const sensors = new Set([...pushes].map(({ sensorId }) => sensorId));
    const owner = ownerFor(device);
    const rules = [...sensors].flatMap((id) => book.index.rulesOn(deviceId, id, owner));
    return [...new Set(rules.map(({ notification }) => notification.id))];
  }

  /** The push as other processes received it; undefined: none calls for the evaluation. */
  function pushOf(evaluation: WaitingEvaluation): StoredPush | undefined {
    const [push] = pushesOf([evaluation]);
    return push && { ...push, evaluationId: evaluation.id };
  }

  return { run, pushOf, rulesOn, refresh, valuesBefore: values.before };
}
export type EvaluationRunner = ReturnType<typeof createEvaluationRunner>;

/**
 * A firing that is stored came after the evaluations before it: none of these is run again, also
 * where the evaluation that it came of is still behind them. Only its mark says that an evaluation
 * fired: processes receive in another order than they commit, so times do not.
 */
function hadBefore(
  states: StateBook,
  some: readonly NextPush[],
  rest: readonly WaitingEvaluation[],
) {
  const places = new Map(some.map(({ push }, place) => [push, place]));
  return (rule: Rule, push: StoredPush): number => {
    const { id } = rule.notification;
    if (rest.some(({ fired }) => fired.has(id))) return push.datapoints.length;
    const lastFired = some.findLastIndex(({ evaluation }) => evaluation.fired.has(id));
    const place = places.get(push) ?? 0;
    if (place > lastFired) return 0;
    return place < lastFired ? push.datapoints.length : Math.max(1, countHad(states, rule, push));
  };
}

/** Whether the firing may be stored later: then the evaluation is not over. */
const isUnstored = (outcome: PromiseSettledResult<void>): outcome is PromiseRejectedResult =>
  outcome.status === 'rejected' &&
  outcome.reason instanceof DomainError &&
  isFailureToStore(outcome.reason);
