import type { Message, Qos } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Reach } from '../broker.ts';
import { Delivery } from './delivery.ts';
import type { DeliveryTerms, Outbound } from './outbound.ts';
import type { Session } from './session.ts';
import type { SharedTarget, SubscriptionTree, Target } from './subscription-tree.ts';

/** Hands messages to all who subscribed. */
export interface Router {
  /** Answers whether anybody subscribed, whatever came of it. */
  route(message: Message, reach?: Reach): boolean;
}

const none: readonly number[] = [];

export function createRouter(options: {
  readonly tree: SubscriptionTree;
  readonly outbound: Outbound;
  readonly clock: Clock;
}): Router {
  const { tree, outbound, clock } = options;

  function route(message: Message, reach?: Reach): boolean {
    const { targets, shared } = tree.match(message.topic, reach);
    if (targets.length === 0 && shared.length === 0) return false;
    const delivery = new Delivery(message, clock.now());
    for (const target of targets) {
      const terms = termsFor(message, target);
      if (terms !== undefined) outbound.offer(target.session, delivery, terms);
    }
    for (const group of shared) routeShared(message, delivery, group);
    return true;
  }

  /** One member gets it: the next one that is there and may, else one that will be. */
  function routeShared(
    message: Message,
    delivery: Delivery,
    { members, turn }: SharedTarget,
  ): void {
    const start = turn.next;
    turn.next = (turn.next + 1) % 0x4000_0000;
    let absent: Target | undefined;
    for (let step = 0; step < members.length; step += 1) {
      const target = members[(start + step) % members.length];
      if (target === undefined) return;
      if (target.session.link === undefined) {
        if (mayHave(target, message)) absent ??= target;
      } else if (mayHave(target, message)) {
        hand(message, delivery, target);
        return;
      }
    }
    if (absent !== undefined) hand(message, delivery, absent);
  }

  /** A right that is being looked up counts: the session asks again, and waits for the answer. */
  function mayHave({ session }: Target, message: Message): boolean {
    return outbound.admits(session, message.topic) !== false;
  }

  function hand(message: Message, delivery: Delivery, target: Target): void {
    const terms = termsFor(message, target);
    if (terms !== undefined) outbound.offer(target.session, delivery, terms);
  }

  return { route };
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
