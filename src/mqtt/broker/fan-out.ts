import type { Payer } from '../../domain/budgets/payer.ts';
import { bytesOfMessage } from '../../domain/messaging/message.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';
import type { Match, PayerRecipients, Recipient } from './subscription-tree.ts';
import { createSlices } from './turns.ts';

/**
 * Hands one message to many sessions without keeping others waiting: the first sessions of each
 * payer get it at once, the others in that payer's next slices, and each in the order of messages.
 * The longer a message is, the fewer get it at once, of all payers together.
 */
export interface FanOut {
  handOut(delivery: Delivery, match: Match): void;
}

interface Job {
  readonly delivery: Delivery;
  readonly recipients: Iterator<Recipient>;
  /** At most so many are left. */
  left: number;
  /** Memory that it takes while it waits. */
  readonly bytes: number;
  readonly done: () => void;
}

interface PayerQueue {
  readonly jobs: Set<Job>;
  /** Deliveries that wait in it. */
  waiting: number;
  bytes: number;
}

/** How many more get a message at once. */
interface Room {
  left: number;
}

/** A delivery without its message: finding the terms, and an entry of a queue. */
const deliveryBytes = 256;

const roomFor = ({ message }: Delivery): Room => ({
  left: Math.ceil(mqttLimits.deliveredBytesAtOnceMax / (deliveryBytes + bytesOfMessage(message))),
});

export function createFanOut(options: {
  readonly offer: (delivery: Delivery, recipient: Recipient) => void;
  readonly journal: Pick<Journal, 'hold' | 'hasRoomFor' | 'synced'>;
  readonly counters: Counters;
}): FanOut {
  const { offer, journal, counters } = options;
  const queues = new Map<Payer, PayerQueue>();
  const turns = createSlices(goOn);
  let waitingBytes = 0;

  function handOut(delivery: Delivery, match: Match): void {
    const room = roomFor(delivery);
    if (match.few !== undefined && match.few.length <= room.left && queues.size === 0) {
      for (const recipient of match.few) offer(delivery, recipient);
      return;
    }
    for (const group of match.byPayer()) handOutTo(group, delivery, room);
  }

  function handOutTo(group: PayerRecipients, delivery: Delivery, room: Room): void {
    const bytes = bytesOfMessage(delivery.message);
    const rest = { delivery, recipients: group.recipients(), left: group.count, bytes };
    if (queues.has(group.payer) || !offerSome(rest, room)) wait(group, rest);
  }

  /** Answers whether that was all. */
  function offerSome(job: Omit<Job, 'done'>, room: Room): boolean {
    for (let offered = 0; offered < mqttLimits.deliveriesAtOnceMax; offered += 1) {
      if (room.left === 0) break;
      const next = job.left > 0 ? job.recipients.next() : undefined;
      if (next === undefined || next.done === true) return true;
      job.left -= 1;
      room.left -= 1;
      offer(job.delivery, next.value);
    }
    return job.left === 0;
  }

  function wait({ payer, isDurable }: PayerRecipients, job: Omit<Job, 'done'>): void {
    const queue = queues.get(payer) ?? { jobs: new Set<Job>(), waiting: 0, bytes: 0 };
    if (queue.waiting > 0 && isFull(queue, job)) {
      counters.dropped.queue_full += job.left;
      return;
    }
    const { promise, resolve: done } = Promise.withResolvers<void>();
    // Messages that will wait for clients are on disk before their sender is answered.
    if (job.delivery.message.qos > 0 && isDurable()) {
      journal.hold(promise, job.delivery.message.payer);
    }
    queue.jobs.add({ ...job, delivery: job.delivery.detached(), done });
    queue.waiting += job.left;
    queue.bytes += job.bytes;
    waitingBytes += job.bytes;
    queues.set(payer, queue);
    turns.add(payer, payer);
  }

  const isFull = ({ waiting, bytes }: PayerQueue, job: Omit<Job, 'done'>): boolean =>
    waiting + job.left > mqttLimits.deliveriesWaitingPerPayerMax ||
    bytes + job.bytes > mqttLimits.deliveriesWaitingBytesPerPayerMax ||
    waitingBytes + job.bytes > mqttLimits.deliveriesWaitingBytesMax;

  function goOn(payer: Payer): boolean {
    const queue = queues.get(payer);
    const [job] = queue?.jobs ?? [];
    if (queue === undefined || job === undefined) return false;
    // Wait for the store while the payer's journal quota is used up, else messages are dropped.
    const synced = journal.hasRoomFor(payer) ? undefined : journal.synced();
    if (synced !== undefined) {
      void synced.then(() => turns.add(payer, payer));
      return false;
    }
    const before = job.left;
    const isOver = offerSome(job, roomFor(job.delivery));
    queue.waiting -= isOver ? before : before - job.left;
    if (isOver) {
      queue.jobs.delete(job);
      queue.bytes -= job.bytes;
      waitingBytes -= job.bytes;
      job.done();
    }
    if (queue.jobs.size > 0) return true;
    queues.delete(payer);
    return false;
  }

  return { handOut };
}
