import { setTimeout as wait } from 'node:timers/promises';
import type { Budget, Payer } from '../../domain/budgets/budget.ts';
import { payerOfIdentity } from '../../domain/messaging/identity.ts';
import { bytesOfMessage, type Message, type SessionKey } from '../../domain/messaging/message.ts';
import type { SharedSessions, StoredWill } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import { type BrokerHooks, type Client, unavailableOutcome } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import type { Journal } from './journal.ts';
import { completePublish, type PublishCompletion } from './router.ts';
import type { HandOnShares } from './slices.ts';

/** A last will, ready to be published. `turn` is 0 until it is in the store. */
export type Will = Omit<StoredWill, 'key'>;
/** The client as whom a will is published. */
export type Heir = Pick<Client, 'payer' | 'publish'>;
type WillOfTerm = Pick<Will, 'message' | 'turn'>;

/** A last will whose connection is gone. */
interface PendingWill extends Will {
  readonly client: Heir;
  /** When it is published unless the client comes back. */
  readonly dueAt: Instant;
  /** Whether the store knows that this process publishes it. */
  readonly isBegun?: boolean;
}

/** A will without its texts and bytes. */
const willBytes = 512;
/** How often one is tried that the service could not take, a second apart. */
const triesMax = 60;
/** Wills of one payer that are tried again although the disk or a quota is full. */
const fullMax = 100;
/** So long a client waits for its will to be on disk: beyond, the disk takes nothing. */
const putMsMax = 3_000;

interface WillsOptions {
  readonly bytes: Budget;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Pick<Journal, 'add' | 'synced' | 'decided'>;
  readonly authority: Pick<BrokerHooks, 'publishFor'>;
  readonly handOnShares: Pick<HandOnShares, 'turnOf'>;
  readonly completion: PublishCompletion;
  readonly shared: Pick<SharedSessions, 'beginWill'> | undefined;
}

export type Wills = ReturnType<typeof createWills>;

