import type { Message, SessionKey } from '../../domain/messaging/message.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Client } from '../authority.ts';

/** A last will whose connection is gone. */
export interface PendingWill {
  readonly client: Client;
  readonly message: Message;
  /** From its publication on. */
  readonly expirySeconds: number | undefined;
  /** When it is published unless the client comes back. */
  readonly dueAt: Instant;
}

/** Last wills that wait: at most one for each session [MQTT-3.1.3-9]. */
export interface Wills {
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

export function createWills(publish: (will: PendingWill) => void): Wills {
  const pending = new Map<SessionKey, PendingWill>();

  function publishNow(key: SessionKey): void {
    const will = pending.get(key);
    if (will === undefined) return;
    pending.delete(key);
    publish(will);
  }

  return {
    leave(key, will, now) {
      publishNow(key);
      if (will.dueAt <= now) publish(will);
      else pending.set(key, will);
    },
    cancel: (key) => {
      pending.delete(key);
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
