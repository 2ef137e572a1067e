import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { createGroupCommit } from '../../lib/scheduling/group-commit.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import type { Payer } from '../budgets/budget.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import type { ClaimedDelivery, Firing, FiringOutcome } from './delivery.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Evaluation } from './evaluations.ts';
import type { NotificationStore } from './notification-store.ts';
import type { Rule } from './rule.ts';
import type { Proposal } from './state-book.ts';

/** A firing on its way to the store. */
export interface PlannedFiring {
  readonly rule: Rule;
  readonly firing: Firing;
  readonly proposal: Proposal;
  readonly evaluation: Evaluation;
}

export interface FireParts {
  readonly store: Pick<NotificationStore, 'fire'>;
  readonly outbox: Pick<Dispatcher, 'wake' | 'deliver'>;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
  /** The store knows the notification no more. */
  readonly onGone: (rule: Rule) => void;
}

/** Stores firings and sees to what follows at once. */
export type Fire = ReturnType<typeof createFire>;

/** Firings that come while others are being stored go with the next commit, in their order. */
export function createFire(parts: FireParts) {
  const { outbox, reporter, log } = parts;
  const room = parts.budgets.of('firings_of_others');
  const store = storeInTurn(parts);
  const held = createHeld();
  const underWay = new Set<Promise<unknown>>();
  const inOrder = createKeyedSequence();
  const slices = createFairSlices({ turnMs: limits.turnMs });

  /** Answers whether it was stored, or there was nothing to store. */
  async function attempt(planned: PlannedFiring): Promise<void> {
    const outcome = await store.add(planned);
    reporter.notificationFired(outcome.kind);
    if (outcome.kind === 'gone') parts.onGone(planned.rule);
    if (outcome.kind === 'fired') await actuate(parts, planned, outcome.deliveryIds);
  }

  function giveUp({ proposal, evaluation }: PlannedFiring): void {
    proposal.drop();
    evaluation.outcome = 'not_stored';
  }

  function hold(planned: PlannedFiring): void {
    planned.evaluation.outcome = 'not_stored';
    if (held.add(planned)) return;
    giveUp(planned);
    log.error({ notificationId: planned.firing.notificationId }, 'a firing is lost');
  }

  /**
   * Tries again what could not be stored; the repetition of a push is nothing new. A service that
   * stops waits also for what its timer began to try again.
   */
  async function retry(): Promise<void> {
    const again = held.takeAll();
    if (again.length > 0) await track(tryAgain(again));
  }

  async function tryAgain(again: readonly PlannedFiring[]): Promise<void> {
    const tries = again.map((planned) =>
      attempt(planned).then(
        () => 1,
        () => {
          hold(planned);
          return 0;
        },
      ),
    );
    const stored = (await Promise.all(tries)).reduce<number>((sum, one) => sum + one, 0);
    log.info({ firings: again.length, stored }, 'firings that had to wait were tried again');
  }

  function track(work: Promise<void>): Promise<void> {
    const over = work.catch(() => undefined).finally(() => underWay.delete(over));
    underWay.add(over);
    outbox.wake();
    return work;
  }

  async function fireOne(planned: PlannedFiring, isRepeatedByCaller: boolean): Promise<void> {
    try {
      await attempt(planned);
    } catch (error) {
      reporter.notificationFired('not_stored');
      const isRefused = error instanceof DomainError && error.code === 'rate_limited';
      if (isRefused || isRepeatedByCaller) giveUp(planned);
      else hold(planned);
      throw error;
    }
  }

  /**
   * Resolves when the push may be answered. Throws unavailable, storage_full; what was not stored
   * is tried again here, unless the caller comes again with it. Throws rate_limited when the
   * owner's firings that wait are too large: it is given up.
   */
  function fire(planned: PlannedFiring, { isRepeatedByCaller } = { isRepeatedByCaller: false }) {
    // In the order in which they came about, as a start after a crash looks for what is missing.
    if (!held.isEmpty()) void retry();
    return track(fireOne(planned, isRepeatedByCaller));
  }

  /**
   * Stores the firing of a rule on another account's device, when `mayFire` says that its owner has
   * the rights: behind other firings of that owner, within the owner's budget. Resolves when it is
   * stored or was given up. Answers undefined when the budget is used up: it is given up.
   */
  function forStranger(planned: PlannedFiring, mayFire: () => Promise<boolean>) {
    const { payer } = planned.rule;
    const bytes = bytesOfFiring(planned);
    if (room.take(payer, bytes) !== undefined) {
      reporter.notificationFired('not_stored');
      giveUp(planned);
      return undefined;
    }
    const stored = inOrder(payer, async () => {
      await slices.enter(payer);
      if (await mayFire()) return fire(planned);
      planned.proposal.drop();
      planned.evaluation.outcome = 'no_right';
      return undefined;
    });
    // The firing is tried again, or given up, whichever client pushed.
    const over = stored.catch(() => undefined).finally(() => room.release(payer, bytes));
    return track(over);
  }

  return Object.assign(fire, {
    forStranger,
    retry,
    /** Resolves when nothing is under way. */
    async drain() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  });
}

