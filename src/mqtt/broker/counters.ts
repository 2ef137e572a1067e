import type { DropReason } from '../broker.ts';

/** Counts since the start, shown by metrics(). */
export type Counters = ReturnType<typeof createCounters>;

export function createCounters() {
  const dropped = { queue_full: 0, slow: 0, expired: 0, not_allowed: 0, too_large: 0, refused: 0 };
  return {
    messagesReceived: 0,
    messagesSent: 0,
    bytesReceived: 0,
    bytesSent: 0,
    queuedMessages: 0,
    queuedBytes: 0,
    dropped: dropped satisfies Record<DropReason, number>,
    closedByCode: new Map<number, number>(),
  };
}
