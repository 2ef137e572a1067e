import type { Verdict } from '../../domain/access/access.ts';
import type { Message, Qos } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Reach } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import { Delivery } from './delivery.ts';
import { createFanOut } from './fan-out.ts';
import type { HandOnShares } from './hand-on-shares.ts';
import type { Journal } from './journal.ts';
import type { Outbound } from './outbound.ts';
import type { DeliveryTerms, Session } from './session.ts';
import type {
  Recipient,
  SharedTarget,
  SubscriptionTree,
  Target,
  Turn,
} from './subscription-tree.ts';

/** Hands messages to all who subscribed. */
export interface Router {
  /** Answers whether anybody subscribed, whatever came of it. */
  route(message: Message, reach?: Reach): boolean;
}

/** A message on its way to one member of a group. */
interface Round {
  readonly message: Message;
  readonly delivery: Delivery;
  readonly members: Iterator<Target, undefined>;
  readonly turn: Turn;
}

const none: readonly number[] = [];

export function createRouter(options: {
  readonly tree: SubscriptionTree;
  readonly outbound: Pick<Outbound, 'offer' | 'admits' | 'tryAdmit'>;
  readonly journal: Pick<Journal, 'hold' | 'hasRoomFor' | 'synced'>;
  readonly counters: Counters;
  readonly shares: Pick<HandOnShares, 'spend'>;
  readonly clock: Clock;
}): Router {
  const { tree, outbound, journal, counters, shares, clock } = options;
  const fanOut = createFanOut({ offer: offerToEither, journal, counters });

  function route(message: Message, reach?: Reach): boolean {
    const before = tree.places;
    const match = tree.match(message.topic, reach);
    const places = tree.places - before;
    if (places > 0 && message.payer !== undefined) shares.spend(message.payer, places);
    if (match.count === 0) return false;
    fanOut.handOut(new Delivery(message, clock.now()), match);
    return true;
  }

  function offerToEither(delivery: Delivery, recipient: Recipient): void {
    if ('session' in recipient) offerTo(delivery, recipient);
    else routeShared(delivery, recipient);
  }

  /** One member gets it: the next one that is there and may, else one that will be. */
  function routeShared(delivery: Delivery, group: SharedTarget): void {
    const { message } = delivery;
    const { turn } = group;
    if (turn.waiting === undefined) {
      const members = inTurn(group);
      turn.next = (turn.next + 1) % 0x4000_0000;
      walk({ message, delivery, members, turn });
      return;
    }
    if (turn.waiting.length >= mqttLimits.deliveriesWaitingMax) {
      counters.dropped.queue_full += 1;
      return;
    }
    delivery.keep();
    const { promise, resolve } = Promise.withResolvers<void>();
    journal.hold(promise, message.payer);
    turn.waiting.push(() => {
      routeShared(delivery, group);
      resolve();
    });
  }

  /** Asks for one after the other, those who are there first. */
  function walk(round: Round): void {
    for (let next = round.members.next(); next.done !== true; next = round.members.next()) {
      const verdict = tryHave(next.value, round);
      if (verdict === 'no') continue;
      if (verdict === 'yes') {
        offerTo(round.delivery, next.value);
        return;
      }
      round.turn.waiting = [];
      journal.hold(walkOn(round, next.value), round.message.payer);
      return;
    }
  }

  /** As `walk`, from where a right has to be looked up; never rejects. */
  async function walkOn(round: Round, first: Target): Promise<void> {
    round.delivery.keep();
    let target: Target | undefined = first;
    while (target !== undefined) {
      // Where the store cannot say, the delivery asks again.
      const isChosen = await mayHave(target, round).catch(() => round.message.qos > 0);
      if (isChosen && !target.session.isEnded) {
        offerTo(round.delivery, target);
        break;
      }
      const next: IteratorResult<Target, undefined> = round.members.next();
      target = next.value;
    }
    const waiting = round.turn.waiting ?? [];
    round.turn.waiting = undefined;
    for (const goOn of waiting) goOn();
  }

  function tryHave({ session }: Target, { message, delivery }: Round): Verdict {
    return isOver(session, delivery) ? 'no' : outbound.tryAdmit(session, message.topic);
  }

  async function mayHave({ session }: Target, { message, delivery }: Round): Promise<boolean> {
    return !isOver(session, delivery) && outbound.admits(session, message.topic);
  }

  function offerTo(delivery: Delivery, target: Target): void {
    const { message } = delivery;
    const terms = termsFor(message, target);
    if (terms !== undefined) outbound.offer(target.session, delivery, terms);
  }

  return { route };
}

/** Whether nobody will come back for it. */
const isOver = ({ link, expiresAt }: Session, { now }: Delivery): boolean =>
  link === undefined && expiresAt <= now;

/** Its members in the order in which they are asked, those who are there first; not too many. */
function* inTurn({ members, turn }: SharedTarget): Generator<Target, undefined> {
  let left: number = mqttLimits.groupMembersAskedMax;
  for (const isThere of [true, false]) {
    for (let at = 0; at < members.length; at += 1) {
      const member = members[(turn.next + at) % members.length];
      if (member === undefined || (member.session.link !== undefined) !== isThere) continue;
      if (left === 0) return;
      left -= 1;
      yield member;
    }
  }
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

/** A message arrives with at most the QoS it was sent with [MQTT-3.8.4-8]. */
export const lower = (one: Qos, other: Qos): Qos => (one < other ? one : other);