const pushIsStored = 'what was pushed is stored, do not send it again:';

/** Stores one commit at a time; the owner of the rule pays for firings that wait. */
function storeInTurn({ store, outbox, log }: FireParts) {
  async function keep(firings: readonly Firing[]): Promise<readonly FiringOutcome[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.fire(firings);
      } catch (cause) {
        log.warn({ err: cause, attempt, firings: firings.length }, 'firings could not be stored');
        if (attempt >= limits.firingAttemptsMax) {
          const isFull = cause instanceof DomainError && cause.code === 'storage_full';
          const code = isFull ? 'storage_full' : 'unavailable';
          throw new DomainError(code, `${pushIsStored} a message of a notification waits`, {
            cause,
          });
        }
        await new Promise((resolve) => setTimeout(resolve, limits.firingPauseMs * attempt));
      }
    }
  }

  return createGroupCommit<PlannedFiring, FiringOutcome>({
    async commit(batch) {
      const outcomes = await keep(batch.map(({ firing }) => firing));
      for (const [index, outcome] of outcomes.entries()) complete(batch[index], outcome);
      outbox.wake();
      return outcomes;
    },
    weigh: bytesOfFiring,
    payerOf: ({ rule }) => rule.payer,
    batchWeightMax: limits.firingsCommitBytesMax,
    queueWeightMax: limits.firingsWaitingBytesMax,
    payerWeightMax: limits.firingsWaitingBytesMax / 2,
    payerWeightFloor: limits.firingsWaitingBytesFloor,
    refusal: () =>
      new DomainError(
        'rate_limited',
        `${pushIsStored} too many messages of your notifications wait already`,
        { retryAfterSeconds: 2 },
      ),
  });
}

const unfired = {
  throttled: 'throttled',
  inactive: 'inactive',
  gone: 'inactive',
  // The process that runs the evaluation now reports more.
  taken: 'not_stored',
} as const;

/** The state follows what the store made of the firing. */
function complete(planned: PlannedFiring | undefined, outcome: FiringOutcome): void {
  if (planned === undefined) return;
  const { proposal, evaluation } = planned;
  if (outcome.kind === 'fired') {
    proposal.apply();
    evaluation.outcome = 'sent';
    return;
  }
  proposal.drop(outcome.kind === 'throttled' ? outcome.lastFiredAt : undefined);
  evaluation.outcome = unfired[outcome.kind];
}

/** Actuations are done when the push is answered [contract 6]. */
async function actuate(
  { outbox, log }: FireParts,
  { firing }: PlannedFiring,
  ids: readonly string[],
): Promise<void> {
  for (const [index, delivery] of firing.deliveries.entries()) {
    const id = ids[index];
    if (delivery.isUnderWay !== true || id === undefined) continue;
    const { username, channel, message } = delivery;
    const claimed: ClaimedDelivery = {
      ...{ id, username, channel, message, createdAt: firing.at, attempts: 1 },
      // An actuation reaches the owner's own device, or one that is granted: the owner pays.
      payer: username,
      source: { kind: 'notification', id: firing.notificationId },
    };
    try {
      await outbox.deliver(claimed);
    } catch (error) {
      // The delivery is in the outbox, and is claimed again when its lease ends.
      log.error({ err: error, deliveryId: id }, 'the outcome of an actuation was not recorded');
    }
  }
}

/** Firings that could not be stored, bounded in bytes; of one owner at most half of that. */
function createHeld() {
  let all: PlannedFiring[] = [];
  const bytesOf = new Map<Payer, number>();
  return {
    isEmpty: () => all.length === 0,
    add(planned: PlannedFiring): boolean {
      const { payer } = planned.rule;
      const own = (bytesOf.get(payer) ?? 0) + bytesOfFiring(planned);
      let total = own;
      for (const [other, bytes] of bytesOf) if (other !== payer) total += bytes;
      const max = limits.firingsUnstoredBytesMax;
      if (own > max / 2 || total > max) return false;
      bytesOf.set(payer, own);
      all.push(planned);
      return true;
    },
    takeAll(): readonly PlannedFiring[] {
      const taken = all;
      all = [];
      bytesOf.clear();
      return taken;
    },
  };
}

const bytesPerFiring = 512;
/** A row and its places in indexes: short ones take the disk as long as this many bytes. */
const bytesPerDelivery = 1_024;

/** Bytes that storing a firing takes: each delivery is a row with the text. */
function bytesOfFiring({ firing: { deliveries } }: PlannedFiring): number {
  const text = deliveries[0]?.message.length ?? 0;
  return bytesPerFiring + deliveries.length * (bytesPerDelivery + text);
}
