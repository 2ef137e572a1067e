import { limits } from './limits.ts';

/**
 * Work at times of a clock, which may be set at any moment: whether it is due is checked a few
 * times a second, by one timer, and it is done once at a time.
 */
export function createClockChecks(isDue: () => boolean, work: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function tick(): Promise<void> {
    while (running !== undefined) await running;
    running = work().finally(() => {
      running = undefined;
    });
    await running;
  }

  return {
    /** Does the work now; resolves when it was done. */
    tick,
    start(): void {
      timer = setInterval(() => {
        if (isDue() && running === undefined) void tick();
      }, limits.clockCheckMs);
      timer.unref();
    },
    /** Resolves when the work under way is done. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
