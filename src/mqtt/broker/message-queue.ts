import type { Message } from '../../domain/messaging/message.ts';
import type { StoredEntry } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { DropReason } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { packetType } from '../packets/packet.ts';
import { writeAcknowledgement } from '../packets/packet-encoder.ts';
import type { PublishFrame } from '../packets/publish-encoder.ts';
import { protocolError, reason } from '../packets/reason-codes.ts';
import type { Counters } from './counters.ts';
import { type Delivery, encodeFor } from './delivery.ts';
import type { Journal } from './journal.ts';
import { Parcel } from './parcel.ts';
import type { QueueRoom } from './queue-room.ts';
import type { Entry, Link, Session } from './session.ts';

/** QoS 1 and 2 messages on their way to the clients: windows, queues, repetition. */
export interface MessageQueue {
  /** Sends it, or keeps it until it is its turn; drops it where there is no room. */
  add(session: Session, delivery: Delivery, terms: QueueTerms): void;
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
  /** Gives back the room of a session that ends. */
  forget(session: Session): void;
  /** Puts in line what waited before the start. */
  restore(session: Session, stored: readonly StoredEntry[]): void;
}

export interface QueueTerms {
  readonly qos: 1 | 2;
  readonly retain: boolean;
  readonly identifiers: readonly number[];
}

interface QueueParts {
  readonly journal: Journal;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly room: QueueRoom;
}

