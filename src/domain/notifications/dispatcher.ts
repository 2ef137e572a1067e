import { backoffMs } from '../../lib/backoff.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createGroupCommit } from '../../lib/scheduling/group-commit.ts';
import { PayerQueues } from '../../lib/scheduling/payer-queues.ts';
import { DomainError } from '../errors.ts';
import type { Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import { notConfigured } from '../socials/socials.ts';
import type { User, UserStore } from '../users/user.ts';
import type { Channel, Outcome } from './channel.ts';
import {
  type ClaimedDelivery,
  type Completion,
  type DailyMax,
  type DeliveryTarget,
  type OutboxStore,
  unpaidReason,
} from './delivery.ts';
import type { Actuate } from './firing.ts';
import { channelNames } from './notification.ts';
import { recipientOf } from './recipients.ts';

export interface DispatcherOptions {
  readonly store: OutboxStore;
  readonly users: Pick<UserStore, 'findByUsername'>;
  /** Configured channels, by name. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Sets an actuator as the message of the delivery says. */
  readonly actuate: Actuate;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly random?: () => number;
  /** Messages of paid channels and day; absent: no end. */
  readonly perDay?: DailyMax;
  /** Whether nothing is sent to an address that its user has not proven. */
  readonly mustBeProven?: boolean;
}

const targets: readonly DeliveryTarget[] = [...channelNames, 'actuation'];

/** The pump: hands out what is due to the channels and records what became of it. */
export function createDispatcher(options: DispatcherOptions) {
  const { store, clock, reporter, log } = options;
  const hostQueues = createHostQueues({
    underWayMax: limits.deliveriesUnderWayPerHostMax,
    waitingMax: limits.deliveriesWaitingForHostsMax,
    waitMs: limits.deliveryHostWaitMs,
    onWait: wake,
  });
  const tryOnce = createTry(options, hostQueues);
  const complete = createCompleting(options);
  const stopping = new AbortController();
  const underWay = new Map<DeliveryTarget, Map<string, number>>();
  const inFlight = new Set<Promise<void>>();
  let nextDueAt: Instant = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = false;

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const outcome = await tryOnce(delivery, stopping.signal);
    const completion = completionOf(delivery, outcome, clock.now(), options.random ?? Math.random);
    reporter.deliveryTried(delivery.channel, completion.kind);
    await complete(completion);
  }

  function count({ channel, payer }: ClaimedDelivery, by: number): void {
    const ofChannel = underWay.get(channel) ?? new Map<string, number>();
    underWay.set(channel, ofChannel);
    const own = (ofChannel.get(payer.toLowerCase()) ?? 0) + by;
    if (own > 0) ofChannel.set(payer.toLowerCase(), own);
    else ofChannel.delete(payer.toLowerCase());
  }

  /** Counts deliveries under way on a channel, without webhooks that wait for their host. */
  function inAll(target: DeliveryTarget): number {
    const counts = underWay.get(target)?.values();
    const all = counts?.reduce((sum, own) => sum + own, 0) ?? 0;
    return target === 'webhook' ? all - hostQueues.waiting() : all;
  }

  function begin(delivery: ClaimedDelivery): void {
    count(delivery, 1);
    const done = deliver(delivery)
      .catch((error: unknown) => {
        // The delivery is claimed again when its lease ends.
        log.error({ err: error, deliveryId: delivery.id }, 'a delivery could not be completed');
      })
      .finally(() => {
        count(delivery, -1);
        inFlight.delete(done);
        wake();
      });
    inFlight.add(done);
  }

  function freeQuotas(): ReadonlyMap<DeliveryTarget, number> {
    const max = limits.deliveriesUnderWayPerChannelMax;
    const free = targets.map((target) => [target, max - inAll(target)] as const);
    // Claims are few: a channel is left out until a sixteenth of its deliveries may be claimed.
    return new Map(free.filter(([, quota]) => quota >= max / 16));
  }

  async function claim(): Promise<void> {
    const quotas = freeQuotas();
    if (quotas.size === 0) return;
    const now = clock.now();
    const leaseEndsAt = now + limits.deliveryLeaseMs;
    const perPayerMax = limits.deliveriesUnderWayPerPayerMax;
    const { perDay } = options;
    const found = await store.claimDue({
      ...{ now, leaseEndsAt, quotas, perPayerMax, underWay },
      ...(perDay !== undefined && { perDay }),
    });
    nextDueAt = found.nextDueAt ?? Number.POSITIVE_INFINITY;
    for (const delivery of found.claimed) begin(delivery);
    if (found.claimed.length > 0) isWoken = true;
  }

  async function pump(): Promise<void> {
    try {
      while (isWoken && !isStopped) {
        // Before the claim: what is filed while it runs is not in its answer.
        isWoken = false;
        await claim();
      }
    } catch (error) {
      log.warn({ err: error }, 'the outbox could not be read');
    }
  }

  function wake(): void {
    if (isStopped) return;
    isWoken = true;
    setImmediate(() => {
      pumping ??= pump().finally(() => {
        pumping = undefined;
      });
    });
  }

  // Other processes file deliveries too, and leases of dead ones end.
  let lookedAt = Number.NEGATIVE_INFINITY;
  function check(): void {
    const now = clock.now();
    const isTime = now >= nextDueAt || Math.abs(now - lookedAt) >= limits.outboxLookMs;
    if (!isTime) return;
    lookedAt = now;
    wake();
  }

  return {
    /** Begins to claim what is due. */
    start(): void {
      timer = setInterval(check, limits.clockCheckMs);
      timer.unref();
      wake();
    },
    /** Something was filed. */
    wake,
    /** Tries a delivery that was filed as under way; resolves when its outcome is recorded. */
    deliver,
    /** Lets what is under way end, for a while; the rest comes back after its lease. */
    async stop(): Promise<void> {
      isStopped = true;
      clearInterval(timer);
      hostQueues.close();
      const patience = setTimeout(() => stopping.abort(), limits.outboxDrainMs);
      // Deliveries claimed while the service stops are under way as well.
      await pumping;
      await Promise.all(inFlight);
      clearTimeout(patience);
    },
  };
}
export type Dispatcher = ReturnType<typeof createDispatcher>;

