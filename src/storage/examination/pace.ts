import { setTimeout as wait } from 'node:timers/promises';

const workMs = 4;

/** Resolves at once, or, when a few milliseconds of work were done, after as long a rest. */
export type Pace = () => Promise<void>;

/** Half of one core, and half of what the disk can do, are left to the service beside. */
export function createPace(): Pace {
  let restedAt = performance.now();
  return async () => {
    const workedMs = performance.now() - restedAt;
    if (workedMs < workMs) return;
    await wait(workedMs);
    restedAt = performance.now();
  };
}
