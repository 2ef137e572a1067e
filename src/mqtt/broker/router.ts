import type { Payer } from '../../domain/budgets/budget.ts';
import { limits } from '../../domain/limits.ts';
import { bytesOfMessage, type Message, type Qos } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import type { PublishOutcome, PublishRefusal, Reach } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { reason } from '../packets/packet.ts';
import type { Counters } from './counters.ts';
import { Delivery } from './delivery.ts';
import type { Claims } from './group-routing.ts';
import { createGroupRouting } from './group-routing.ts';
import type { Journal } from './journal.ts';
import type { Outbound } from './outbound.ts';
import type { RetainedMessages } from './retained.ts';
import { type DeliveryTerms, lower, type Session } from './session.ts';
import { type HandOnShares, placesOfRecipient } from './slices.ts';
import type {
  Match,
  PayerRecipients,
  Recipient,
  SubscriptionTree,
  Target,
} from './subscription-tree.ts';

type Router = ReturnType<typeof createRouter>;
const none: readonly number[] = [];

/** Hands messages to all subscribers. */
export function createRouter(options: {
  readonly tree: SubscriptionTree;
  readonly outbound: Pick<Outbound, 'offer' | 'admits' | 'tryAdmit'>;
  readonly journal: Pick<Journal, 'hold' | 'hasRoomFor' | 'synced'>;
  readonly counters: Counters;
  readonly shares: Pick<HandOnShares, 'spend'>;
  readonly clock: Clock;
  /** Where other processes have members of groups. */
  readonly claims?: Claims | undefined;
}) {
  const { tree, outbound, journal, counters, shares, clock, claims } = options;
  const groups = createGroupRouting({ outbound, journal, counters, clock, claims, termsFor });
  const { handOut, idle } = createFanOut({ offer, journal, counters });

  /** Answers whether any session subscribed, whatever came of it. */
  function route(message: Message, reach?: Reach): boolean {
    const before = tree.places;
    const match = tree.match(message.topic, reach);
    const places = tree.places - before + match.count * placesOfRecipient(bytesOfMessage(message));
    if (places > 0 && message.payer !== undefined) shares.spend(message.payer, places);
    if (match.count === 0) return false;
    handOut(new Delivery(message, clock.now()), match);
    return true;
  }

  function offer(delivery: Delivery, recipient: Recipient) {
    if (!('session' in recipient)) return groups.route(delivery, recipient);
    const terms = termsFor(delivery.message, recipient);
    if (terms !== undefined) outbound.offer(recipient.session, delivery, terms);
  }

  /** Hands it to groups alone, as far as it may be claimed for them again. */
  function routeAgain(message: Message, reach?: Reach): void {
    for (const payer of tree.match(message.topic, reach).byPayer()) {
      for (const recipient of Iterator.from(payer.recipients())) {
        if ('session' in recipient) continue;
        void groups.route(new Delivery(message, clock.now()), recipient, { isAgain: true });
      }
    }
  }

  return { route, routeAgain, idle };
}

/** How the subscriptions of one session that include the topic combine [MQTT-3.3.4-2, -3]. */
function termsFor(message: Message, { session, subscriptions }: Target): DeliveryTerms | undefined {
  const [first] = subscriptions;
  if (subscriptions.length === 1 && first !== undefined) {
    if (isOwn(message, session, first)) return undefined;
    return {
      qos: lower(message.qos, first.qos),
      retain: message.retain && first.retainAsPublished,
      identifiers: first.identifier === 0 ? none : [first.identifier],
    };
  }
  const wanted = subscriptions.filter((subscription) => !isOwn(message, session, subscription));
  if (wanted.length === 0) return undefined;
  const highest = wanted.reduce<Qos>((most, { qos }) => (qos > most ? qos : most), 0);
  return {
    qos: lower(message.qos, highest),
    retain: message.retain && wanted.some(({ retainAsPublished }) => retainAsPublished),
    identifiers: wanted.flatMap(({ identifier }) => (identifier === 0 ? none : [identifier])),
  };
}

function isOwn(message: Message, session: Session, { noLocal }: Subscription): boolean {
  return noLocal && message.publisher === session.key;
}

const refusalCodes: Readonly<Record<PublishRefusal, number>> = {
  not_authorized: reason.notAuthorized,
  payload_invalid: reason.payloadInvalid,
  topic_invalid: reason.topicInvalid,
  quota: reason.quotaExceeded,
};

/** The parts that complete a publish. */
export interface PublishCompletion {
  readonly router: Pick<Router, 'route'>;
  readonly retained: Pick<RetainedMessages, 'keep'>;
  readonly counters: Counters;
}

/**
 * Hands a publish on if the hooks leave that to the broker; answers the reason code for its sender.
 * A publish that was refused before the hooks were asked has no message any more.
 */