export function createMessageQueue(parts: QueueParts): MessageQueue {
  const { counters, clock, room } = parts;
  const settle = (session: Session, entry: Entry) => settleEntry(parts, session, entry);

  function drop(why: DropReason): void {
    counters.dropped[why] += 1;
  }

  function add(session: Session, delivery: Delivery, terms: QueueTerms): void {
    const { length } = delivery.message.payload;
    if (!hasRoom(parts, session, length) || !room.take(session, delivery.keep())) {
      drop('queue_full');
      return;
    }
    const entry = insertEntry(parts, session, { delivery, terms });
    const { link } = session;
    const isNext = !session.isAsking && !hasWaiting(session) && entry.isOnDisk;
    if (link !== undefined && isNext && mayTransmit(session, link)) {
      transmit(session, link, { entry, frame: delivery.frameFor(link, terms) });
    } else {
      session.waiting ??= [];
      session.waiting.push(entry);
      if (!entry.isOnDisk) sendOnceSynced(session, entry);
    }
  }

  function sendOnceSynced(session: Session, entry: Entry): void {
    void parts.journal.synced()?.then(() => {
      entry.isOnDisk = true;
      pump(session);
    });
  }

  function transmit(
    session: Session,
    link: Link,
    { entry, frame }: { readonly entry: Entry; readonly frame: PublishFrame },
  ): void {
    if (frame.size > link.packetBytesMax) {
      drop('too_large');
      settle(session, entry);
      return;
    }
    const at = link.writer.reserve(frame.head.length);
    const page = link.writer.page();
    frame.head.copy(page, at);
    if (entry.wasSent) page[at] = (page[at] ?? 0) | 8;
    page.writeUInt16BE(entry.packetId, at + frame.idOffset);
    if (frame.payload !== undefined) link.writer.write(frame.payload);
    entry.wasSent = true;
    entry.isInFlight = true;
    session.inFlight += 1;
    counters.messagesSent += 1;
  }

  function pump(session: Session): void {
    const { link } = session;
    if (link === undefined || session.waiting === undefined) return;
    while (!session.isAsking && hasWaiting(session) && mayTransmit(session, link)) {
      const entry = session.waiting[session.waitingFrom];
      if (entry?.isOnDisk === false) break;
      session.waitingFrom += 1;
      if (entry !== undefined) sendIfAllowed(session, link, entry);
    }
    trimWaiting(session);
  }

  /** Rights may have gone since it was queued [contract 8]. */
  function sendIfAllowed(session: Session, link: Link, entry: Entry): void {
    const topic = entry.parcel?.message.topic;
    const verdict = topic === undefined ? 'yes' : link.client.tryReceive(topic);
    if (verdict !== 'unknown' || topic === undefined) {
      finishAsked(session, link, { entry, isAllowed: verdict === 'yes' });
      return;
    }
    session.isAsking = true;
    void link.client
      .mayReceive(topic)
      .catch(() => false)
      .then((isAllowed) => {
        session.isAsking = false;
        // Over a new connection everything was put in line again.
        if (session.link === link) finishAsked(session, link, { entry, isAllowed });
        pump(session);
      });
  }

  function finishAsked(
    session: Session,
    link: Link,
    { entry, isAllowed }: { readonly entry: Entry; readonly isAllowed: boolean },
  ): void {
    if (isAllowed) {
      sendAgain(session, link, entry);
      return;
    }
    drop('not_allowed');
    settle(session, entry);
  }

  function sendAgain(session: Session, link: Link, entry: Entry): void {
    const { parcel, packetId } = entry;
    if (parcel === undefined) {
      entry.isInFlight = true;
      session.inFlight += 1;
      release(link, packetId);
      return;
    }
    const now = clock.now();
    const { message } = parcel;
    if (message.expiresAt !== undefined && message.expiresAt <= now) {
      drop('expired');
      settle(session, entry);
      return;
    }
    const frame = encodeFor(link, message, { ...entry, now });
    transmit(session, link, { entry, frame });
  }

  function resume(session: Session): void {
    session.inFlight = 0;
    session.waitingFrom = 0;
    session.waiting = session.entries === undefined ? undefined : [...session.entries.values()];
    for (const entry of session.waiting ?? []) entry.isInFlight = false;
    pump(session);
  }

  function acknowledged(session: Session, packetId: number): void {
    const entry = session.entries?.get(packetId);
    if (entry === undefined) return;
    requireStage(entry, entry.qos === 1, 'PUBACK');
    settle(session, entry);
    pump(session);
  }

  function received(session: Session, packetId: number, reasonCode: number): void {
    const entry = session.entries?.get(packetId);
    const isRefused = reasonCode >= reason.unspecified;
    if (entry === undefined) {
      // It may be forgotten on our side only: the client must be able to come to an end.
      if (!isRefused && session.link !== undefined) release(session.link, packetId);
      return;
    }
    requireStage(entry, entry.qos === 2, 'PUBREC');
    if (isRefused) {
      settle(session, entry);
      pump(session);
      return;
    }
    if (entry.parcel !== undefined) {
      freeMessage(parts, session, entry);
      if (session.isDurable) {
        parts.journal.add({ kind: 'released', key: session.key, packetId }, entry.payer);
        entry.isOnDisk = false;
        releaseOnceSynced(session, entry);
      }
    }
    if (session.link !== undefined && entry.isOnDisk) release(session.link, packetId);
  }

  /** Whoever got PUBREL forgets the packet id: the message must never come again after it. */
  function releaseOnceSynced(session: Session, entry: Entry): void {
    const { link } = session;
    void parts.journal.synced()?.then(() => {
      entry.isOnDisk = true;
      if (link !== undefined && session.link === link) release(link, entry.packetId);
      else pump(session);
    });
  }

  function completed(session: Session, packetId: number): void {
    const entry = session.entries?.get(packetId);
    if (entry === undefined) return;
    requireStage(entry, entry.qos === 2 && entry.parcel === undefined, 'PUBCOMP');
    settle(session, entry);
    pump(session);
  }

  function forget(session: Session): void {
    for (const entry of session.entries?.values() ?? []) {
      freeMessage(parts, session, entry);
      room.settle(entry.payer);
    }
    counters.queuedMessages -= session.entries?.size ?? 0;
    session.entries = undefined;
    session.waiting = undefined;
    session.admissions = undefined;
    session.isEnded = true;
  }

  /** Sessions that wait for the same message share it. */
  const parcels = new WeakMap<Message, Parcel>();

  function parcelOf(message: Message): Parcel {
    const parcel = parcels.get(message) ?? new Parcel(message);
    parcels.set(message, parcel);
    return parcel;
  }

  function restore(session: Session, stored: readonly StoredEntry[]): void {
    if (stored.length === 0) return;
    const { payer } = session;
    session.entries = new Map();
    for (const [index, { message, ...terms }] of stored.entries()) {
      const parcel = message && parcelOf(message);
      // Which of them had left is not known; those that may have are marked as repeated.
      const wasSent = index < mqttLimits.inFlightMax;
      const state = { wasSent, isInFlight: false, isOnDisk: true };
      session.entries.set(terms.packetId, { ...terms, ...state, payer, parcel });
      session.queuedBytes += message?.payload.length ?? 0;
      session.continueFrom(terms.packetId);
      room.restore(session, parcel);
    }
    counters.queuedMessages += session.entries.size;
    counters.queuedBytes += session.queuedBytes;
  }

  return { add, resume, pump, acknowledged, received, completed, forget, restore };
}

