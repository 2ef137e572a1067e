import type { Budget } from '../../domain/budgets/budget.ts';
import type { Payer } from '../../domain/budgets/payer.ts';
import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type { StoredEntry } from '../../domain/messaging/session-store.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';
import { type Entry, Parcel, type QueuedTerms, type Session } from './session.ts';
import type { Shares } from './shares.ts';

export type QueueEntries = ReturnType<typeof createQueueEntries>;

/** The entries of the queues of all sessions: their counts, their quota, and what is durable. */
export function createQueueEntries(options: {
  readonly journal: Journal;
  readonly counters: Counters;
  readonly bytes: Budget;
  /** Claims of groups with members at other processes. Absent: there are none. */
  readonly claims?: Pick<Shares, 'settle' | 'giveBack'> | undefined;
}) {
  const { journal, counters, claims } = options;
  const budget = createQueueBudget(options.bytes);
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
