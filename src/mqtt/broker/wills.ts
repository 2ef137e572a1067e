import type { Budget, Payer } from '../../domain/budgets/budget.ts';
import { bytesOfMessage, type Message, type SessionKey } from '../../domain/messaging/message.ts';
import type { SharedSessions, StoredWill } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Client } from '../broker.ts';
import type { Journal } from './journal.ts';
import { completePublish, type PublishCompletion } from './router.ts';
import type { HandOnShares } from './slices.ts';

/** A last will, ready to be published. `turn` is 0 where no other process knows of it. */
export type Will = Omit<StoredWill, 'key'>;

/** The client as whom a will is published. */
export type Heir = Pick<Client, 'payer' | 'publish'>;

/** A last will whose connection is gone. */
interface PendingWill extends Will {
  readonly client: Heir;
  /** When it is published unless the client comes back. */
  readonly dueAt: Instant;
}

/** A will without its texts and bytes. */
const willBytes = 512;

/** How often one is tried that the service could not take, a second apart. */
const triesMax = 60;

export type Wills = ReturnType<typeof createWills>;

/** Last wills, of clients that are here and of those that left; at most one for each session. */
export function createWills(options: {
  readonly bytes: Budget;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Pick<Journal, 'add'>;
  readonly handOnShares: Pick<HandOnShares, 'turnOf'>;
  readonly completion: PublishCompletion;
  readonly shared: Pick<SharedSessions, 'beginWill'> | undefined;
}) {
  const { bytes, clock, log, journal, handOnShares, completion, shared } = options;
  const pending = new Map<SessionKey, PendingWill>();
  /** Wills the hooks have not answered. */
  const underWay = new Set<Promise<void>>();
  let untaken: { readonly will: PendingWill; readonly tries: number }[] = [];
  let isOver = false;

  /** Takes quota for a will as long as it may be published; false: none is left. */
  const keep = ({ payer }: Heir, message: Message): boolean =>
    bytes.take(payer, sizeOf(message)) === undefined;

  /** Records that a will that other processes know of is not to be published any more. */
  function settle(key: SessionKey | undefined, turn: number, payer: Payer): void {
    if (turn > 0 && key !== undefined) journal.add({ kind: 'will_settled', key, turn }, payer);
  }

  /** Drops a will that will not be published: its client said goodbye. */
  function discard({ payer }: Heir, { message, turn }: Will): void {
    bytes.release(payer, sizeOf(message));
    settle(message.publisher, turn, payer);
  }

  function publishOnce(will: PendingWill, tries = 1): void {
    const { client, message, turn } = will;
    bytes.release(client.payer, sizeOf(message));
    const published = publish(will).then((outcome) => {
      underWay.delete(published);
      // Rather twice than never, if the process ends in between.
      if (outcome === 'over') settle(message.publisher, turn, client.payer);
      if (outcome !== 'unavailable' || isOver || tries >= triesMax) return;
      if (keep(client, message)) untaken.push({ will, tries });
    });
    underWay.add(published);
  }

  /** Asks the hooks as for any publish, with the rights of this moment. Never rejects. */
  async function publish({
    client,
    message,
    expirySeconds,
    turn,
  }: PendingWill): Promise<'over' | 'unavailable' | 'elsewhere'> {
    const { publisher: key } = message;
    if (turn > 0 && shared !== undefined && key !== undefined) {
      // A will that another process took with its client is published there; no other takes this.
      const isOwn = await shared.beginWill(key, turn).catch(() => undefined);
      if (isOwn !== true) return isOwn === false ? 'elsewhere' : 'unavailable';
    }
    const sent: Message = {
      ...message,
      ...(expirySeconds !== undefined && { expiresAt: clock.now() + expirySeconds * 1_000 }),
      ...(turn > 0 && { willTurn: turn }),
    };
    try {
      const outcome = await client.publish(sent);
      if (outcome.kind === 'unavailable') return 'unavailable';
      // Thousands of wills may be due at once.
      await handOnShares.turnOf(client.payer);
      completePublish(completion, sent, outcome);
    } catch (error) {
      // A client that is gone receives no answer, and cannot send it again.
      log.error({ err: error, topic: message.topic }, 'a last will met a bug');
    }
    return 'over';
  }

  function tryAgain(): void {
    const waiting = untaken;
    untaken = [];
    for (const { will, tries } of waiting) publishOnce(will, tries + 1);
  }

  /** The session ended: there is nothing to wait for. */
  function publishNow(key: SessionKey): void {
    const will = pending.get(key);
    if (will === undefined) return;
    pending.delete(key);
    publishOnce(will);
  }

  return {
    ...{ keep, settle, discard, publishNow },
    /** Publishes a will whose connection is gone, now or when it is due. */
    leave(key: SessionKey, client: Heir, will: Will): void {
      publishNow(key);
      const left = { ...will, client, dueAt: clock.now() + will.delayMs };
      if (will.delayMs <= 0) publishOnce(left);
      else pending.set(key, left);
    },
    /** The client is back in time. */
    cancel(key: SessionKey): void {
      const will = pending.get(key);
      if (will === undefined) return;
      pending.delete(key);
      discard(will.client, will);
    },
    /** Publishes what is due. */
    sweep(now: Instant): void {
      if (untaken.length > 0) tryAgain();
      for (const [key, will] of pending) if (will.dueAt <= now) publishNow(key);
    },
    /** Publishes all; those that the database has are left to another process if that fails. */
    async finish(): Promise<void> {
      isOver = true;
      tryAgain();
      for (const key of pending.keys()) publishNow(key);
      await Promise.all(underWay);
    },
  };
}

const sizeOf = (message: Message): number =>
  willBytes + 2 * message.topic.length + bytesOfMessage(message);
