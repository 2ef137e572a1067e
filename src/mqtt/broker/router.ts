import { bytesOfMessage, type Message, type Qos } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Reach } from '../broker.ts';
import type { Counters } from './counters.ts';
import { Delivery } from './delivery.ts';
import { createFanOut } from './fan-out.ts';
import { createGroupRouting } from './group-routing.ts';
import { type HandOnShares, placesOfRecipient } from './hand-on-shares.ts';
import type { Journal } from './journal.ts';
import type { Outbound } from './outbound.ts';
import type { DeliveryTerms, Session } from './session.ts';
import type { Shares } from './shares.ts';
import type { Recipient, SubscriptionTree, Target } from './subscription-tree.ts';

/** Hands messages to all subscribers. */
export interface Router {
  /** Answers whether any session subscribed, whatever came of it. */
  route(message: Message, reach?: Reach): boolean;
  /** Hands it to groups alone, as far as it may be claimed for them again. */
  routeAgain(message: Message, reach?: Reach): void;
}

const none: readonly number[] = [];

export function createRouter(options: {
  readonly tree: SubscriptionTree;
  readonly outbound: Pick<Outbound, 'offer' | 'admits' | 'tryAdmit'>;
  readonly journal: Pick<Journal, 'hold' | 'hasRoomFor' | 'synced'>;
  readonly counters: Counters;
  readonly shares: Pick<HandOnShares, 'spend'>;
  readonly clock: Clock;
  /** Where other processes have members of groups. */
  readonly claims?: Shares | undefined;
}): Router {
  const { tree, outbound, journal, counters, shares, clock, claims } = options;
  const groups = createGroupRouting({ outbound, journal, counters, clock, claims, termsFor });
  const fanOut = createFanOut({ offer: offerToEither, journal, counters });

  function route(message: Message, reach?: Reach): boolean {
    const before = tree.places;
    const match = tree.match(message.topic, reach);
    const places = tree.places - before + match.count * placesOfRecipient(bytesOfMessage(message));
    if (places > 0 && message.payer !== undefined) shares.spend(message.payer, places);
    if (match.count === 0) return false;
    fanOut.handOut(new Delivery(message, clock.now()), match);
    return true;
  }

  function offerToEither(delivery: Delivery, recipient: Recipient): void {
    if ('session' in recipient) offerTo(delivery, recipient);
    else groups.route(delivery, recipient);
  }

  function routeAgain(message: Message, reach?: Reach): void {
    for (const payer of tree.match(message.topic, reach).byPayer()) {
      for (const recipient of Iterator.from(payer.recipients())) {
        if ('session' in recipient) continue;
        groups.route(new Delivery(message, clock.now()), recipient, { isAgain: true });
      }
    }
  }

  function offerTo(delivery: Delivery, target: Target): void {
    const { message } = delivery;
    const terms = termsFor(message, target);
    if (terms !== undefined) outbound.offer(target.session, delivery, terms);
  }

  return { route, routeAgain };
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
