import { setTimeout as wait } from 'node:timers/promises';

/** Calls when it was not started again for so long; one timer, however often that is done. */
export function createRestTimer(restMs: number, onRest: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let startedAt = 0;

  function arm(delayMs: number): void {
    timer = setTimeout(() => {
      const leftMs = startedAt + restMs - performance.now();
      timer = undefined;
      if (leftMs > 0) arm(leftMs);
      else onRest();
    }, delayMs).unref();
  }

  return {
    restart(): void {
      startedAt = performance.now();
      if (timer === undefined) arm(restMs);
    },
    stop(): void {
      clearTimeout(timer);
    },
  };
}

/** Resolves after the pause before the next try, doubled with each failure; aborted, at once. */
export async function pauseAfter(
  failures: number,
  { minMs, maxMs, signal }: { minMs: number; maxMs: number; signal: AbortSignal },
): Promise<void> {
  const delayMs = Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 20));
  // Ended early by close, which is all there is to know.
  await wait(delayMs, undefined, { ref: false, signal }).catch(() => undefined);
}
