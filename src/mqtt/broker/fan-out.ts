import type { Payer } from '../../domain/budgets/payer.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';
import type { Match, PayerTargets, Target } from './subscription-tree.ts';
import { createTurns } from './turns.ts';

/**
 * Hands one message to many sessions without keeping others waiting: the first sessions of each
 * payer get it at once, the others when it is that payer's turn, and each in the order of messages.
 */
export interface FanOut {
  handOut(delivery: Delivery, match: Match): void;
}

interface Job {
  readonly delivery: Delivery;
  readonly targets: readonly Target[];
  at: number;
  readonly done: () => void;
}

interface Lane {
  readonly jobs: Set<Job>;
  /** Deliveries that wait in it. */
  waiting: number;
}

const isDurable = ({ session }: Target): boolean => session.isDurable;

export function createFanOut(options: {
  readonly offer: (delivery: Delivery, target: Target) => void;
  readonly journal: Pick<Journal, 'hold'>;
  readonly counters: Counters;
}): FanOut {
  const { offer, journal, counters } = options;
  const lanes = new Map<Payer, Lane>();
  const turns = createTurns(goOn);

  function handOut(delivery: Delivery, match: Match): void {
    const { targets } = match;
    if (targets.length <= mqttLimits.deliveriesAtOnceMax && lanes.size === 0) {
      for (const target of targets) offer(delivery, target);
      return;
    }
    for (const group of match.byPayer()) handOutTo(group, delivery);
  }

  function handOutTo({ payer, targets }: PayerTargets, delivery: Delivery): void {
    const lane = lanes.get(payer);
    const atOnce = lane === undefined ? mqttLimits.deliveriesAtOnceMax : 0;
    for (const target of targets.slice(0, atOnce)) offer(delivery, target);
    if (targets.length > atOnce) wait(payer, { delivery, targets, at: atOnce });
  }

  function wait(payer: Payer, job: Omit<Job, 'done'>): void {
    const lane = lanes.get(payer) ?? { jobs: new Set<Job>(), waiting: 0 };
    const count = job.targets.length - job.at;
    if (lane.waiting + count > mqttLimits.deliveriesWaitingPerPayerMax && lane.waiting > 0) {
      counters.dropped.queue_full += count;
      return;
    }
    const { promise, resolve: done } = Promise.withResolvers<void>();
    // What will wait for clients is on disk before its sender is answered.
    if (job.delivery.message.qos > 0 && job.targets.some(isDurable)) journal.hold(promise);
    lane.jobs.add({ ...job, delivery: job.delivery.detached(), done });
    lane.waiting += count;
    lanes.set(payer, lane);
    turns.add(payer, payer);
  }

  function goOn(payer: Payer): boolean {
    const lane = lanes.get(payer);
    const [job] = lane?.jobs ?? [];
    if (lane === undefined || job === undefined) return false;
    const end = Math.min(job.targets.length, job.at + mqttLimits.deliveriesAtOnceMax);
    for (const target of job.targets.slice(job.at, end)) offer(job.delivery, target);
    lane.waiting -= end - job.at;
    job.at = end;
    if (end === job.targets.length) {
      lane.jobs.delete(job);
      job.done();
    }
    if (lane.jobs.size > 0) return true;
    lanes.delete(payer);
    return false;
  }

  return { handOut };
}
