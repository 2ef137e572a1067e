import type { DropReason } from '../broker.ts';

/** Counts since the start, shown by metrics(). */
export interface Counters {
  messagesReceived: number;
  messagesSent: number;
  bytesReceived: number;
  bytesSent: number;
  queuedMessages: number;
  queuedBytes: number;
  readonly dropped: Record<DropReason, number>;
  readonly closedByCode: Map<number, number>;
}

/** Nothing happened yet. */
export function createCounters(): Counters {
  return {
    messagesReceived: 0,
    messagesSent: 0,
    bytesReceived: 0,
    bytesSent: 0,
    queuedMessages: 0,
    queuedBytes: 0,
    dropped: { queue_full: 0, slow: 0, expired: 0, not_allowed: 0, too_large: 0, refused: 0 },
    closedByCode: new Map(),
  };
}
