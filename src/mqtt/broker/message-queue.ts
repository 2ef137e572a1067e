import type { Clock } from '../../lib/clock.ts';
import type { DropReason } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { packetType, protocolError, reason } from '../packets/packet.ts';
import { type PublishFrame, writeAcknowledgement } from '../packets/packet-encoder.ts';
import type { Counters } from './counters.ts';
import { type Delivery, encodeFor } from './delivery.ts';
import type { Journal } from './journal.ts';
import type { QueueEntries } from './queue-entries.ts';
import type { Entry, Link, QueuedTerms, Session } from './session.ts';
import { untilDone } from './store-retry.ts';

interface QueueContext {
  readonly entries: QueueEntries;
  readonly journal: Journal;
  readonly counters: Counters;
  readonly clock: Clock;
}

export type MessageQueue = ReturnType<typeof createMessageQueue>;

/** QoS 1 and 2 messages on their way to the clients: windows, queues, repetition. */
export function createMessageQueue(context: QueueContext) {
  const { entries, journal } = context;
  const { pump, transmit } = createTransmission(context);

  function enqueue(session: Session, entry: Entry): void {
    session.waiting ??= [];
    session.waiting.push(entry);
    if (!entry.isOnDisk) onceOnDisk(entry, () => pump(session));
  }

  /** Queues a message whose right the store could not answer: it is asked again. */
  function addUnasked(session: Session, delivery: Delivery, terms: QueuedTerms): void {
    const entry = entries.insert(session, delivery, terms);
    if (entry === undefined) return;
    enqueue(session, entry);
    pump(session);
  }

  /** Sends a message, or queues it until it is next; drops it where a queue or quota is full. */
  function add(session: Session, delivery: Delivery, terms: QueuedTerms): void {
    const entry = entries.insert(session, delivery, terms);
    if (entry === undefined) return;
    const { link } = session;
    const isNext = !session.isAsking && !hasWaiting(session) && entry.isOnDisk;
    if (link === undefined || !isNext || !mayTransmit(session, link)) enqueue(session, entry);
    else transmit(session, link, entry, delivery.frameFor(link, terms));
  }

  function onceOnDisk(entry: Entry, goOn: () => void): void {
    void journal.synced()?.then(() => {
      entry.isOnDisk = true;
      goOn();
    });
  }

  function settleAndPump(session: Session, entry: Entry): void {
    entries.settle(session, entry);
    pump(session);
  }

  /** Sends what is not settled again, in order, over a new connection [MQTT-4.4.0-1]. */
  function resume(session: Session): void {
    session.inFlight = 0;
    session.waitingFrom = 0;
    session.waiting = session.entries === undefined ? undefined : [...session.entries.values()];
    for (const entry of session.waiting ?? []) entry.isInFlight = false;
    pump(session);
  }

  /** The client has the QoS 1 message, or forgot the packet id of the QoS 2 message. */
  function acknowledged(session: Session, packetId: number, name: 'PUBACK' | 'PUBCOMP'): void {
    const entry = session.entries?.get(packetId);
    if (entry === undefined) return;
    const isReleased = entry.qos === 2 && entry.parcel === undefined;
    requireStage(entry, name === 'PUBACK' ? entry.qos === 1 : isReleased, name);
    settleAndPump(session, entry);
  }

  /** PUBREC: the client has the QoS 2 message, or refuses it. */
  function received(session: Session, packetId: number, reasonCode: number): void {
    const { link } = session;
    const entry = session.entries?.get(packetId);
    const isRefused = reasonCode >= reason.unspecified;
    if (entry === undefined) {
      // The id may be forgotten on our side only: the client must be able to come to an end.
      if (!isRefused && link !== undefined) release(link, packetId, reason.packetIdNotFound);
      return;
    }
    requireStage(entry, entry.qos === 2, 'PUBREC');
    if (isRefused) {
      settleAndPump(session, entry);
      return;
    }
    if (entry.parcel !== undefined) {
      entries.free(session, entry);
      if (session.isDurable) {
        journal.add({ kind: 'released', key: session.key, packetId }, entry.payer);
        entry.isOnDisk = false;
        releaseOnceSynced(session, entry);
      }
    }
    if (link !== undefined && entry.isOnDisk) release(link, packetId);
  }

  /** Sends PUBREL once that is on disk: the client then forgets the id, and no repeat may come. */
  function releaseOnceSynced(session: Session, entry: Entry): void {
    const { link } = session;
    onceOnDisk(entry, () => {
      if (link !== undefined && session.link === link) release(link, entry.packetId);
      else pump(session);
    });
  }

  return { add, addUnasked, resume, pump, acknowledged, received };
}

