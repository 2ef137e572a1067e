import { setTimeout as wait } from 'node:timers/promises';
import type { Verdict } from '../../domain/access/policy.ts';
import type { Share } from '../../domain/messaging/session-store.ts';
import type { BrokerHooks, DropReason } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';
import { isCongested, type MessageQueue } from './message-queue.ts';
import { type DeliveryTerms, isKnown, type Session } from './session.ts';

export type Outbound = ReturnType<typeof createOutbound>;

/** Messages from the broker to the clients: rights first, then QoS. */
export function createOutbound(options: {
  readonly authority: BrokerHooks;
  readonly queue: Pick<MessageQueue, 'add'>;
  readonly journal: Pick<Journal, 'hold'>;
  readonly counters: Counters;
  /** Absent: no other process has members of groups. */
  readonly claims?: { giveBack(share: Share): void } | undefined;
  /** Whether a process that stops lacks some of what it stored. */
  readonly hasDropped?: (() => boolean) | undefined;
}) {
  const { authority, queue, journal, counters, claims } = options;
  const deciding = new Set<Promise<void>>();

  function drop(why: DropReason): void {
    counters.dropped[why] += 1;
  }

  /** Whether the session may have messages of this topic now. */
  function admits({ link, identity }: Session, topic: string): Promise<boolean> {
    return link === undefined ? authority.mayQueue(identity, topic) : link.client.mayReceive(topic);
  }

  /** The same at once, from what is at hand. */
  function tryAdmit({ link, identity }: Session, topic: string): Verdict {
    return link === undefined ? authority.tryQueue(identity, topic) : link.client.tryReceive(topic);
  }

  /** Sends or queues the message if the session may have it at this moment [contract 8]. */
  function offer(session: Session, delivery: Delivery, terms: DeliveryTerms): void {
    if (session.catchUp === undefined || !isHeldBack(session, delivery, terms)) {
      offerFound(session, delivery, terms);
    }
  }

  /** Of a session that another process had: it waits, or was found in the log already. */
  function isHeldBack(session: Session, delivery: Delivery, terms: DeliveryTerms): boolean {
    const { catchUp: state } = session;
    const waiting = state?.waiting;
    // Of a group, no other session found what is claimed.
    const mayBeKnown = terms.share === undefined && terms.qos > 0 && state !== undefined;
    if (waiting === undefined) return mayBeKnown && isKnown(state, delivery.message);
    if (waiting.length >= mqttLimits.deliveriesWaitingMax) {
      drop('queue_full');
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    if (terms.qos > 0 && session.isDurable) journal.hold(promise, delivery.message.payer);
    const later = delivery.detached();
    waiting.push(() => {
      if (session.isEnded) handBack(later, terms);
      else offer(session, later, terms);
      resolve();
    });
    return true;
  }

  /** The same for one that was found in the log: those that come meanwhile wait behind it. */
  function offerFound(session: Session, delivery: Delivery, terms: DeliveryTerms): void {
    const isKept = terms.qos > 0 && session.isDurable && terms.share === undefined;
    // The next process of the session finds it in the log, with what was dropped or not read here.
    const isLeft = session.catchUp?.isLeft === true || options.hasDropped?.() === true;
    if (isKept && isLeft && delivery.message.origin !== undefined) return;
    const decided = offerNow(session, delivery, terms);
    if (decided === undefined) return;
    deciding.add(decided);
    void decided.finally(() => deciding.delete(decided));
    // A message that will wait for a client is on disk before its sender is answered.
    if (terms.qos > 0 && session.isDurable) journal.hold(decided, delivery.message.payer);
  }

  /** Resolves, and never rejects, once it is known what becomes of the message. */
  function offerNow(
    session: Session,
    delivery: Delivery,
    terms: DeliveryTerms,
  ): Promise<void> | undefined {
    if (session.isEnded) {
      handBack(delivery, terms);
      return undefined;
    }
    // A client that is not there gets QoS 1 and 2 later [MQTT-3.1.2-5].
    const isAway = session.link === undefined;
    if (isAway && (terms.qos === 0 || session.expiresAt <= delivery.now)) return undefined;
    if (session.admissions !== undefined) return admitLater(session, delivery, terms);
    const verdict = tryAdmit(session, delivery.message.topic);
    if (verdict === 'unknown') return decide(session, delivery, terms);
    if (verdict === 'yes') send(session, delivery, terms);
    else drop('not_allowed');
    return undefined;
  }

  function admitLater(
    session: Session,
    delivery: Delivery,
    terms: DeliveryTerms,
  ): Promise<void> | undefined {
    const waiting = session.admissions ?? [];
    if (waiting.length >= mqttLimits.deliveriesWaitingMax) {
      drop('queue_full');
      return undefined;
    }
    delivery.keep();
    return new Promise((resolve) => {
      waiting.push(() => resolve(offerNow(session, delivery, terms)));
    });
  }

  async function decide(session: Session, delivery: Delivery, terms: DeliveryTerms): Promise<void> {
    delivery.keep();
    // Deliveries that come meanwhile wait behind this one, and resolve even if the session ends.
    const waiting: (() => void)[] = [];
    session.admissions = waiting;
    const verdict = await admits(session, delivery.message.topic).catch(() => 'unknown' as const);
    session.admissions = undefined;
    if (verdict === true) send(session, delivery, terms);
    else if (verdict === false || terms.qos === 0) drop('not_allowed');
    // The store cannot say: what is not to be lost is kept, and asked about again.
    else if (session.isEnded) handBack(delivery, terms);
    else queue.add(session, delivery, { ...terms, qos: terms.qos }, true);
    // A delivery may have to ask again: then the rest waits behind it, in order.
    for (const admission of waiting) admission();
  }

  function send(session: Session, delivery: Delivery, terms: DeliveryTerms): void {
    if (session.isEnded) handBack(delivery, terms);
    else if (delivery.isExpired) drop('expired');
    else if (terms.qos === 0) sendOnce(session, delivery, terms);
    else queue.add(session, delivery, { ...terms, qos: terms.qos });
  }

  /**
   * The session of a group's member ended before the message was in its queue: another member gets
   * it [contract 15].
   */
  function handBack({ message }: Delivery, { qos, share, handOn }: DeliveryTerms) {
    if (qos === 0) return;
    if (share !== undefined) claims?.giveBack(share);
    handOn?.(message, false);
  }

  function sendOnce({ link }: Session, delivery: Delivery, terms: DeliveryTerms) {
    if (link === undefined) return;
    if (isCongested(link)) return drop('slow');
    const frame = delivery.frameFor(link, terms);
    if (frame.size > link.packetBytesMax) return drop('too_large');
    counters.messagesSent += 1;
    link.writer.write(frame.head);
    if (frame.payload !== undefined) link.writer.write(frame.payload);
  }

  /** Resolves when it is known what becomes of what was offered until now, or after a moment. */
  const decided = () => allOrLate(deciding);
  return { offer, offerFound, admits, tryAdmit, decided };
}

/** Resolves with all, or after a moment: who is long in coming keeps nobody. */
async function allOrLate(some: ReadonlySet<Promise<void>>): Promise<void> {
  if (some.size === 0) return;
  const late = wait(mqttLimits.decisionMsMax, undefined, { ref: false });
  // To wait for each of very many would hold the event loop.
  await (some.size > mqttLimits.decisionsMax ? late : Promise.race([Promise.all(some), late]));
}
