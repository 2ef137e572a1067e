import { environmentOfOthers } from '../config/environment-file.ts';
import { type Clock, systemClock } from '../lib/clock.ts';

/** npm and shells pass a Ctrl-C on that the service got already: so soon, it is the same one. */
const echoMs = 1_000;
type StopSignal = 'SIGTERM' | 'SIGINT';

/** Resolves at the first signal to stop; `onImpatience` is called at a second one. */
export function waitForStopSignal(
  options: {
    readonly signals: { on(signal: StopSignal, listener: () => void): unknown };
    readonly clock: Clock;
    readonly onImpatience: () => void;
  } = { signals: process, clock: systemClock, onImpatience: () => process.exit(1) },
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    function receive(signal: StopSignal): void {
      const now = options.clock.now();
      if (firstAt === undefined) {
        firstAt = now;
        resolve(signal);
      } else if (now - firstAt >= echoMs) {
        options.onImpatience();
      }
    }
    options.signals.on('SIGTERM', () => receive('SIGTERM'));
    options.signals.on('SIGINT', () => receive('SIGINT'));
  });
}

/**
 * Stops the process when its parent ends, where npm started it: the shell between them dies of a
 * SIGTERM to npm without passing it on.
 */
export function stopWithNpm(everyMs = 250): void {
  if (environmentOfOthers()['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, everyMs);
  watch.unref();
}
