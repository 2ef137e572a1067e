import { createSemaphore } from '../../lib/scheduling/semaphore.ts';
import { createHexId } from '../../lib/secret-token.ts';
import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import { memberLimits } from '../members/member-limits.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { EvaluationRunner } from './evaluation-runner.ts';
import type {
  DeviceQueue,
  EndOutcome,
  EvaluationStore,
  EvaluationTask,
  NextPush,
  WaitingEvaluation,
} from './notification-store.ts';

/** Queues evaluations of this process among those of all: each waits until it is the first. */
export function createEvaluationQueue(store: EvaluationStore, runner: EvaluationRunner) {
  const own = createOwnEvaluations();
  const running = new Map<DeviceId, Promise<void>>();
  /** Evaluations of this process that nothing was under way for at the last sweep. */
  let suspects: ReadonlySet<string> = new Set();
  const unmade = createRefusedEvaluations((deviceId) => void start(deviceId, none));
  const workOff = createWorkOff({ store, runner, own, unmade });

  /** Works off a device's queue once at a time; `late`: abandoned own evaluations. */
  function start(deviceId: DeviceId, late?: ReadonlySet<string>): Promise<void> {
    const known = running.get(deviceId);
    if (known !== undefined) return known;
    const work = workOff(deviceId, late)
      .then(
        () => unmade.forget(deviceId),
        (reason: unknown) => {
          const ids = own.idsOf(deviceId);
          for (const id of ids) own.settle(deviceId, id, { status: 'rejected', reason });
          unmade.add(deviceId, ids);
          unmade.again(deviceId);
        },
      )
      .finally(() => {
        running.delete(deviceId);
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

  const newEvaluation = (deviceId: DeviceId): NewEvaluation => ({
    ...{ id: createHexId(), member: store.member, deviceId },
  });

  return {
    newEvaluation,
    /** Resolves when the evaluation that was filed with the push is over; throws its error. */
    push: (push: StoredPush, evaluationId: string): Promise<void> =>
      add(push.deviceId, evaluationId, { push }),
    /** Files the evaluation; resolves when it is over. */
    async task(deviceId: DeviceId, make: (id: string) => EvaluationTask): Promise<void> {
      const filed = newEvaluation(deviceId);
      await store.file(filed);
      await add(deviceId, filed.id, { task: make(filed.id) });
    },
    /** Runs what ended processes left, and what this one could not run before. */
    async sweep(): Promise<void> {
      const before = suspects;
      const found = await store.left();
      const unknown = found.filter(
        ({ id, deviceId, isLeft }) => !isLeft && own.find(deviceId, id) === undefined,
      );
      suspects = new Set(unknown.map(({ id }) => id));
      const due = found.filter(({ id, isLeft }) => isLeft || (suspects.has(id) && before.has(id)));
      for (const deviceId of new Set(due.map((evaluation) => evaluation.deviceId))) {
        await start(deviceId, before);
      }
    },
    /** Resolves when nothing is under way. */
    async drain(): Promise<void> {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

const none: ReadonlySet<string> = new Set();

/** Waits: the first in the queue is another process's, or not known here yet. */
type MadeOutcome = EndOutcome | 'waits' | 'over';

const over: PromiseSettledResult<void> = { status: 'fulfilled', value: undefined };

/** State of one device's queue while it is worked off. */
interface Progress {
  readonly late: ReadonlySet<string> | undefined;
  readonly taken: Set<string>;
  /** When something of it was over. */
  since: number;
  /** How long another process that lives may take for the first evaluation. */
  patienceMs: number;
  waitsFor: { readonly id: string; readonly since: number } | undefined;
}

/** Makes what works off the queue of a device, as this process sees it. */
function createWorkOff(parts: {
  readonly store: EvaluationStore;
  readonly runner: EvaluationRunner;
  readonly own: OwnEvaluations;
  readonly unmade: RefusedEvaluations;
}) {
  const { store, runner, own, unmade } = parts;
  const atOnce = createSemaphore({
    parallelMax: evaluationLimits.looksAtOnceMax,
    waitingMax: evaluationLimits.looksWaitingMax,
  });

  /**
   * Runs evaluations of the device while the first in its queue is this process's, until none of
   * its own waits; `late`: abandoned own evaluations, until they and those that other processes
   * left before them are over as well. Throws what the database refuses.
   */
  async function workOff(deviceId: DeviceId, late?: ReadonlySet<string>): Promise<void> {
    const now = performance.now();
    const progress: Progress = {
      ...{ late, taken: new Set<string>(), since: now },
      ...{ patienceMs: evaluationLimits.patienceMs, waitsFor: undefined },
    };
    let pauseMs: number = evaluationLimits.pauseMsMin;
    while (late !== undefined || own.has(deviceId)) {
      const outcome = await goOn(deviceId, progress);
      if (outcome === 'over') return;
      if (outcome === 'waits') {
        await pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, evaluationLimits.pauseMsMax);
        continue;
      }
      if (outcome === 'taken') progress.patienceMs *= evaluationLimits.patienceFactor;
      progress.since = performance.now();
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
      return waitOrTake(deviceId, first, progress);
    }
    const left = firstOf(queue, (evaluation) => isLeftNow(deviceId, evaluation, progress));
    if (left.length > 0) {
      const work = { rest: queue.slice(left.length), remembered };
      return atOnce.run(deviceId, () => runner.makeAgain(deviceId, left, work));
    }
    return own.has(deviceId) ? makeOwn(deviceId, read) : 'over';
  }

  /** Takes the first evaluation of an ended process at once, of a living one after a while. */
  async function waitOrTake(
    deviceId: DeviceId,
    first: WaitingEvaluation,
    progress: Progress,
  ): Promise<MadeOutcome> {
    if (progress.waitsFor?.id !== first.id) {
      progress.waitsFor = { id: first.id, since: performance.now() };
    }
    const isLate = performance.now() - progress.waitsFor.since > progress.patienceMs;
    if (first.isLeft || (isLate && nextPushOf(deviceId, first) !== undefined)) {
      await store.take(first.id, first.member);
      progress.taken.add(first.id);
      return 'ended';
    }
    return own.has(deviceId) ? 'waits' : 'over';
  }

  function isLeftNow(
    deviceId: DeviceId,
    evaluation: WaitingEvaluation,
    progress: Progress,
  ): boolean {
    const { id, member, isLeft } = evaluation;
    if (isLeft) return true;
    if (member !== store.member || own.find(deviceId, id) !== undefined) return false;
    const { late, taken, since } = progress;
    if (late?.has(id) === true || taken.has(id) || unmade.has(deviceId, id)) return true;
    // A moment after a commit, its evaluations are not among our own yet.
    return performance.now() - since > evaluationLimits.lateMs;
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

  /** Runs the first in the queue where it is our own, with pushes of any process behind it. */
  async function makeOwn(deviceId: DeviceId, read: DeviceQueue): Promise<MadeOutcome> {
    const { looks: queue, states: remembered } = read;
    const [first] = queue;
    const found = first && own.find(deviceId, first.id);
    if (first === undefined || found === undefined) return 'waits';
    const { task } = found;
    if (task !== undefined) {
      const ended = await atOnce.run(deviceId, () => task(queue.slice(1)));
      if (ended === 'ended') own.settle(deviceId, first.id, over);
      return ended;
    }
    const some: NextPush[] = [];
    let charactersOfOthers = 0;
    for (const evaluation of queue) {
      if (evaluation.member !== store.member) charactersOfOthers += evaluation.text.length;
      if (charactersOfOthers > evaluationLimits.charactersOfOthersMax) break;
      const next = nextPushOf(deviceId, evaluation);
      if (next === undefined) break;
      some.push(next);
    }
    const ids = some.map(({ evaluation }) => evaluation.id);
    const onMade = (outcomes: readonly PromiseSettledResult<void>[]): void => {
      ids.forEach((id, at) => {
        own.settle(deviceId, id, outcomes[at] ?? over);
      });
    };
    try {
      const work = { rest: queue.slice(some.length), remembered, onMade };
      return await atOnce.run(deviceId, () => runner.makePushes(deviceId, some, work));
    } catch (error) {
      unmade.add(deviceId, ids);
      throw error;
    }
  }

  function nextPushOf(deviceId: DeviceId, evaluation: WaitingEvaluation): NextPush | undefined {
    const push = own.find(deviceId, evaluation.id)?.push;
    if (push !== undefined) return { evaluation, push };
    if (evaluation.member === store.member) return undefined;
    const told = runner.nextPushOf(evaluation);
    // Other processes receive only a part of a longer push.
    const isWhole = (told?.push.datapoints.length ?? 0) < memberLimits.datapointsPerEntryMax;
    return isWhole ? told : undefined;
  }

  return workOff;
}

function firstOf<Item>(items: readonly Item[], isOne: (item: Item) => boolean): readonly Item[] {
  const end = items.findIndex((item) => !isOne(item));
  return end < 0 ? items : items.slice(0, end);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
  return {
    has: (deviceId: DeviceId): boolean => all.has(deviceId),
    find: (deviceId: DeviceId, id: string): OwnEvaluation | undefined => all.get(deviceId)?.get(id),
    idsOf: (deviceId: DeviceId): readonly string[] => [...(all.get(deviceId)?.keys() ?? [])],
    *pushesTo(deviceId: DeviceId): Generator<StoredPush, void> {
      for (const { push } of all.get(deviceId)?.values() ?? []) if (push !== undefined) yield push;
    },
    /** Resolves when the evaluation is settled; throws its error. */
    add(deviceId: DeviceId, id: string, evaluation: OwnEvaluation): Promise<void> {
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
type OwnEvaluations = ReturnType<typeof createOwnEvaluations>;

/**
 * Makes an empty set of evaluations that the database refused: no caller waits for them here any
 * more. `make` is called for a device when its evaluations are to be tried again.
 */
function createRefusedEvaluations(make: (deviceId: DeviceId) => void) {
  const unmade = new Map<DeviceId, { readonly ids: ReadonlySet<string>; readonly tries: number }>();
  return {
    has: (deviceId: DeviceId, id: string): boolean => unmade.get(deviceId)?.ids.has(id) === true,
    add(deviceId: DeviceId, some: readonly string[]): void {
      const { ids = [], tries = 0 } = unmade.get(deviceId) ?? {};
      const all = new Set([...ids, ...some]);
      if (all.size > 0) unmade.set(deviceId, { ids: all, tries });
    },
    /** Calls for those of the device again after growing pauses; in the end they are swept. */
    again(deviceId: DeviceId): void {
      const { ids, tries = 0 } = unmade.get(deviceId) ?? {};
      if (ids === undefined) return;
      if (tries >= evaluationLimits.againTriesMax) {
        unmade.delete(deviceId);
        return;
      }
      unmade.set(deviceId, { ids, tries: tries + 1 });
      const ms = Math.min(evaluationLimits.againMsMin * 2 ** tries, evaluationLimits.againMsMax);
      setTimeout(() => {
        if (unmade.has(deviceId)) make(deviceId);
      }, ms).unref();
    },
    /** Forgets the device's evaluations: they were run. */
    forget: (deviceId: DeviceId): void => void unmade.delete(deviceId),
  };
}
type RefusedEvaluations = ReturnType<typeof createRefusedEvaluations>;
