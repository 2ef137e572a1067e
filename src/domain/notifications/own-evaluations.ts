import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { EvaluationTask } from './evaluation-store.ts';

/** An evaluation that a caller waits for here. */
export interface OwnEvaluation {
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
export function createOwnEvaluations() {
  const all = new Map<DeviceId, Map<string, Awaited>>();
  return {
    has: (deviceId: DeviceId): boolean => all.has(deviceId),
    find: (deviceId: DeviceId, id: string): OwnEvaluation | undefined => all.get(deviceId)?.get(id),
    idsOf: (deviceId: DeviceId): readonly string[] => [...(all.get(deviceId)?.keys() ?? [])],
    *pushesTo(deviceId: DeviceId): Generator<StoredPush, void> {
      for (const { push } of all.get(deviceId)?.values() ?? []) if (push !== undefined) yield push;
    },
    /** Resolves when the evaluation is settled; throws its error. */
    add(deviceId: DeviceId, id: string, look: OwnEvaluation): Promise<void> {
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
    /** Does nothing for one that is none of these. */
    settle(deviceId: DeviceId, id: string, outcome: PromiseSettledResult<void>): void {
      const ofDevice = all.get(deviceId);
      const look = ofDevice?.get(id);
      ofDevice?.delete(id);
      if (ofDevice?.size === 0) all.delete(deviceId);
      look?.settle(outcome);
    },
  };
}
export type OwnEvaluations = ReturnType<typeof createOwnEvaluations>;

/**
 * Makes an empty set of evaluations that the database refused: no caller waits for them here any
 * more. `make` is called for a device when its evaluations are to be tried again.
 */
export function createRefusedEvaluations(make: (deviceId: DeviceId) => void) {
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
export type RefusedEvaluations = ReturnType<typeof createRefusedEvaluations>;
