import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { readSharedFilter } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import { Delivery } from './delivery.ts';
import type { Outbound } from './outbound.ts';
import type { RetainedMessages } from './retained.ts';
import { lower } from './router.ts';
import type { Session } from './session.ts';
import { createTurns } from './turns.ts';

/** Hands retained messages to new subscriptions, as fast as the client reads. */
export interface RetainedDelivery {
  /** Begins with those of this filter; once more, if it had begun already. */
  start(session: Session, subscription: Subscription): void;
  /** The subscription has ended. */
  stop(session: Session, filter: string): void;
  /** There is room again. */
  goOn(session: Session): void;
}

export function createRetainedDelivery(options: {
  readonly retained: RetainedMessages;
  readonly outbound: Outbound;
  readonly clock: Clock;
}): RetainedDelivery {
  const { retained, outbound, clock } = options;
  const turns = createTurns(handSome);

  function start(session: Session, subscription: Subscription): void {
    const { filter } = subscription;
    // A group gets none [MQTT5 4.8.2].
    if (retained.size === 0 || readSharedFilter(filter) !== undefined) return;
    session.backlog ??= new Map();
    session.backlog.set(filter, { messages: retained.find(filter), subscription });
    goOn(session);
  }

  function stop(session: Session, filter: string): void {
    session.backlog?.delete(filter);
    if (session.backlog?.size === 0) session.backlog = undefined;
  }

  function goOn(session: Session): void {
    turns.add(session.payer, session);
  }

  /** Answers whether it has to be asked again; sockets and acknowledgements call goOn. */
  function handSome(session: Session): boolean {
    for (let handed = 0; handed < mqttLimits.retainedPerTurn; handed += 1) {
      if (session.backlog === undefined || session.link === undefined) return false;
      // Nobody calls goOn when a right was looked up.
      if (!hasRoom(session)) return session.admissions !== undefined;
      handOne(session);
    }
    return true;
  }

  function handOne(session: Session): void {
    const [first] = session.backlog?.values() ?? [];
    if (first === undefined) return;
    const { messages, subscription } = first;
    const next = messages.next();
    if (next.done === true) {
      stop(session, subscription.filter);
      return;
    }
    if (next.value === undefined) return;
    const { qos, identifier } = subscription;
    const terms = {
      qos: lower(next.value.qos, qos),
      retain: true,
      identifiers: identifier === 0 ? [] : [identifier],
    };
    outbound.offer(session, new Delivery(next.value, clock.now()), terms);
  }

  return { start, stop, goOn };
}

function hasRoom({ link, entries, admissions }: Session): boolean {
  return (
    link !== undefined &&
    link.writer.waitingBytes < mqttLimits.socketBufferBytesMax / 2 &&
    (entries?.size ?? 0) < mqttLimits.queuedMessagesMax / 2 &&
    (admissions?.length ?? 0) < mqttLimits.deliveriesWaitingMax / 2
  );
}