/** Takes the message into the session, durably if the session is. */
function insertEntry(
  { journal, counters }: QueueParts,
  session: Session,
  { delivery, terms }: { readonly delivery: Delivery; readonly terms: QueueTerms },
): Entry {
  const parcel = delivery.keep();
  const packetId = session.nextPacketId();
  const entry: Entry = {
    ...{ packetId, ...terms, parcel, wasSent: false, isInFlight: false, payer: session.payer },
    isOnDisk: terms.qos === 1 || !session.isDurable,
  };
  const size = parcel.message.payload.length;
  session.entries ??= new Map();
  session.entries.set(packetId, entry);
  session.queuedBytes += size;
  counters.queuedBytes += size;
  counters.queuedMessages += 1;
  if (session.isDurable)
    delivery.record({ key: session.key, packetId, ...terms }, session.payer, journal);
  return entry;
}

function settleEntry(parts: QueueParts, session: Session, entry: Entry): void {
  if (session.entries?.delete(entry.packetId) !== true) return;
  if (entry.isInFlight) session.inFlight -= 1;
  freeMessage(parts, session, entry);
  parts.room.settle(entry.payer);
  parts.counters.queuedMessages -= 1;
  if (session.isDurable) {
    const { packetId, payer } = entry;
    parts.journal.add({ kind: 'settled', key: session.key, packetId }, payer);
  }
}

function freeMessage({ counters, room }: QueueParts, session: Session, entry: Entry): void {
  const { parcel, payer } = entry;
  if (parcel === undefined) return;
  const size = parcel.message.payload.length;
  entry.parcel = undefined;
  room.letGo(payer, parcel);
  session.queuedBytes -= size;
  counters.queuedBytes -= size;
}

function hasRoom({ journal }: QueueParts, session: Session, size: number): boolean {
  return (
    (session.entries?.size ?? 0) < mqttLimits.queuedMessagesMax &&
    session.queuedBytes + size <= mqttLimits.queuedBytesMax &&
    (!session.isDurable || journal.hasRoomFor(session.payer))
  );
}

/** Whether the client reads slower than messages come. */
export function isCongested({ writer }: Link): boolean {
  return writer.waitingBytes > mqttLimits.socketBufferBytesMax;
}

function mayTransmit(session: Session, link: Link): boolean {
  return session.inFlight < link.inFlightMax && !isCongested(link);
}

function hasWaiting({ waiting, waitingFrom }: Session): boolean {
  return waiting !== undefined && waitingFrom < waiting.length;
}

function trimWaiting(session: Session): void {
  const { waiting, waitingFrom } = session;
  if (waiting === undefined || waitingFrom === 0) return;
  if (waitingFrom >= waiting.length) session.waiting = undefined;
  else if (waitingFrom < 256) return;
  else session.waiting = waiting.slice(waitingFrom);
  session.waitingFrom = 0;
}

function release(link: Link, packetId: number): void {
  const { writer, version } = link;
  writeAcknowledgement(writer, { type: packetType.pubrel, packetId, reasonCode: 0, version });
}

/** An answer that belongs to another step of the flow, or to a message that was not sent yet. */
function requireStage(entry: Entry, isRight: boolean, name: string): void {
  if (!isRight || !entry.isInFlight)
    throw protocolError(`${name} does not belong to its packet id`);
}
