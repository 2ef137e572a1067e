import { createHexId } from '../../lib/secret-token.ts';
import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import { createDeviceQueues } from './device-queues.ts';
import type { EvaluationStore } from './evaluation-store.ts';
import type { EvaluationRunner, EvaluationTask } from './evaluation-task.ts';
import { createOwnEvaluations, type OwnEvaluation } from './own-evaluations.ts';
import { createRefusedEvaluations } from './refused-evaluations.ts';

/** Evaluations of this process in the queues of all processes: each waits until it is the first. */
export interface EvaluationQueue {
  newEvaluation(deviceId: DeviceId): NewEvaluation;
  /** Resolves when the evaluation that was filed with the push is over; throws its error. */
  push(push: StoredPush, evaluationId: string): Promise<void>;
  /** Files the evaluation; resolves when it is over. */
  task(deviceId: DeviceId, make: (look: NewEvaluation) => EvaluationTask): Promise<void>;
  /** Runs what ended processes left, and what this one could not run before. */
  sweep(): Promise<void>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

export function createEvaluationQueue(
  store: EvaluationStore,
  making: EvaluationRunner,
): EvaluationQueue {
  const own = createOwnEvaluations();
  const running = new Map<DeviceId, Promise<void>>();
  /** Evaluations of this process that nothing was under way for at the last sweep. */
  let suspects: ReadonlySet<string> = new Set();
  const unmade = createRefusedEvaluations((deviceId) => void start(deviceId, none));
  const turns = createDeviceQueues({ store, making, own, unmade });

  /** Works off a device's queue once at a time; `late`: abandoned own evaluations. */
  function start(deviceId: DeviceId, late?: ReadonlySet<string>): Promise<void> {
    const known = running.get(deviceId);
    if (known !== undefined) return known;
    const work = turns
      .workOff(deviceId, late)
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

  return {
    newEvaluation: (deviceId) => ({ id: createHexId(), member: store.member, deviceId }),
    push: (push, evaluationId) => add(push.deviceId, evaluationId, { push }),
    async task(deviceId, make) {
      const look: NewEvaluation = { id: createHexId(), member: store.member, deviceId };
      await store.file(look);
      await add(deviceId, look.id, { task: make(look) });
    },
    async sweep() {
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
    async drain() {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

const none: ReadonlySet<string> = new Set();
