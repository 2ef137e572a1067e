import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { readSharedFilter } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import { Delivery } from './delivery.ts';
import type { Outbound } from './outbound.ts';
import type { RetainedMessages } from './retained.ts';
import { lower } from './router.ts';
import type { Session } from './session.ts';
import { createSlices } from './turns.ts';

/** Hands retained messages to new subscriptions, as fast as the client reads. */
export interface RetainedDelivery {
  /**
   * Begins with those of this filter; once more, if it had begun already. Where other processes
   * serve, with what they had retained by now: when that is known here.
   */
  start(session: Session, subscription: Subscription): void;
  /** The subscription has ended. */
  stop(session: Session, filter: string): void;
  /** Goes on: the client can take more again. */
  goOn(session: Session): void;
}

export function createRetainedDelivery(options: {
  readonly retained: RetainedMessages;
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** Resolves when what other processes retained before is known here. Absent: there are none. */
  readonly heard?: (() => Promise<void>) | undefined;
}): RetainedDelivery {
  const { retained, outbound, clock, heard } = options;
  const turns = createSlices(handSome);
  /** Subscriptions that wait for messages of other processes: of each session, by filter. */
  const waiting = new Map<Session, Map<string, Subscription>>();

  function start(session: Session, subscription: Subscription): void {
    const { filter } = subscription;
    // A group gets none [MQTT5 4.8.2].
    if (readSharedFilter(filter) !== undefined) return;
    if (heard === undefined) {
      begin(session, subscription);
      return;
    }
    const others = waiting.get(session);
    others?.set(filter, subscription);
    if (others !== undefined) return;
    const wanted = new Map([[filter, subscription]]);
    waiting.set(session, wanted);
    void beginWhenHeard(session, wanted, heard);
  }

  async function beginWhenHeard(
    session: Session,
    wanted: Map<string, Subscription>,
    heardOthers: () => Promise<void>,
  ): Promise<void> {
    while (wanted.size > 0 && !session.isEnded) {
      // Subscriptions that come meanwhile wait for the next round: they may want newer messages.
      const asked = [...wanted];
      await heardOthers();
      for (const [filter, subscription] of asked) {
        if (session.isEnded || wanted.get(filter) !== subscription) continue;
        wanted.delete(filter);
        begin(session, subscription);
      }
    }
    // At once: the next one would be added to a map that is no longer read.
    waiting.delete(session);
  }

  function begin(session: Session, subscription: Subscription): void {
    const { filter } = subscription;
    if (retained.size === 0) return;
    session.backlog ??= new Map();
    session.backlog.set(filter, { messages: retained.find(filter), subscription });
    goOn(session);
  }

  function stop(session: Session, filter: string): void {
    waiting.get(session)?.delete(filter);
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
      // No event calls goOn when a right was looked up.
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
