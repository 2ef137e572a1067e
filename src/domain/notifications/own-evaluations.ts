import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import type { EvaluationTask } from './evaluation-task.ts';

/** An evaluation that a caller waits for here. */
export interface OwnEvaluation {
  /** Absent: time or a client calls for it. */
  readonly push?: StoredPush;
  readonly task?: EvaluationTask;
}

/** Evaluations that this process filed, until their callers have the outcomes. */
export interface OwnEvaluations {
  has(deviceId: DeviceId): boolean;
  find(deviceId: DeviceId, id: string): OwnEvaluation | undefined;
  idsOf(deviceId: DeviceId): readonly string[];
  pushesTo(deviceId: DeviceId): Iterable<StoredPush>;
  /** Resolves when the evaluation is settled; throws its error. */
  add(deviceId: DeviceId, id: string, look: OwnEvaluation): Promise<void>;
  /** Does nothing for one that is none of these. */
  settle(deviceId: DeviceId, id: string, outcome: PromiseSettledResult<void>): void;
}

interface Awaited extends OwnEvaluation {
  settle(outcome: PromiseSettledResult<void>): void;
}

/** Makes an empty set. Pushes are refused by their bytes long before it grows too large. */
export function createOwnEvaluations(): OwnEvaluations {
  const all = new Map<DeviceId, Map<string, Awaited>>();
  return {
    has: (deviceId) => all.has(deviceId),
    find: (deviceId, id) => all.get(deviceId)?.get(id),
    idsOf: (deviceId) => [...(all.get(deviceId)?.keys() ?? [])],
    *pushesTo(deviceId) {
      for (const { push } of all.get(deviceId)?.values() ?? []) if (push !== undefined) yield push;
    },
    add(deviceId, id, look) {
      const ofDevice = all.get(deviceId) ?? new Map<string, Awaited>();
      all.set(deviceId, ofDevice);
      return new Promise<void>((resolve, reject) => {
        ofDevice.set(id, {
          ...look,
          settle: (outcome) =>
            outcome.status === 'fulfilled' ? resolve() : reject(outcome.reason),
        });
      });
    },
    settle(deviceId, id, outcome) {
      const ofDevice = all.get(deviceId);
      const look = ofDevice?.get(id);
      ofDevice?.delete(id);
      if (ofDevice?.size === 0) all.delete(deviceId);
      look?.settle(outcome);
    },
  };
}