/** Tries a delivery once; never throws. */
function createTry(options: DispatcherOptions, hostQueues: ReturnType<typeof createHostQueues>) {
  const { users, channels, actuate, log, mustBeProven = false } = options;
  const networks = createNetworkShares(limits.deliveriesUnderWayPerNetworkMax);
  return async (delivery: ClaimedDelivery, stop: AbortSignal): Promise<Outcome> => {
    const { id, channel: target, username, message: text, createdAt, source } = delivery;
    try {
      // An actuation is filed for the owner of its notification.
      if (target === 'actuation') return await actuate(text, username as Username, createdAt);
      if (delivery.unpaid !== undefined) {
        return { kind: 'refused', reason: unpaidReason(target, delivery.unpaid) };
      }
      const channel = channels.get(target);
      if (channel === undefined) return { kind: 'refused', reason: notConfigured(target) };
      const user = await users.findByUsername(username);
      const known = user && isRecipient(user, delivery) ? user : undefined;
      const to = recipientOf(known, username, target, { mustBeProven });
      if ('refusal' in to) return { kind: 'refused', reason: to.refusal };
      const from = source.kind === 'notification' ? { notificationId: source.id } : {};
      const send = () => {
        const signal = AbortSignal.any([stop, AbortSignal.timeout(limits.deliveryTimeoutMs)]);
        return channel.send({ deliveryId: id, to, text, createdAt, ...from }, signal);
      };
      const host = target === 'webhook' ? hostOf(to.webhook) : undefined;
      if (host === undefined) return await send();
      const outcome = await hostQueues.run(
        { host, payer: delivery.payer.toLowerCase() },
        async () => networks.run(await channel.networkOf?.(to), send),
      );
      return outcome === 'busy' ? { kind: 'retry', reason: busyHost } : outcome;
    } catch (error) {
      log.error({ err: error, deliveryId: id }, 'a delivery failed for a reason of ours');
      return { kind: 'retry', reason: 'the service could not send it: it is tried again' };
    }
  };
}

/** Whether the account is the one that the delivery is for: another may have its name since. */
const isRecipient = (user: User, { accountId, createdAt }: ClaimedDelivery): boolean =>
  accountId === undefined ? user.createdAt <= createdAt : user.id === accountId;

const busyHost = 'many messages wait for the server of this webhook: it is tried again';

/** Completions that come together are recorded together. */
function createCompleting({ store }: DispatcherOptions): (completion: Completion) => Promise<void> {
  const group = createGroupCommit<Completion, undefined>({
    commit: async (batch) => {
      await store.complete(batch);
      return batch.map(() => undefined);
    },
    weigh: () => 1,
    payerOf: () => '',
    batchWeightMax: limits.completionsPerCommitMax,
    queueWeightMax: limits.completionsWaitingMax,
    payerWeightMax: limits.completionsWaitingMax,
    payerWeightFloor: 0,
    refusal: () => new DomainError('unavailable', 'too many deliveries wait to be recorded'),
  });
  return group.add;
}

