import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meters } from './reporter.ts';

const resolutionMs = 20;
const nanosecondsPerSecond = 1e9;
/** Values are of the last one to two of these. */
const windowMs = 30_000;

/**
 * Adds how long the event loop was blocked: meanwhile no client is answered. Always on; it costs
 * one reading of the clock every 20 ms.
 */
export function addEventLoopMetrics({ watched }: Meters): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let since = performance.now();
  let before = { longest: 0, high: 0 };

  function heldSeconds(): typeof before {
    // The delay counts from the reading before, which was due a resolution earlier.
    const held = (nanoseconds: number) =>
      Math.max(0, nanoseconds / nanosecondsPerSecond - resolutionMs / 1_000);
    if (delays.count === 0) return { longest: 0, high: 0 };
    return { longest: held(delays.max), high: held(delays.percentile(99)) };
  }

  watched(
    'gauge',
    'kipimo_event_loop_held_seconds',
    {
      help: 'How long the event loop was held at a time in the last half minute.',
      labels: ['percentile'],
    },
    () => {
      const now = heldSeconds();
      const longest = Math.max(now.longest, before.longest);
      const high = Math.max(now.high, before.high);
      if (performance.now() - since >= windowMs) {
        since = performance.now();
        before = now;
        delays.reset();
      }
      return [
        [longest, { percentile: '100' }],
        [high, { percentile: '99' }],
      ];
    },
  );
}
