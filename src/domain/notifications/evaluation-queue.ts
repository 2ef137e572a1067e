import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import { createHexId } from '../../lib/secret-token.ts';
import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import { memberLimits } from '../members/member-limits.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { EvaluationRunner, Runnable } from './evaluation-runner.ts';
import type {
  EndOutcome,
  EvaluationStore,
  EvaluationTask,
  WaitingEvaluation,
} from './notification-store.ts';

/** Queues evaluations of this process among those of all: each waits until it is the first. */
export function createEvaluationQueue(store: EvaluationStore, runner: EvaluationRunner) {
  const own = createOwnEvaluations();
  /** Devices with evaluations that no caller waits for any more. */
  const due = new Set<DeviceId>();
  const running = new Map<DeviceId, Promise<void>>();
  const workOff = createWorkOff({ store, runner, own, due });
  /** The next sweep after a refusal. */
  let nextSweep: ReturnType<typeof setTimeout> | undefined;

  /** Works off a device's queue, once at a time. */
  function start(deviceId: DeviceId): Promise<void> {
    const known = running.get(deviceId);
    if (known !== undefined) return known;
    const work = workOff(deviceId)
      .catch((reason: unknown) => {
        for (const id of own.idsOf(deviceId))
          own.settle(deviceId, id, { status: 'rejected', reason });
        sweepSoon();
      })
      .finally(() => {
        running.delete(deviceId);
        due.delete(deviceId);
        if (own.has(deviceId)) void start(deviceId);
      });
    running.set(deviceId, work);
    return work;
  }

  function add(deviceId: DeviceId, id: string, evaluation: OwnEvaluation): Promise<void> {
    const done = own.add(deviceId, id, evaluation);
    void start(deviceId);
    return done;
  }

  function newEvaluation(deviceId: DeviceId): NewEvaluation {
    const filed = { id: createHexId(), member: store.member, deviceId };
    own.expect(filed.id);
    return filed;
  }

  /** Runs what ended processes left, and what this one could not run before. */
  async function sweep(): Promise<void> {
    own.expectNoLonger();
    const found = await store.left();
    for (const { id, deviceId, isLeft } of found) {
      if (isLeft || !own.isAwaited(deviceId, id)) due.add(deviceId);
    }
    await Promise.all([...due].map(start));
  }

  /** Evaluations that the database refused are run again, until it takes them. */
  function sweepSoon(): void {
    nextSweep ??= setTimeout(() => {
      nextSweep = undefined;
      sweep().catch(sweepSoon);
    }, evaluationLimits.againMs).unref();
  }

  return {
    newEvaluation,
    sweep,
    /** Resolves when the evaluation that was filed with the push is over; throws its error. */
    push: (push: StoredPush, evaluationId: string): Promise<void> =>
      add(push.deviceId, evaluationId, { push }),
    /** Files the evaluation; resolves when it is over. */
    async task(deviceId: DeviceId, make: (id: string) => EvaluationTask): Promise<void> {
      const filed = newEvaluation(deviceId);
      await store.file(filed);
      await add(deviceId, filed.id, { task: make(filed.id) });
    },
    /** Resolves when nothing is under way; what was refused waits for the next sweep or start. */
    async drain(): Promise<void> {
      while (running.size > 0) await Promise.all(running.values());
      clearTimeout(nextSweep);
      nextSweep = undefined;
    },
  };
}

/** Waits: the first in the queue is another process's, or not known here yet. */
type MadeOutcome = EndOutcome | 'waits' | 'over';
const over: PromiseSettledResult<void> = { status: 'fulfilled', value: undefined };

/** State of one device's queue while it is worked off. */
interface Progress {
  /** How long another process that lives may take for the first evaluation. */
  patienceMs: number;
  waitsFor: { readonly id: string; readonly since: number } | undefined;
}