/** Refuses an answer to another step of the flow, or to a message that was not sent yet. */
function requireStage(entry: Entry, isRight: boolean, name: string): void {
  if (!isRight || !entry.isInFlight)
    throw protocolError(`${name} does not belong to its packet id`);
}

/** Whether the client reads slower than messages come. */
export function isCongested({ writer }: Link): boolean {
  return writer.waitingBytes > mqttLimits.socketBufferBytesMax;
}

/** Whether one more QoS 1 or 2 message may be under way to the client. */
function mayTransmit(session: Session, link: Link): boolean {
  return session.inFlight < link.inFlightMax && !isCongested(link);
}

function hasWaiting({ waiting, waitingFrom }: Session): boolean {
  return waiting !== undefined && waitingFrom < waiting.length;
}

/** PUBREL: the client may forget the packet id. */
function release({ writer, version }: Link, packetId: number, reasonCode = 0): void {
  writeAcknowledgement(writer, { type: packetType.pubrel, packetId, reasonCode, version });
}

function createTransmission({ entries, counters, clock }: QueueContext) {
  /** Sends the packet of an entry, or drops it where the client takes none so large. */
  function transmit(session: Session, link: Link, entry: Entry, frame: PublishFrame): void {
    if (frame.size > link.packetBytesMax) {
      drop(session, entry, 'too_large');
      return;
    }
    const at = link.writer.reserve(frame.head.length);
    const page = link.writer.page();
    frame.head.copy(page, at);
    if (entry.wasSent) page[at] = (page[at] ?? 0) | 8;
    page.writeUInt16BE(entry.packetId, at + frame.idOffset);
    if (frame.payload !== undefined) link.writer.write(frame.payload);
    entry.wasSent = true;
    markInFlight(session, entry);
    counters.messagesSent += 1;
  }

  /** Sends what waits, as far as the window and the buffer allow. */
  function pump(session: Session): void {
    const { link } = session;
    if (link === undefined || session.waiting === undefined) return;
    while (!session.isAsking && hasWaiting(session) && mayTransmit(session, link)) {
      const entry = session.waiting[session.waitingFrom];
      if (entry === undefined || !entry.isOnDisk) break;
      session.waitingFrom += 1;
      sendIfAllowed(session, link, entry);
    }
    trimWaiting(session);
  }

  /** Rights may have gone since it was queued [contract 8]. */
  function sendIfAllowed(session: Session, link: Link, entry: Entry): void {
    const { parcel, packetId } = entry;
    if (parcel === undefined) {
      markInFlight(session, entry);
      release(link, packetId);
      return;
    }
    const { message } = parcel;
    const finish = (isAllowed: boolean): void => {
      const now = clock.now();
      const isExpired = message.expiresAt !== undefined && message.expiresAt <= now;
      if (!isAllowed) drop(session, entry, 'not_allowed');
      else if (isExpired) drop(session, entry, 'expired');
      else transmit(session, link, entry, encodeFor(link, message, entry, now));
    };
    const verdict = link.client.tryReceive(message.topic);
    if (verdict !== 'unknown') {
      finish(verdict === 'yes');
      return;
    }
    session.isAsking = true;
    // The store may not answer: asks again, as long as the connection lasts.
    const asked = untilDone(
      async () => session.link === link && link.client.mayReceive(message.topic),
      () => session.link !== link,
    );
    void asked.then((isAllowed = false) => {
      session.isAsking = false;
      // Over a new connection everything was queued again.
      if (session.link === link) finish(isAllowed);
      pump(session);
    });
  }

  function drop(session: Session, entry: Entry, why: DropReason): void {
    counters.dropped[why] += 1;
    entries.settle(session, entry);
  }

  return { pump, transmit };
}

function markInFlight(session: Session, entry: Entry): void {
  entry.isInFlight = true;
  session.inFlight += 1;
}

function trimWaiting(session: Session): void {
  const { waiting, waitingFrom } = session;
  if (waiting === undefined || waitingFrom === 0) return;
  if (waitingFrom >= waiting.length) session.waiting = undefined;
  else if (waitingFrom < 256) return;
  else session.waiting = waiting.slice(waitingFrom);
  session.waitingFrom = 0;
}
