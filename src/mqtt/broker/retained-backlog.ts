import { limits } from '../../domain/limits.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { readSharedFilter } from '../../lib/topic-filter.ts';
import { Delivery } from './delivery.ts';
import type { Outbound } from './outbound.ts';
import type { RetainedMessages } from './retained.ts';
import { lower } from './router.ts';
import type { Session } from './session.ts';

/** Hands retained messages to new subscriptions, as fast as the client reads. */
export interface RetainedDelivery {
  start(session: Session, subscription: Subscription): void;
  /** There is room again. */
  goOn(session: Session): void;
}

export function createRetainedDelivery(options: {
  readonly retained: RetainedMessages;
  readonly outbound: Outbound;
  readonly clock: Clock;
}): RetainedDelivery {
  const { retained, outbound, clock } = options;

  function start(session: Session, subscription: Subscription): void {
    // A group gets none [MQTT5 4.8.2].
    if (retained.size === 0 || readSharedFilter(subscription.filter) !== undefined) return;
    session.backlog ??= [];
    session.backlog.push({ messages: retained.find(subscription.filter), subscription });
    if (session.backlog.length === 1) goOn(session);
  }

  function goOn(session: Session): void {
    let handed = 0;
    while (session.backlog !== undefined && session.link !== undefined) {
      const mayGoOn = hasRoom(session);
      if (!mayGoOn || handed === limits.mqttRetainedPerTurn) {
        // Sockets and acknowledgements call goOn; a right that is looked up does not.
        if (mayGoOn || session.admissions !== undefined) inNextTurn(session);
        return;
      }
      handOne(session);
      handed += 1;
    }
  }

  function handOne(session: Session): void {
    const [first] = session.backlog ?? [];
    const next = first?.messages.next();
    if (first === undefined || next === undefined || next.done === true) {
      session.backlog?.shift();
      if (session.backlog?.length === 0) session.backlog = undefined;
      return;
    }
    const { qos, identifier } = first.subscription;
    const terms = {
      qos: lower(next.value.qos, qos),
      retain: true,
      identifiers: identifier === 0 ? [] : [identifier],
    };
    outbound.offer(session, new Delivery(next.value, clock.now()), terms);
  }

  function inNextTurn(session: Session): void {
    const { link } = session;
    setImmediate(() => {
      if (session.link === link) goOn(session);
    });
  }

  return { start, goOn };
}

function hasRoom({ link, entries, admissions }: Session): boolean {
  return (
    link !== undefined &&
    link.outbox.waitingBytes < limits.mqttSocketBufferBytesMax / 2 &&
    (entries?.size ?? 0) < limits.mqttQueuedMessagesMax / 2 &&
    (admissions?.length ?? 0) < limits.mqttDeliveriesWaitingMax / 2
  );
}
