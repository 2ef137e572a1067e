import type { Message } from '../../domain/messaging/message.ts';
import type { StoredEntry } from '../../domain/messaging/session-store.ts';
import { protocolError, reason } from '../packets/reason-codes.ts';
import type { Delivery } from './delivery.ts';
import type { Parcel } from './parcel.ts';
import {
  forgetEntries,
  freeMessage,
  insertEntry,
  type QueueContext,
  restoreEntries,
  settleEntry,
} from './queue-entries.ts';
import type { Entry, QueuedTerms, Session } from './session.ts';
import { hasWaiting, mayTransmit, pump, release, transmit } from './transmission.ts';

/** QoS 1 and 2 messages on their way to the clients: windows, queues, repetition. */
export interface MessageQueue {
  /** Sends a message, or queues it until it is next; drops it where a queue or quota is full. */
  add(session: Session, delivery: Delivery, terms: QueuedTerms): void;
  /** The same for a message whose right the store could not answer: it is asked again. */
  addUnasked(session: Session, delivery: Delivery, terms: QueuedTerms): void;
  /** Sends what is not settled again, in order, over a new connection [MQTT-4.4.0-1]. */
  resume(session: Session): void;
  /** Sends what waits, as far as the window and the buffer allow. */
  pump(session: Session): void;
  /** PUBACK: the client has the QoS 1 message. */
  acknowledged(session: Session, packetId: number): void;
  /** PUBREC: the client has the QoS 2 message, or refuses it. */
  received(session: Session, packetId: number, reasonCode: number): void;
  /** PUBCOMP: the client forgot the packet id. */
  completed(session: Session, packetId: number): void;
  /** Gives back the quota of a session that ends. */
  forget(session: Session): void;
  /** Queues what waited before the start. */
  restore(session: Session, stored: readonly StoredEntry[]): void;
}

export function createMessageQueue(context: QueueContext): MessageQueue {
  const { counters, journal } = context;
  const parcels = new WeakMap<Message, Parcel>();

  function insert(session: Session, delivery: Delivery, terms: QueuedTerms): Entry | undefined {
    const entry = insertEntry(context, session, { delivery, terms });
    if (entry === undefined) counters.dropped.queue_full += 1;
    return entry;
  }

  function putInLine(session: Session, entry: Entry): void {
    session.waiting ??= [];
    session.waiting.push(entry);
    if (!entry.isOnDisk) onceOnDisk(entry, () => pump(context, session));
  }

  function addUnasked(session: Session, delivery: Delivery, terms: QueuedTerms): void {
    const entry = insert(session, delivery, terms);
    if (entry === undefined) return;
    putInLine(session, entry);
    pump(context, session);
  }

  function add(session: Session, delivery: Delivery, terms: QueuedTerms): void {
    const entry = insert(session, delivery, terms);
    if (entry === undefined) return;
    const { link } = session;
    const isNext = !session.isAsking && !hasWaiting(session) && entry.isOnDisk;
    if (link !== undefined && isNext && mayTransmit(session, link)) {
      transmit(context, session, { link, entry, frame: delivery.frameFor(link, terms) });
      return;
    }
    putInLine(session, entry);
  }

  function onceOnDisk(entry: Entry, goOn: () => void): void {
    void journal.synced()?.then(() => {
      entry.isOnDisk = true;
      goOn();
    });
  }

  function settleAndPump(session: Session, entry: Entry): void {
    settleEntry(context, session, entry);
    pump(context, session);
  }

  function resume(session: Session): void {
    session.inFlight = 0;
    session.waitingFrom = 0;
    session.waiting = session.entries === undefined ? undefined : [...session.entries.values()];
    for (const entry of session.waiting ?? []) entry.isInFlight = false;
    pump(context, session);
  }

  function acknowledged(session: Session, packetId: number): void {
    const entry = session.entries?.get(packetId);
    if (entry === undefined) return;
    requireStage(entry, entry.qos === 1, 'PUBACK');
    settleAndPump(session, entry);
  }

  function received(session: Session, packetId: number, reasonCode: number): void {
    const entry = session.entries?.get(packetId);
    const isRefused = reasonCode >= reason.unspecified;
    if (entry === undefined) {
      // The id may be forgotten on our side only: the client must be able to come to an end.
      if (!isRefused && session.link !== undefined) {
        release(session.link, packetId, reason.packetIdNotFound);
      }
      return;
    }
    requireStage(entry, entry.qos === 2, 'PUBREC');
    if (isRefused) {
      settleAndPump(session, entry);
      return;
    }
    if (entry.parcel !== undefined) {
      freeMessage(context, session, entry);
      if (session.isDurable) {
        journal.add({ kind: 'released', key: session.key, packetId }, entry.payer);
        entry.isOnDisk = false;
        releaseOnceSynced(session, entry);
      }
    }
    if (session.link !== undefined && entry.isOnDisk) release(session.link, packetId);
  }

  /** Sends PUBREL once that is on disk: the client then forgets the id, and no repeat may come. */
  function releaseOnceSynced(session: Session, entry: Entry): void {
    const { link } = session;
    onceOnDisk(entry, () => {
      if (link !== undefined && session.link === link) release(link, entry.packetId);
      else pump(context, session);
    });
  }

  function completed(session: Session, packetId: number): void {
    const entry = session.entries?.get(packetId);
    if (entry === undefined) return;
    requireStage(entry, entry.qos === 2 && entry.parcel === undefined, 'PUBCOMP');
    settleAndPump(session, entry);
  }

  return {
    ...{ add, addUnasked, resume, acknowledged, received, completed },
    pump: (session) => pump(context, session),
    forget: (session) => forgetEntries(context, session),
    restore: (session, stored) => restoreEntries(context, session, { stored, parcels }),
  };
}

/** An answer that belongs to another step of the flow, or to a message that was not sent yet. */
function requireStage(entry: Entry, isRight: boolean, name: string): void {
  if (!isRight || !entry.isInFlight)
    throw protocolError(`${name} does not belong to its packet id`);
}
