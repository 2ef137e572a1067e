import type { Budget, Payer } from '../../domain/budgets/budget.ts';
import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type { Share, StoredEntry } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { DropReason } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { packetType, protocolError, reason } from '../packets/packet.ts';
import { type PublishFrame, writeAcknowledgement } from '../packets/packet-encoder.ts';
import type { Counters } from './counters.ts';
import { type Delivery, encodeFor } from './delivery.ts';
import { type Journal, untilDone } from './journal.ts';
import { type Entry, type Link, Parcel, type QueuedTerms, type Session } from './session.ts';

interface QueueOptions {
  readonly journal: Journal;
  readonly counters: Counters;
  readonly bytes: Budget;
  /** Claims of groups with members at other processes. Absent: there are none. */
  readonly claims?: Readonly<Record<'settle' | 'giveBack', (share: Share) => void>> | undefined;
  readonly clock: Clock;
}

export type MessageQueue = ReturnType<typeof createMessageQueue>;

/** QoS 1 and 2 messages on their way to the clients: windows, queues, repetition. */
export function createMessageQueue(options: QueueOptions) {
  const { journal } = options;
  const entries = createQueueEntries(options);
  const { pump, transmit } = createTransmission(options, entries);

  /**
   * Sends a message, or queues it until it is next; drops it where a queue or quota is full.
   * `isUnasked`: the store could not say whether its receiver has the right: it is asked again.
   */
  function add(session: Session, delivery: Delivery, terms: QueuedTerms, isUnasked = false) {
    const entry = entries.insert(session, delivery, terms);
    if (entry === undefined) return;
    const { link } = session;
    const isNext = !isUnasked && !session.isAsking && !hasWaiting(session) && entry.isOnDisk;
    if (link !== undefined && isNext && mayTransmit(session, link))
      return transmit(session, link, entry, delivery.frameFor(link, terms));
    session.waiting ??= [];
    session.waiting.push(entry);
    if (!entry.isOnDisk) onceOnDisk(entry, () => pump(session));
    if (isUnasked) pump(session);
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
  function received(session: Session, packetId: number, reasonCode: number) {
    const { link } = session;
    const entry = session.entries?.get(packetId);
    const isRefused = reasonCode >= reason.unspecified;
    if (entry === undefined) {
      // The id may be forgotten on our side only: the client must be able to come to an end.
      if (!isRefused && link !== undefined) release(link, packetId, reason.packetIdNotFound);
      return;
    }
    requireStage(entry, entry.qos === 2, 'PUBREC');
    if (isRefused) return settleAndPump(session, entry);
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

  const { forget, restore } = entries;
  return { add, resume, pump, acknowledged, received, forget, restore };
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

function createTransmission(
  { counters, clock }: QueueOptions,
  entries: ReturnType<typeof createQueueEntries>,
) {
  /** Sends the packet of an entry, or drops it where the client takes none so large. */
  function transmit(session: Session, link: Link, entry: Entry, frame: PublishFrame) {
    if (frame.size > link.packetBytesMax) return drop(session, entry, 'too_large');
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
  function sendIfAllowed(session: Session, link: Link, entry: Entry) {
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
    if (verdict !== 'unknown') return finish(verdict === 'yes');
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

/** The entries of the queues of all sessions: their counts, their quota, and what is durable. */
function createQueueEntries({ journal, counters, bytes, claims }: QueueOptions) {
  const budget = createQueueBudget(bytes);
  /** Of messages that were loaded: sessions that wait for the same one refer to one parcel. */
  const parcels = new WeakMap<Message, Parcel>();

  function hasRoom(session: Session, size: number): boolean {
    return (
      (session.entries?.size ?? 0) < mqttLimits.queuedMessagesMax &&
      session.queuedBytes + size <= mqttLimits.queuedBytesMax &&
      (!session.isDurable || journal.hasRoomFor(session.payer))
    );
  }

  /** Queues the message, durably if the session is; undefined: a queue or quota is full. */
  function insert(session: Session, delivery: Delivery, terms: QueuedTerms): Entry | undefined {
    const size = bytesOfMessage(delivery.message);
    const parcel = hasRoom(session, size) ? delivery.keep() : undefined;
    if (parcel === undefined || !budget.take(session, parcel)) {
      counters.dropped.queue_full += 1;
      return undefined;
    }
    const { key, payer } = session;
    const packetId = session.nextPacketId();
    const entry: Entry = {
      ...{ packetId, ...terms, parcel, isInFlight: false, payer },
      wasSent: terms.isRepeated === true,
      isOnDisk: terms.qos === 1 || !session.isDurable,
    };
    session.entries ??= new Map();
    session.entries.set(packetId, entry);
    session.queuedBytes += size;
    counters.queuedBytes += size;
    counters.queuedMessages += 1;
    const { handOn: _, ...kept } = terms;
    if (session.isDurable) delivery.record({ key, packetId, ...kept }, payer, journal);
    return entry;
  }

  /** The entry is over, however it went. */
  function settle(session: Session, entry: Entry): void {
    const { packetId, payer } = entry;
    if (session.entries?.delete(packetId) !== true) return;
    if (entry.isInFlight) session.inFlight -= 1;
    free(session, entry);
    budget.settle(payer);
    counters.queuedMessages -= 1;
    if (session.isDurable) journal.add({ kind: 'settled', key: session.key, packetId }, payer);
    else if (entry.share !== undefined) claims?.settle(entry.share);
  }

  /** The receiver has the message: only the packet id is still taken. */
  function free(session: Session, entry: Entry): void {
    const { parcel, payer } = entry;
    if (parcel === undefined) return;
    const size = bytesOfMessage(parcel.message);
    entry.parcel = undefined;
    budget.letGo(payer, parcel);
    session.queuedBytes -= size;
    counters.queuedBytes -= size;
  }

  /** Gives back the quota of a session that ends. */
  function forget(session: Session): void {
    const handedOn: (() => void)[] = [];
    for (const entry of session.entries?.values() ?? []) {
      const { handOn, parcel, qos, share, wasSent } = entry;
      // QoS 2 that was sent is for no other member [MQTT-4.8.2-5].
      if (handOn !== undefined && parcel !== undefined && (qos === 1 || !wasSent)) {
        handedOn.push(() => handOn(parcel.message, wasSent));
      }
      // Another member may have what this one did not acknowledge [MQTT5 4.8.2].
      if (!session.isDurable && qos === 1 && share !== undefined) claims?.giveBack(share);
      free(session, entry);
      budget.settle(entry.payer);
    }
    counters.queuedMessages -= session.entries?.size ?? 0;
    session.entries = undefined;
    session.waiting = undefined;
    session.admissions = undefined;
    session.isEnded = true;
    for (const handOn of handedOn) handOn();
  }

  /** Queues what waited before the start. */
  function restore(session: Session, stored: readonly StoredEntry[]): void {
    if (stored.length === 0) return;
    const { payer } = session;
    session.entries = new Map();
    for (const [index, { message, ...terms }] of stored.entries()) {
      const parcel = message && (parcels.get(message) ?? new Parcel(message));
      if (message !== undefined && parcel !== undefined) parcels.set(message, parcel);
      // Which of them had left is not known; those that may have are marked as repeated.
      const wasSent = index < mqttLimits.inFlightMax;
      const state = { wasSent, isInFlight: false, isOnDisk: true };
      session.entries.set(terms.packetId, { ...terms, ...state, payer, parcel });
      session.queuedBytes += message === undefined ? 0 : bytesOfMessage(message);
      session.continueFrom(terms.packetId);
      budget.restore(session, parcel);
    }
    counters.queuedMessages += session.entries.size;
    counters.queuedBytes += session.queuedBytes;
  }

  return { insert, settle, free, forget, restore };
}

/** An entry of a queue, with the maps that hold it. */
const entryBytes = 256;
/** Part of each quota that sessions without a connection may use; the rest is for the others. */
const partOfAbsent = 0.75;

/** The quota of queued messages, divided among the payers of their sessions. */
function createQueueBudget(bytes: Budget) {
  /** Takes the amount. */
  function mayTake({ payer, link, entries }: Session, amount: number): boolean {
    if (link === undefined) return bytes.take(payer, amount, partOfAbsent) === undefined;
    // A connected client with an empty queue gets its message, however full other queues are.
    const isServed = (entries?.size ?? 0) === 0 && bytes.check(payer, amount)?.scope !== 'own';
    if (!isServed) return bytes.take(payer, amount) === undefined;
    bytes.add(payer, amount);
    return true;
  }

  function hold(payer: Payer, parcel: Parcel): void {
    parcel.bearer ??= payer;
    parcel.holders.set(payer, (parcel.holders.get(payer) ?? 0) + 1);
  }

  return {
    /** Takes quota for an entry of the session; false: none is left. */
    take(session: Session, parcel: Parcel): boolean {
      const amount = entryBytes + (parcel.bearer === undefined ? parcel.bytes : 0);
      if (!mayTake(session, amount)) return false;
      hold(session.payer, parcel);
      return true;
    },
    /** Releases the message of an entry, though the entry may go on. */
    letGo(payer: Payer, parcel: Parcel): void {
      const left = (parcel.holders.get(payer) ?? 0) - 1;
      if (left > 0) {
        parcel.holders.set(payer, left);
        return;
      }
      parcel.holders.delete(payer);
      if (parcel.bearer !== payer) return;
      bytes.release(payer, parcel.bytes);
      const [next] = parcel.holders.keys();
      parcel.bearer = next;
      if (next !== undefined) bytes.add(next, parcel.bytes);
    },
    /** Counts an entry of before the start, however full the quota is. */
    restore({ payer }: Session, parcel: Parcel | undefined): void {
      bytes.add(payer, entryBytes);
      if (parcel === undefined) return;
      if (parcel.bearer === undefined) bytes.add(payer, parcel.bytes);
      hold(payer, parcel);
    },
    /** An entry is over. */
    settle: (payer: Payer): void => bytes.release(payer, entryBytes),
  };
}
