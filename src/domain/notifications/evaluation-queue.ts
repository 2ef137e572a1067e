import { createHexId } from '../../lib/secret-token.ts';
import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import {
  createOwnEvaluations,
  createRefusedEvaluations,
  createWorkOff,
  type OwnEvaluation,
} from './device-queues.ts';
import type { EvaluationRunner } from './evaluation-runner.ts';
import type { EvaluationStore, EvaluationTask } from './evaluation-store.ts';

/** Queues evaluations of this process among those of all: each waits until it is the first. */
export function createEvaluationQueue(store: EvaluationStore, making: EvaluationRunner) {
  const own = createOwnEvaluations();
  const running = new Map<DeviceId, Promise<void>>();
  /** Evaluations of this process that nothing was under way for at the last sweep. */
  let suspects: ReadonlySet<string> = new Set();
  const unmade = createRefusedEvaluations((deviceId) => void start(deviceId, none));
  const workOff = createWorkOff({ store, making, own, unmade });

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

  function add(deviceId: DeviceId, id: string, look: OwnEvaluation): Promise<void> {
    const done = own.add(deviceId, id, look);
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
    async task(deviceId: DeviceId, make: (look: NewEvaluation) => EvaluationTask): Promise<void> {
      const look = newEvaluation(deviceId);
      await store.file(look);
      await add(deviceId, look.id, { task: make(look) });
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
      for (const deviceId of new Set(due.map((look) => look.deviceId))) {
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
