import type { Budget } from '../../domain/budgets/budget.ts';
import type { Message, SessionKey } from '../../domain/messaging/message.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Client } from '../broker-hooks.ts';

/** A last will whose connection is gone. */
export interface PendingWill {
  readonly client: Client;
  readonly message: Message;
  /** From its publication on. */
  readonly expirySeconds: number | undefined;
  /** When it is published unless the client comes back. */
  readonly dueAt: Instant;
}

/** Last wills, of clients that are here and of those that left; at most one for each session. */
export interface Wills {
  /** Takes room for it as long as it may be published; false: there is none. */
  keep(client: Client, message: Message): boolean;
  /** It will not be published: its client said goodbye. */
  discard(client: Client, message: Message): void;
  /** Publishes it now, or when it is due. */
  leave(key: SessionKey, will: PendingWill, now: Instant): void;
  /** The client is back in time. */
  cancel(key: SessionKey): void;
  /** The session ended: there is nothing to wait for. */
  publishNow(key: SessionKey): void;
  /** Publishes what is due. */
  sweep(now: Instant): void;
  /** Publishes all. */
  publishAll(): void;
}

/** A will without its texts and bytes. */
const willBytes = 512;

export function createWills(bytes: Budget, publish: (will: PendingWill) => void): Wills {
  const pending = new Map<SessionKey, PendingWill>();

  function discard({ payer }: Client, message: Message): void {
    bytes.release(payer, sizeOf(message));
  }

  function publishOnce(will: PendingWill): void {
    discard(will.client, will.message);
    publish(will);
  }

  function publishNow(key: SessionKey): void {
    const will = pending.get(key);
    if (will === undefined) return;
    pending.delete(key);
    publishOnce(will);
  }

  return {
    keep: ({ payer }, message) => bytes.take(payer, sizeOf(message)) === undefined,
    discard,
    leave(key, will, now) {
      publishNow(key);
      if (will.dueAt <= now) publishOnce(will);
      else pending.set(key, will);
    },
    cancel(key) {
      const will = pending.get(key);
      if (will === undefined) return;
      pending.delete(key);
      discard(will.client, will.message);
    },
    publishNow,
    sweep(now) {
      for (const [key, will] of pending) if (will.dueAt <= now) publishNow(key);
    },
    publishAll() {
      for (const key of pending.keys()) publishNow(key);
    },
  };
}

const sizeOf = ({ topic, payload, properties }: Message): number =>
  willBytes + 2 * topic.length + payload.length + (properties?.length ?? 0);
