import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const resolutionMs = 20;
const nanosecondsPerSecond = 1e9;
/** Values are of the last one to two of these. */
const windowMs = 30_000;

/**
 * Adds how long the event loop was held: while it is, nobody is answered. Always on; it costs one
 * look at the clock every 20 ms.
 */
export function addEventLoopMetrics(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let since = performance.now();
  let before = { longest: 0, high: 0 };

  function heldSeconds(): typeof before {
    // The delay counts from the look before, which was due a resolution earlier.
    const held = (nanoseconds: number) =>
      Math.max(0, nanoseconds / nanosecondsPerSecond - resolutionMs / 1_000);
    if (delays.count === 0) return { longest: 0, high: 0 };
    return { longest: held(delays.max), high: held(delays.percentile(99)) };
  }

  new Gauge({
    name: 'kipimo_event_loop_held_seconds',
    help: 'How long the event loop was held at a time in the last half minute: quantiles.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      const now = heldSeconds();
      this.set({ quantile: '1' }, Math.max(now.longest, before.longest));
      this.set({ quantile: '0.99' }, Math.max(now.high, before.high));
      if (performance.now() - since < windowMs) return;
      since = performance.now();
      before = now;
      delays.reset();
    },
  });
}
