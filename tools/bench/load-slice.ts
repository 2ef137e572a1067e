import { benchLimits } from './bench-limits.ts';
import { createLatencyHistogram } from './latency-histogram.ts';
import type { LoadConnection } from './load-connection.ts';

/** What is sent, one request after the other, and what has to come back. */
export interface Traffic {
  readonly expectedStatus: number;
  /** The next request, and what is called when it was answered as expected. */
  next(): number;
  requestOf(sequence: number): string;
  acknowledge(sequence: number): void;
}

/** What was measured in one slice of time. */
export interface SliceFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers with another status than expected. */
  readonly refused: number;
  /** The start of the first such answer. */
  readonly refusal?: string;
}

/**
 * Keeps every connection busy for a time, each with its next request as soon as an answer came,
 * then waits for the answers under way. Rejects when a connection breaks or an answer is lost.
 */
export function runSlice(options: {
  readonly connections: readonly LoadConnection[];
  readonly traffic: Traffic;
  readonly durationMs: number;
  /** Aborted when a connection broke, or when the run is stopped. */
  readonly signal: AbortSignal;
}): Promise<SliceFigures> {
  const { connections, traffic, durationMs, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<SliceFigures>();
  const latencies = createLatencyHistogram();
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let busy = connections.length;
  let refused = 0;
  let refusal: string | undefined;

  function keepBusy(connection: LoadConnection): void {
    const sequence = traffic.next();
    const sentAt = performance.now();
    connection.send(traffic.requestOf(sequence), (status, answer) => {
      const now = performance.now();
      latencies.record(now - sentAt);
      if (status === traffic.expectedStatus) {
        traffic.acknowledge(sequence);
      } else {
        refused += 1;
        refusal ??= answer.toString('latin1', 0, 600);
      }
      if (now < endsAt) keepBusy(connection);
      else finishOne(now);
    });
  }

  function finishOne(now: number): void {
    busy -= 1;
    if (busy > 0) return;
    resolve({
      perSecond: (latencies.count * 1_000) / (now - startedAt),
      p50Ms: latencies.quantile(0.5),
      p99Ms: latencies.quantile(0.99),
      refused,
      ...(refusal !== undefined && { refusal }),
    });
  }

  const giveUp = () => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', giveUp, { once: true });
  const late = setTimeout(
    () => reject(new Error('an answer did not come in time')),
    durationMs + benchLimits.answerMs,
  );
  for (const connection of connections) keepBusy(connection);
  return promise.finally(() => {
    clearTimeout(late);
    signal.removeEventListener('abort', giveUp);
  });
}
