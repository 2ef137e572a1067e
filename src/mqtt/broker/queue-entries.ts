import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type { StoredEntry } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';
import { Parcel } from './parcel.ts';
import type { QueueBudget } from './queue-budget.ts';
import type { Entry, QueuedTerms, Session } from './session.ts';
import type { Shares } from './shares.ts';

/** The parts that the queues of all sessions use. */
export interface QueueContext {
  readonly journal: Journal;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly room: QueueBudget;
  /** Claims of groups with members at other processes. Absent: there are none. */
  readonly shares?: Pick<Shares, 'settle' | 'giveBack'> | undefined;
}

/** Queues the message, durably if the session is; undefined: a queue or quota is full. */
export function insertEntry(
  context: QueueContext,
  session: Session,
  { delivery, terms }: { readonly delivery: Delivery; readonly terms: QueuedTerms },
): Entry | undefined {
  const { journal, counters, room } = context;
  const size = bytesOfMessage(delivery.message);
  if (!hasRoom(context, session, size)) return undefined;
  const parcel = delivery.keep();
  if (!room.take(session, parcel)) return undefined;
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
export function settleEntry(context: QueueContext, session: Session, entry: Entry): void {
  const { room, counters, journal } = context;
  if (session.entries?.delete(entry.packetId) !== true) return;
  if (entry.isInFlight) session.inFlight -= 1;
  freeMessage(context, session, entry);
  room.settle(entry.payer);
  counters.queuedMessages -= 1;
  if (session.isDurable) {
    const { packetId, payer } = entry;
    journal.add({ kind: 'settled', key: session.key, packetId }, payer);
  } else if (entry.share !== undefined) context.shares?.settle(entry.share);
}

/** The receiver has the message: only the packet id is still taken. */
export function freeMessage(
  { counters, room }: QueueContext,
  session: Session,
  entry: Entry,
): void {
  const { parcel, payer } = entry;
  if (parcel === undefined) return;
  const size = bytesOfMessage(parcel.message);
  entry.parcel = undefined;
  room.letGo(payer, parcel);
  session.queuedBytes -= size;
  counters.queuedBytes -= size;
}

/** Gives back the quota of a session that ends. */
export function forgetEntries(context: QueueContext, session: Session): void {
  const { counters, room } = context;
  const handedOn: (() => void)[] = [];
  for (const entry of session.entries?.values() ?? []) {
    const { handOn, parcel, qos, wasSent } = entry;
    // QoS 2 that was sent is for no other member [MQTT-4.8.2-5].
    if (handOn !== undefined && parcel !== undefined && (qos === 1 || !wasSent)) {
      handedOn.push(() => handOn(parcel.message, wasSent));
    }
    // Another member may have what this one did not acknowledge [MQTT5 4.8.2].
    if (!session.isDurable && entry.qos === 1 && entry.share !== undefined) {
      context.shares?.giveBack(entry.share);
    }
    freeMessage(context, session, entry);
    room.settle(entry.payer);
  }
  counters.queuedMessages -= session.entries?.size ?? 0;
  session.entries = undefined;
  session.waiting = undefined;
  session.admissions = undefined;
  session.isEnded = true;
  for (const handOn of handedOn) handOn();
}

/** Queues what waited before the start; sessions that wait for the same message refer to one. */
export function restoreEntries(
  { counters, room }: QueueContext,
  session: Session,
  {
    stored,
    parcels,
  }: {
    readonly stored: readonly StoredEntry[];
    readonly parcels: WeakMap<Message, Parcel>;
  },
): void {
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
    room.restore(session, parcel);
  }
  counters.queuedMessages += session.entries.size;
  counters.queuedBytes += session.queuedBytes;
}

function hasRoom({ journal }: QueueContext, session: Session, size: number): boolean {
  return (
    (session.entries?.size ?? 0) < mqttLimits.queuedMessagesMax &&
    session.queuedBytes + size <= mqttLimits.queuedBytesMax &&
    (!session.isDurable || journal.hasRoomFor(session.payer))
  );
}
