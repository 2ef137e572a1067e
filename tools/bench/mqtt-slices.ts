import { benchLimits } from './bench-limits.ts';
import { createLatencyHistogram } from './latency-histogram.ts';
import type { MqttConnection } from './mqtt-connection.ts';
import { packetTypes } from './mqtt-packets.ts';
import type { PublishTraffic } from './mqtt-traffic.ts';

/** What was measured in one slice of time. */
export interface MqttSliceFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface MqttSlice {
  readonly publishers: readonly MqttConnection[];
  /** Each gets every publish, with QoS 0; the slice then counts deliveries. */
  readonly subscribers: readonly MqttConnection[];
  readonly traffic: PublishTraffic;
  /** Publishes of one connection that wait for their PUBACK. */
  readonly window: number;
  readonly durationMs: number;
  /** Aborted when a connection broke, or when the run is stopped. */
  readonly signal: AbortSignal;
}

/**
 * Keeps the window of every publisher full for a time, then waits for what is under way: all
 * PUBACKs, and all deliveries when there are subscribers. Rejects when one of them is lost.
 */
export function runMqttSlice(slice: MqttSlice): Promise<MqttSliceFigures> {
  const { publishers, subscribers, traffic, window, durationMs, signal } = slice;
  const { promise, resolve, reject } = Promise.withResolvers<MqttSliceFigures>();
  const latencies = createLatencyHistogram();
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let busy = publishers.length;
  let published = 0;
  let delivered = 0;

  function finishWhenWhole(): void {
    if (busy > 0 || delivered < published * subscribers.length) return;
    const seconds = (performance.now() - startedAt) / 1_000;
    resolve({
      perSecond: (subscribers.length > 0 ? delivered : published) / seconds,
      p50Ms: latencies.quantile(0.5),
      p99Ms: latencies.quantile(0.99),
    });
  }

  for (const subscriber of subscribers) {
    subscriber.listen((first) => {
      if (first >> 4 !== packetTypes.publish) return;
      delivered += 1;
      if (busy === 0) finishWhenWhole();
    });
  }
  const onAcknowledged = (milliseconds: number) => {
    published += 1;
    latencies.record(milliseconds);
  };
  const onDone = () => {
    busy -= 1;
    finishWhenWhole();
  };
  const giveUp = () => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', giveUp, { once: true });
  const late = setTimeout(
    () => reject(new Error('an acknowledgement or a delivery did not come in time')),
    durationMs + benchLimits.answerMs,
  );
  for (const publisher of publishers) {
    keepPublishing({ publisher, traffic, window, endsAt, onAcknowledged, onDone, reject });
  }
  return promise.finally(() => {
    clearTimeout(late);
    signal.removeEventListener('abort', giveUp);
  });
}

/** One publisher: as many packets as were acknowledged go out together with the next write. */
function keepPublishing(options: {
  readonly publisher: MqttConnection;
  readonly traffic: PublishTraffic;
  readonly window: number;
  readonly endsAt: number;
  readonly onAcknowledged: (milliseconds: number) => void;
  readonly onDone: () => void;
  readonly reject: (error: Error) => void;
}): void {
  const { publisher, traffic, window, endsAt, onAcknowledged, onDone, reject } = options;
  /** By packet id, from 1: which publish it is, and when it was sent; −1: the id is free. */
  const sequences = new Float64Array(window + 1).fill(-1);
  const sentAt = new Float64Array(window + 1);
  const free = Array.from({ length: window }, (_, index) => index + 1);
  let isRefilling = false;

  function refill(): void {
    isRefilling = false;
    const now = performance.now();
    if (now >= endsAt) {
      if (free.length === window) onDone();
      return;
    }
    const target = Buffer.allocUnsafe(free.length * traffic.packetBytesMax);
    let end = 0;
    for (let id = free.pop(); id !== undefined; id = free.pop()) {
      const sequence = traffic.next();
      sequences[id] = sequence;
      sentAt[id] = now;
      end = traffic.write(target, end, sequence, id);
    }
    publisher.write(target.subarray(0, end));
  }

  publisher.listen((first, bytes, bodyAt) => {
    if (first >> 4 !== packetTypes.puback) return;
    const id = bytes.readUInt16BE(bodyAt);
    const sequence = sequences[id] ?? -1;
    if (sequence < 0) {
      reject(new Error(`packet id ${id} was acknowledged without a publish`));
      return;
    }
    sequences[id] = -1;
    traffic.acknowledge(sequence);
    onAcknowledged(performance.now() - (sentAt[id] ?? 0));
    free.push(id);
    if (isRefilling) return;
    isRefilling = true;
    // After this chunk: its acknowledgements are answered by one write.
    queueMicrotask(refill);
  });
  refill();
}