/** Makes what works off the queue of a device, as this process sees it. */
function createWorkOff(parts: {
  readonly store: EvaluationStore;
  readonly runner: EvaluationRunner;
  readonly own: ReturnType<typeof createOwnEvaluations>;
  readonly due: ReadonlySet<DeviceId>;
}) {
  const { store, runner, own, due } = parts;
  const atOnce = createSemaphore({
    parallelMax: evaluationLimits.looksAtOnceMax,
    waitingMax: evaluationLimits.looksWaitingMax,
  });

  /**
   * Runs evaluations of the device while the first in its queue is this process's, until none of
   * its own waits, and where it is due nothing that processes left before them. Throws what the
   * database refuses.
   */
  async function workOff(deviceId: DeviceId): Promise<void> {
    const progress: Progress = { patienceMs: evaluationLimits.patienceMs, waitsFor: undefined };
    let pauseMs: number = evaluationLimits.pauseMsMin;
    while (due.has(deviceId) || own.has(deviceId)) {
      const outcome = await goOn(deviceId, progress);
      if (outcome === 'over') return;
      if (outcome === 'waits') {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        pauseMs = Math.min(2 * pauseMs, evaluationLimits.pauseMsMax);
        continue;
      }
      if (outcome === 'taken') progress.patienceMs *= evaluationLimits.patienceFactor;
      pauseMs = evaluationLimits.pauseMsMin;
    }
  }

  async function goOn(deviceId: DeviceId, progress: Progress): Promise<MadeOutcome> {
    const before = own.idsOf(deviceId);
    const read = await store.line(deviceId, runner.rulesOn(deviceId, own.pushesTo(deviceId)));
    const { looks: queue, states: remembered } = read;
    endThoseGone(deviceId, before, queue);
    const [first] = queue;
    if (first !== undefined && first.member !== store.member) {
      if (mayTake(deviceId, first, progress)) {
        await store.take(first.id, first.member);
        return 'ended';
      }
    } else if (first !== undefined) {
      const task = own.find(deviceId, first.id)?.task;
      if (task !== undefined) {
        const ended = await atOnce.run(deviceId, () => task(queue.slice(1)));
        if (ended === 'ended') own.settle(deviceId, first.id, over);
        return ended;
      }
      const some = runnablesOf(deviceId, queue);
      if (some.length > 0) {
        return atOnce.run(deviceId, () =>
          runner.run(deviceId, some, {
            rest: queue.slice(some.length),
            remembered,
            onMade: (id, outcome = over) => own.settle(deviceId, id, outcome),
          }),
        );
      }
    }
    return own.has(deviceId) ? 'waits' : 'over';
  }

  /** Whether the first evaluation's process ended, or lives and has not run it for a while. */
  function mayTake(deviceId: DeviceId, first: WaitingEvaluation, progress: Progress): boolean {
    const now = performance.now();
    if (progress.waitsFor?.id !== first.id) progress.waitsFor = { id: first.id, since: now };
    const isLate = now - progress.waitsFor.since > progress.patienceMs;
    return first.isLeft || (isLate && runnableOf(deviceId, first) !== undefined);
  }

  /** Settles own evaluations that another process ran. */
  function endThoseGone(
    deviceId: DeviceId,
    before: readonly string[],
    queue: readonly WaitingEvaluation[],
  ): void {
    if (queue.length >= evaluationLimits.looksInLineMax) return;
    const waiting = new Set(queue.map(({ id }) => id));
    for (const id of before) if (!waiting.has(id)) own.settle(deviceId, id, over);
  }

  /**
   * Finds what is run together: own evaluations with pushes of any process behind them, or those
   * that nobody waits for, which must not fail the others.
   */
  function runnablesOf(
    deviceId: DeviceId,
    queue: readonly WaitingEvaluation[],
  ): readonly Runnable[] {
    const some: Runnable[] = [];
    let characters = 0;
    for (const evaluation of queue) {
      const next = runnableOf(deviceId, evaluation);
      if (next === undefined || next.isAgain !== (some[0] ?? next).isAgain) break;
      if (evaluation.member !== store.member) characters += evaluation.text.length;
      if (characters > evaluationLimits.charactersOfOthersMax && some.length > 0) break;
      some.push(next);
    }
    return some;
  }

  function runnableOf(deviceId: DeviceId, evaluation: WaitingEvaluation): Runnable | undefined {
    const { id, member, isLeft } = evaluation;
    const known = own.find(deviceId, id);
    if (known !== undefined) return known.push && { evaluation, push: known.push, isAgain: false };
    const isOwn = member === store.member;
    // A moment after a commit, its evaluations are not among our own yet.
    if (isOwn && own.isAwaited(deviceId, id)) return undefined;
    const push = runner.pushOf(evaluation);
    if (isOwn || isLeft) return { evaluation, push, isAgain: true };
    // Other processes receive only a part of a longer push.
    const isWhole =
      push !== undefined && push.datapoints.length < memberLimits.datapointsPerEntryMax;
    return isWhole ? { evaluation, push, isAgain: false } : undefined;
  }

  return workOff;
}