export function completePublish(
  { router, retained, counters }: PublishCompletion,
  message: Message | undefined,
  outcome: PublishOutcome,
): number {
  if (outcome.kind === 'unavailable') return reason.unavailable;
  if (outcome.kind === 'refused') {
    counters.dropped.refused += 1;
    return refusalCodes[outcome.reason];
  }
  if (!outcome.isPassedOn || message === undefined) return reason.success;
  const isKept = !message.retain || retained.keep(message);
  const isHeard = router.route(message);
  if (!isKept) return reason.quotaExceeded;
  return isHeard ? reason.success : reason.noMatchingSubscribers;
}

interface Job {
  readonly delivery: Delivery;
  readonly recipients: Iterator<Recipient>;
  /** At most so many are left. */
  left: number;
  /** Memory that it takes while it waits. */
  readonly bytes: number;
}

interface PayerQueue {
  /** Jobs in order, each with the function that is called when it is over. */
  readonly jobs: Map<Job, () => void>;
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

/**
 * Hands one message to many sessions without keeping others waiting: the first sessions of each
 * payer get it at once, the others in that payer's next slices, and each in the order of messages.
 * The longer a message is, the fewer get it at once, of all payers together.
 */
function createFanOut(options: {
  readonly offer: (delivery: Delivery, recipient: Recipient) => void;
  readonly journal: Pick<Journal, 'hold' | 'hasRoomFor' | 'synced'>;
  readonly counters: Counters;
}) {
  const { offer, journal, counters } = options;
  const queues = new Map<Payer, PayerQueue>();
  const slices = createFairSlices({ turnMs: limits.turnMs });
  /** The jobs of all queues, until each is over. */
  const underWay = new Set<Promise<void>>();
  let waitingBytes = 0;

  function handOutTo(group: PayerRecipients, delivery: Delivery, room: Room): void {
    const bytes = bytesOfMessage(delivery.message);
    const rest = { delivery, recipients: group.recipients(), left: group.count, bytes };
    if (queues.has(group.payer) || !offerSome(rest, room)) wait(group, rest);
  }

  /** Answers whether that was all. */
  function offerSome(job: Job, room: Room): boolean {
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

  function wait({ payer, isDurable }: PayerRecipients, job: Job): void {
    const queue = queues.get(payer) ?? { jobs: new Map(), waiting: 0, bytes: 0 };
    if (queue.waiting > 0 && isFull(queue, job)) {
      counters.dropped.queue_full += job.left;
      return;
    }
    const { promise, resolve: done } = Promise.withResolvers<void>();
    underWay.add(promise);
    void promise.then(() => underWay.delete(promise));
    // Messages that will wait for clients are on disk before their sender is answered.
    if (job.delivery.message.qos > 0 && isDurable()) {
      journal.hold(promise, job.delivery.message.payer);
    }
    queue.jobs.set({ ...job, delivery: job.delivery.detached() }, done);
    queue.waiting += job.left;
    queue.bytes += job.bytes;
    waitingBytes += job.bytes;
    if (queues.has(payer)) return;
    queues.set(payer, queue);
    serve(payer, queue);
  }

  const isFull = ({ waiting, bytes }: PayerQueue, job: Job): boolean =>
    waiting + job.left > mqttLimits.deliveriesWaitingPerPayerMax ||
    bytes + job.bytes > mqttLimits.deliveriesWaitingBytesPerPayerMax ||
    waitingBytes + job.bytes > mqttLimits.deliveriesWaitingBytesMax;

  /** Hands out the jobs of a payer, also those that come meanwhile, in its slices. */
  function serve(payer: Payer, queue: PayerQueue): void {
    slices.run(payer, () => {
      const [first] = queue.jobs;
      if (first === undefined) return false;
      // Wait for the store while the payer's journal quota is used up, else messages are dropped.
      const synced = journal.hasRoomFor(payer) ? undefined : journal.synced();
      if (synced !== undefined) {
        void synced.then(() => serve(payer, queue));
        return false;
      }
      const [job, done] = first;
      const before = job.left;
      const isOver = offerSome(job, roomFor(job.delivery));
      queue.waiting -= isOver ? before : before - job.left;
      if (isOver) {
        queue.jobs.delete(job);
        queue.bytes -= job.bytes;
        waitingBytes -= job.bytes;
        done();
      }
      if (queue.jobs.size === 0) queues.delete(payer);
      return queue.jobs.size > 0;
    });
  }

  function handOut(delivery: Delivery, match: Match): void {
    const room = roomFor(delivery);
    if (match.few !== undefined && match.few.length <= room.left && queues.size === 0) {
      for (const recipient of match.few) offer(delivery, recipient);
      return;
    }
    for (const group of match.byPayer()) handOutTo(group, delivery, room);
  }

  /** Resolves when everybody has what is handed out by now. */
  const idle = (): Promise<unknown> => Promise.all(underWay);
  return { handOut, idle };
}
