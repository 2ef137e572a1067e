import assert from 'node:assert/strict';

/**
 * Asks /healthz again and again from now on; answers how long the longest answer took. Whatever
 * holds the event loop keeps it waiting as long.
 */
export function watchHealth(url: string): { longestMs(): Promise<number> } {
  let longestMs = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
    }
  })();
  // A failure is told when the result is asked for.
  watching.catch(() => undefined);
  return {
    async longestMs() {
      isOver = true;
      await watching;
      return Math.round(longestMs);
    },
  };
}