/** An evaluation that a caller waits for here. */
interface OwnEvaluation {
  /** Absent: time or a client calls for it. */
  readonly push?: StoredPush;
  readonly task?: EvaluationTask;
}

interface Awaited extends OwnEvaluation {
  settle(outcome: PromiseSettledResult<void>): void;
}

/**
 * Makes an empty set of evaluations that this process filed, until their callers have the outcomes.
 * Pushes are refused by their bytes long before it grows too large.
 */
function createOwnEvaluations() {
  const all = new Map<DeviceId, Map<string, Awaited>>();
  /** Filed in a commit that is not answered yet, by when that was. */
  const expected = new Map<string, number>();
  const find = (deviceId: DeviceId, id: string): OwnEvaluation | undefined =>
    all.get(deviceId)?.get(id);
  return {
    find,
    has: (deviceId: DeviceId): boolean => all.has(deviceId),
    /** Whether a caller waits for it, or soon will. */
    isAwaited: (deviceId: DeviceId, id: string): boolean =>
      find(deviceId, id) !== undefined ||
      performance.now() - (expected.get(id) ?? Number.NEGATIVE_INFINITY) < evaluationLimits.lateMs,
    expect: (id: string): void => void expected.set(id, performance.now()),
    /** Forgets those that were filed long ago: their commits failed. */
    expectNoLonger(): void {
      const since = performance.now() - evaluationLimits.lateMs;
      for (const [id, at] of expected) if (at < since) expected.delete(id);
    },
    idsOf: (deviceId: DeviceId): readonly string[] => [...(all.get(deviceId)?.keys() ?? [])],
    *pushesTo(deviceId: DeviceId): Generator<StoredPush, void> {
      for (const { push } of all.get(deviceId)?.values() ?? []) if (push !== undefined) yield push;
    },
    /** Resolves when the evaluation is settled; throws its error. */
    add(deviceId: DeviceId, id: string, evaluation: OwnEvaluation): Promise<void> {
      expected.delete(id);
      const ofDevice = all.get(deviceId) ?? new Map<string, Awaited>();
      all.set(deviceId, ofDevice);
      return new Promise<void>((resolve, reject) => {
        ofDevice.set(id, {
          ...evaluation,
          settle: (outcome) =>
            outcome.status === 'fulfilled' ? resolve() : reject(outcome.reason),
        });
      });
    },
    /** Does nothing for one that is none of these. */
    settle(deviceId: DeviceId, id: string, outcome: PromiseSettledResult<void>): void {
      const ofDevice = all.get(deviceId);
      const evaluation = ofDevice?.get(id);
      ofDevice?.delete(id);
      if (ofDevice?.size === 0) all.delete(deviceId);
      evaluation?.settle(outcome);
    },
  };
}