function completionOf(
  { id, attempts, createdAt, channel }: ClaimedDelivery,
  outcome: Outcome,
  at: Instant,
  random: () => number,
): Completion {
  const completed = { id, attempts, at };
  if (outcome.kind === 'sent') {
    return { ...completed, kind: 'sent', code: channel === 'actuation' ? 204 : 200 };
  }
  const { reason } = outcome;
  if (outcome.kind === 'refused') return { ...completed, kind: 'failed', reason };
  const { deliveryPauseMsMin: minMs, deliveryPauseMsMax: maxMs } = limits;
  const dueAt = at + Math.max(outcome.afterMs ?? 0, backoffMs(attempts, { minMs, maxMs, random }));
  const isOver =
    dueAt > createdAt + limits.deliveryLifeMs || attempts >= limits.deliveryAttemptsMax;
  const tries = attempts === 1 ? 'one try' : `${attempts} tries`;
  return isOver
    ? { ...completed, kind: 'failed', reason: `given up after ${tries}: ${reason}` }
    : { ...completed, kind: 'retry', dueAt, reason };
}

/** Ends a wait: with a place, or without. */
type EndOfWait = (hasPlace: boolean) => void;

interface Host {
  underWay: number;
  readonly queue: PayerQueues<EndOfWait>;
}

/**
 * Bounds what one host that users name may delay, one payer after the other. Work waits only while
 * all places are taken.
 */
export function createHostQueues(options: {
  readonly underWayMax: number;
  /** Over all hosts. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** Called when one more waits: its slot in the channel is free for others. */
  readonly onWait: () => void;
}) {
  const { underWayMax, waitingMax, waitMs, onWait } = options;
  const hosts = new Map<string, Host>();
  const waiting = new Set<EndOfWait>();
  let isClosed = false;

  function wait({ queue }: Host, payer: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(false), waitMs);
      function end(hasPlace: boolean): void {
        clearTimeout(timer);
        queue.remove(payer, end);
        waiting.delete(end);
        resolve(hasPlace);
      }
      queue.push(payer, end);
      waiting.add(end);
      onWait();
    });
  }

  /** Hands the place on without giving it up in between. */
  function leave(name: string, host: Host): void {
    const next = host.queue.shift();
    if (next !== undefined) {
      next(true);
      return;
    }
    host.underWay -= 1;
    if (host.underWay === 0) hosts.delete(name);
  }

  return {
    /**
     * Does the work when the host has a place for it. Answers `busy` without having begun when that
     * takes longer than `waitMs`, when too many wait already, and after `close`.
     */
    async run<Result>(
      { host: name, payer }: { readonly host: string; readonly payer: string },
      work: () => Promise<Result>,
    ): Promise<Result | 'busy'> {
      const host = hosts.get(name) ?? { underWay: 0, queue: new PayerQueues() };
      if (host.underWay < underWayMax) {
        hosts.set(name, host);
        host.underWay += 1;
      } else {
        if (isClosed || waiting.size >= waitingMax) return 'busy';
        if (!(await wait(host, payer))) return 'busy';
      }
      try {
        return await work();
      } finally {
        leave(name, host);
      }
    },
    /** How many wait for a place. */
    waiting: (): number => waiting.size,
    /** Ends all waits; no work waits any more. */
    close(): void {
      isClosed = true;
      for (const end of [...waiting]) end(false);
    },
  };
}

/** Work for networks that many names may lead to: so much at a time for each. */
export function createNetworkShares(underWayMax: number) {
  const underWay = new Map<string, number>();
  return {
    /** Does the work, or answers `busy` at once. */
    async run<Result>(
      network: string | undefined,
      work: () => Promise<Result>,
    ): Promise<Result | 'busy'> {
      if (network === undefined) return work();
      const before = underWay.get(network) ?? 0;
      if (before >= underWayMax) return 'busy';
      underWay.set(network, before + 1);
      try {
        return await work();
      } finally {
        const left = (underWay.get(network) ?? 1) - 1;
        if (left > 0) underWay.set(network, left);
        else underWay.delete(network);
      }
    },
  };
}

/** The host and port that a URL leads to, in one spelling; undefined when it leads nowhere. */
export function hostOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  return hostname === '' ? undefined : `${hostname.replace(/\.$/, '')}:${port}`;
}
