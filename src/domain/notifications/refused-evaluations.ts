import type { DeviceId } from '../ids.ts';
import { evaluationLimits } from './evaluation-limits.ts';

/** Evaluations that the database refused: no caller waits for them here any more. */
export interface RefusedEvaluations {
  has(deviceId: DeviceId, id: string): boolean;
  add(deviceId: DeviceId, ids: readonly string[]): void;
  /** Calls for those of the device again soon, after growing pauses; in the end they are swept. */
  again(deviceId: DeviceId): void;
  /** Forgets the device's evaluations: they were run. */
  forget(deviceId: DeviceId): void;
}

/** Makes an empty set; `make` is called for a device when its evaluations are to be tried again. */
export function createRefusedEvaluations(make: (deviceId: DeviceId) => void): RefusedEvaluations {
  const unmade = new Map<DeviceId, { readonly ids: ReadonlySet<string>; readonly tries: number }>();
  return {
    has: (deviceId, id) => unmade.get(deviceId)?.ids.has(id) === true,
    add(deviceId, some) {
      const { ids = [], tries = 0 } = unmade.get(deviceId) ?? {};
      const all = new Set([...ids, ...some]);
      if (all.size > 0) unmade.set(deviceId, { ids: all, tries });
    },
    again(deviceId) {
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
    forget: (deviceId) => void unmade.delete(deviceId),
  };
}