/** Last wills, of clients that are here and of those that left; at most one for each session. */
export function createWills(options: WillsOptions) {
  const { bytes, clock, log, journal, authority, handOnShares, completion, shared } = options;
  const kept = createKeptWills({ bytes, clock, journal });
  const begin = createBeginning();
  const { keep, settle, discard } = kept;
  const pending = new Map<SessionKey, PendingWill>();
  /** Wills the hooks have not answered. */
  const underWay = new Set<Promise<void>>();
  let untaken: { readonly will: PendingWill; readonly tries: number }[] = [];
  /** How many of each payer were refused as something is full, and are tried again. */
  const full = new Map<Payer, number>();
  let isOver = false;

  function countFull(payer: Payer, more: 1 | -1): void {
    const count = (full.get(payer) ?? 0) + more;
    if (count > 0) full.set(payer, count);
    else full.delete(payer);
  }

  function publishOnce(will: PendingWill, tries = 1): void {
    const { client, message } = will;
    bytes.release(client.payer, sizeOf(message));
    if (will.isBegun === true) countFull(client.payer, -1);
    const published = publish(will).then((outcome) => {
      underWay.delete(published);
      if (outcome === 'elsewhere') kept.terms.delete(will.turn);
      const isFull = outcome === 'full';
      if ((outcome !== 'unavailable' && !isFull) || isOver) return;
      // A copy of it may be stored all the same: then only those who listen get it.
      const repeated = { ...message, isRepetition: true } as const;
      const again = { ...will, message: repeated, isBegun: isFull };
      const isDropped = isFull && (full.get(client.payer) ?? 0) >= fullMax;
      if (isDropped || tries >= triesMax || !keep(client, will)) {
        settle(message.publisher, will.turn, client.payer);
        return;
      }
      if (isFull) countFull(client.payer, 1);
      untaken.push({ will: again, tries });
    });
    underWay.add(published);
  }

  /** Asks the hooks as for any publish, with the rights of this moment. Never rejects. */
  async function publish({
    client,
    message,
    expirySeconds,
    turn,
    isBegun,
  }: PendingWill): Promise<'over' | 'unavailable' | 'full' | 'elsewhere'> {
    const { publisher: key } = message;
    if (!isBegun && turn > 0 && shared !== undefined && key !== undefined) {
      // A will that another process took with its client is published there; no other takes this.
      const isOwn = await begin(client.payer, () => shared.beginWill(key, turn));
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
      // The disk or a quota may have room again, and nobody else sends it again.
      if (outcome.kind === 'refused' && outcome.reason === 'quota') return 'full';
      // Thousands of wills may be due at once.
      await handOnShares.turnOf(client.payer);
      completePublish(completion, sent, outcome);
      // In the commit of what waits for kept sessions. Rather twice than never, if it is split.
      await journal.decided(message.payer);
    } catch (error) {
      // A client that is gone receives no answer, and cannot send it again.
      log.error({ err: error, topic: message.topic }, 'a last will met a bug');
    }
    settle(key, turn, client.payer);
    return 'over';
  }

  function tryAgain(): void {
    const waiting = untaken;
    untaken = [];
    for (const { will, tries } of waiting) publishOnce(will, tries + 1);
  }

  /** The session ended: there is nothing to wait for. `before`: for a will of an earlier term. */
  function publishNow(key: SessionKey, before = Number.POSITIVE_INFINITY): void {
    const will = pending.get(key);
    if (will === undefined || will.turn >= before) return;
    pending.delete(key);
    publishOnce(will);
  }

  /** Publishes a will whose connection is gone, now or when it is due. */
  function leave(key: SessionKey, client: Heir, will: Will): void {
    const isLast = (pending.get(key)?.turn ?? 0) <= will.turn;
    if (isLast) publishNow(key);
    const left = { ...will, client, dueAt: clock.now() + will.delayMs };
    if (will.delayMs <= 0 || !isLast) publishOnce(left);
    else pending.set(key, left);
  }

  /** The same for the will of a client whose process has ended. */
  function inherit({ key, message: stored, ...will }: StoredWill): void {
    const { turn } = will;
    const message: Message = { ...stored, isRepetition: true };
    const [identity, payer] = [identityOf(key), payerOfWill({ key, message })];
    const client: Heir = {
      payer,
      publish: async (sent) => (await authority.publishFor?.(identity, sent)) ?? unavailableOutcome,
    };
    if (keep(client, { message, turn })) leave(key, client, { ...will, message });
    else settle(key, turn, payer);
  }

  /** Takes up the wills of a process that ended, which no other one has. */
  async function restore(wills: readonly StoredWill[], isKept: (key: SessionKey) => boolean) {
    const breathe = createBreather();
    for (const { leftAt, ...will } of wills) {
      kept.beginBehind(will.turn);
      const leftMs = Math.max(0, clock.now() - (leftAt ?? clock.now()));
      // A session that is not kept ended with its connection.
      inherit({ ...will, delayMs: isKept(will.key) ? will.delayMs - leftMs : 0 });
      await breathe();
    }
  }

  return {
    ...{ ...kept, publishNow, leave, inherit, restore },
    /** The client is back in time. */
    cancel(key: SessionKey, before = Number.POSITIVE_INFINITY): void {
      const will = pending.get(key);
      if (will === undefined || will.turn >= before) return;
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

/** Asks the store whether a will is this process's to publish; undefined: it cannot say now. */
function createBeginning() {
  const beginning = createSemaphore({ parallelMax: mqttLimits.willsBegunMax });
  return (payer: Payer, ask: () => Promise<boolean>): Promise<boolean | undefined> =>
    beginning.run(payer, ask).catch(() => undefined);
}

/** The quota of wills, and their rows in the store. */
function createKeptWills({
  bytes,
  clock,
  journal,
}: Pick<WillsOptions, 'bytes' | 'clock' | 'journal'>) {
  /** Term of the last connection with a will, where no other process gives terms. */
  let lastTurn = clock.now();
  /** The last connection of each session that waits for the disk, or for another one. */
  const lastPuts = new Map<SessionKey, Promise<void>>();
  /** Terms of wills that are in memory, or whose end is not durable yet. */
  const terms = new Set<number>();

  /** Takes quota for a will as long as it may be published; false: none is left. */
  function keep({ payer }: Pick<Heir, 'payer'>, { message, turn }: WillOfTerm): boolean {
    if (bytes.take(payer, sizeOf(message)) !== undefined) return false;
    if (turn > 0) terms.add(turn);
    return true;
  }

  /** Records that a will that is in the store is not to be published any more. */
  function settle(key: SessionKey | undefined, turn: number, payer: Payer): void {
    if (turn === 0 || key === undefined) return;
    terms.add(turn);
    journal.add({ kind: 'will_settled', key, turn }, payer);
    void journal.synced()?.then(() => terms.delete(turn));
  }

  /** Drops a will that will not be published: its client said goodbye. */
  function discard({ payer }: Heir, { message, turn }: Will): void {
    bytes.release(payer, sizeOf(message));
    settle(message.publisher, turn, payer);
  }

  /**
   * Calls `open` when the will of a client that is let in is durable, where this process is alone;
   * it answers whether the client is there yet. While the disk takes nothing, clients are let in
   * all the same: their wills are in memory until it does. Connections of one session come in as
   * they were let in, with a will or without.
   */
  async function put(
    key: SessionKey,
    will: Will | undefined,
    payer: Payer,
    open: (turn: number) => boolean,
  ): Promise<void> {
    const before = lastPuts.get(key);
    if (will === undefined && before === undefined) return void open(0);
    // Without quota it is refused at once, and asks for none afterwards.
    if (will !== undefined && !keep({ payer }, will)) return void open(0);
    const written = will === undefined ? 0 : write({ ...will, key }, payer);
    const over = Promise.all([written, before]).then(([turn]) => {
      if (lastPuts.get(key) === over) lastPuts.delete(key);
      if (will !== undefined) bytes.release(payer, sizeOf(will.message));
      if (!open(turn)) settle(key, turn, payer);
    });
    lastPuts.set(key, over);
    await over;
  }

  /** Answers the term of a will when it is durable. */
  async function write(will: StoredWill, payer: Payer): Promise<number> {
    lastTurn += 1;
    const turn = lastTurn;
    journal.add({ kind: 'will_kept', ...will, turn }, payer);
    const patience = new AbortController();
    const patient = wait(putMsMax, undefined, { signal: patience.signal, ref: false });
    await Promise.race([journal.synced(), patient]);
    patience.abort();
    patient.catch(() => undefined);
    return turn;
  }

  return {
    ...{ keep, settle, discard, put, terms },
    /** Gives terms behind this one from now on. */
    beginBehind(turn: number): void {
      lastTurn = Math.max(lastTurn, turn);
    },
  };
}

const identityOf = (key: SessionKey): string => key.split('\u0000', 1)[0] ?? '';

/** Who pays for a will of the store. */
export const payerOfWill = ({ key, message }: Pick<StoredWill, 'key' | 'message'>): Payer =>
  message.payer ?? payerOfIdentity(identityOf(key));

const sizeOf = (message: Message): number =>
  willBytes + 2 * message.topic.length + bytesOfMessage(message);
