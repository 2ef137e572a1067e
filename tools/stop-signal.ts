import { waitForStopSignal } from '../src/cli/stop-signal.ts';

/** Aborted at the first signal to stop, with this reason; a second one ends the process. */
export function abortAtStopSignal(reason?: Error): AbortSignal {
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort(reason));
  return stop.signal;
}
