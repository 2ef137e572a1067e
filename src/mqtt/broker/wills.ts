import type { Budget } from '../../domain/budgets/budget.ts';
import type { Payer } from '../../domain/budgets/payer.ts';
import type { Message, SessionKey } from '../../domain/messaging/message.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Client } from '../broker-hooks.ts';

/** A last will whose connection is gone. */
export interface PendingWill {
  readonly client: Heir;
  readonly message: Message;
  /** From its publication on. */
  readonly expirySeconds: number | undefined;
  /** When it is published unless the client comes back. */
  readonly dueAt: Instant;
  /** In which its client connected, of all processes; 0: no other one knows of it. */
  readonly turn: number;
}

/** As whom it is published. */
export type Heir = Pick<Client, 'payer' | 'publish'>;

/** Last wills, of clients that are here and of those that left; at most one for each session. */
export interface Wills {
  /** Takes quota for a will as long as it may be published; false: none is left. */
  keep(client: Heir, message: Message): boolean;
  /** Drops a will that will not be published: its client said goodbye. */
  discard(client: Heir, will: Pick<PendingWill, 'message' | 'turn'>): void;
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

/** How often one is tried that the service could not take, a second apart. */
const triesMax = 60;

/** The outcome of a will: it is over, the service was unavailable, or another process has it. */
export type Publication = 'over' | 'unavailable' | 'elsewhere';

/**
 * `publish` is asked again where the service was unavailable.
 * `settled`: of a will that other processes know of, that it is not to be published any more.
 */
export function createWills(
  bytes: Budget,
  publish: (will: PendingWill) => Promise<Publication>,
  settled: (will: Pick<PendingWill, 'message' | 'turn'>, payer: Payer) => void,
): Wills {
  const pending = new Map<SessionKey, PendingWill>();
  let untaken: { readonly will: PendingWill; readonly tries: number }[] = [];
  let isOver = false;

  function discard({ payer }: Heir, will: Pick<PendingWill, 'message' | 'turn'>): void {
    bytes.release(payer, sizeOf(will.message));
    if (will.turn > 0) settled(will, payer);
  }

  function publishOnce(will: PendingWill, tries = 1): void {
    const { client, message, turn } = will;
    bytes.release(client.payer, sizeOf(message));
    void publish(will).then((publication) => {
      // Rather twice than never, if the process ends in between.
      if (publication === 'over' && turn > 0) settled(will, client.payer);
      if (publication !== 'unavailable' || isOver || tries >= triesMax) return;
      if (bytes.take(client.payer, sizeOf(message)) !== undefined) return;
      untaken.push({ will, tries });
    });
  }

  function tryAgain(): void {
    const waiting = untaken;
    untaken = [];
    for (const { will, tries } of waiting) publishOnce(will, tries + 1);
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
      discard(will.client, will);
    },
    publishNow,
    sweep(now) {
      if (untaken.length > 0) tryAgain();
      for (const [key, will] of pending) if (will.dueAt <= now) publishNow(key);
    },
    publishAll() {
      // Wills stored in the database are published by another process.
      isOver = true;
      tryAgain();
      for (const key of pending.keys()) publishNow(key);
    },
  };
}

const sizeOf = ({ topic, payload, properties }: Message): number =>
  willBytes + 2 * topic.length + payload.length + (properties?.length ?? 0);
