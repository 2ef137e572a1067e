import { isPayer, type Payer } from '../../domain/budgets/budget.ts';
import {
  type Message,
  type Qos,
  type SessionKey,
  sessionKey,
} from '../../domain/messaging/message.ts';
import type {
  SessionChange,
  SessionRecord,
  StoredEntry,
  Subscription,
} from '../../domain/messaging/session-store.ts';
import { isTopicFilter } from '../../lib/topic-filter.ts';
import type { Value } from './session.ts';
import { createTable, DamagedRowError, numbersFrom, type Row, textsFrom } from './table.ts';

/** The columns that the tables of queued and of retained messages have. */
export interface MessageRow {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
  readonly properties: Uint8Array | null;
  readonly expires_at: number | null;
  readonly publisher: string | null;
}

export const messageColumns = 'topic, payload, qos, properties, expires_at, publisher';

export interface RetainedRow extends MessageRow {
  readonly payer: string | null;
}

export const retainedColumns = `${messageColumns}, payer`;

/** The table of sessions, without what each engine finds them by. */
export const sessionTable = createTable<Omit<SessionRecord, 'key'>>('mqtt_sessions', {
  plain: ['identity', 'clientId', 'expirySeconds', 'leftAt', 'payer'],
  hasDetails: false,
});

/** The table of subscriptions, beside the sessions that they are of. */
export const subscriptionTable = createTable<Subscription>('mqtt_subscriptions', {
  plain: ['filter', 'qos', 'retainHandling', 'identifier'],
  flags: ['noLocal', 'retainAsPublished'],
  hasDetails: false,
});

/** An entry of a queue; without a message it was released. */
export interface QueueRow {
  readonly session: number;
  readonly packet_id: number;
  readonly message: number | null;
  readonly qos: number;
  readonly retain: number;
  readonly identifiers: string;
}

export const queueColumns = 'session, packet_id, message, qos, retain, identifiers';

/**
 * Gathers the bytes of all messages in one buffer, to be handed over with them: a message is mostly
 * a small part of what arrived together with it, and all of that would be copied with it.
 */
export function packChanges(changes: readonly SessionChange[]): {
  readonly changes: readonly SessionChange[];
  readonly buffer: ArrayBuffer;
} {
  let size = 0;
  for (const change of changes) {
    if (!('message' in change)) continue;
    size += change.message.payload.length + (change.message.properties?.length ?? 0);
  }
  const bytes = new Uint8Array(size);
  let end = 0;
  const pack = (part: Uint8Array): Uint8Array => {
    bytes.set(part, end);
    end += part.length;
    return bytes.subarray(end - part.length, end);
  };
  const packed = changes.map((change): SessionChange => {
    if (!('message' in change)) return change;
    const { payload, properties, ...others } = change.message;
    const message: Message = {
      ...others,
      payload: pack(payload),
      ...(properties !== undefined && { properties: pack(properties) }),
    };
    return { ...change, message };
  });
  return { changes: packed, buffer: bytes.buffer };
}

/** The two parts of a key: text with U+0000 in it cannot be kept as it is. */
export function keyParts(key: string): readonly [identity: string, clientId: string] {
  const end = key.indexOf('\u0000');
  return [key.slice(0, end), key.slice(end + 1)];
}

/** A key as text without U+0000, and back. */
export const keyToText = (key: string): string => JSON.stringify(keyParts(key));

function keyFromText(text: string): SessionKey {
  const [identity, clientId] = textsFrom(text);
  if (identity === undefined || clientId === undefined) {
    throw new DamagedRowError('a session is named by its identity and its client id');
  }
  return sessionKey(identity, clientId);
}

/** Values of the columns that all tables of messages have, in the order of `messageColumns`. */
export function messageValues(message: Message): readonly Value[] {
  const { topic, payload, qos, properties, expiresAt, publisher } = message;
  return [
    topic,
    payload,
    qos,
    properties ?? null,
    expiresAt ?? null,
    publisher === undefined ? null : keyToText(publisher),
  ];
}

export function messageFromRow(row: MessageRow, retain: boolean): Message {
  requireQos(row.qos);
  return {
    topic: row.topic,
    payload: row.payload,
    qos: row.qos as Qos,
    retain,
    ...(row.properties !== null && { properties: row.properties }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.publisher !== null && { publisher: keyFromText(row.publisher) }),
  };
}

export function sessionFromRow(row: Row): SessionRecord {
  const { payer = null, ...session } = sessionTable.fromRow(row);
  return {
    key: sessionKey(session.identity, session.clientId),
    ...session,
    ...payerFromRow({ payer }),
  };
}

export function retainedFromRow(row: RetainedRow): Message {
  return { ...messageFromRow(row, true), ...payerFromRow(row) };
}

function payerFromRow({ payer }: { readonly payer: string | null }): { readonly payer?: Payer } {
  return payer !== null && isPayer(payer) ? { payer } : {};
}

export function subscriptionFromRow(row: Row): Subscription {
  const subscription = subscriptionTable.fromRow(row);
  requireQos(subscription.qos);
  if (!isTopicFilter(subscription.filter)) throw new DamagedRowError('the filter is malformed');
  return subscription;
}

function requireQos(qos: number): void {
  if (qos !== 0 && qos !== 1 && qos !== 2) throw new DamagedRowError(`${qos} is no QoS`);
}

export function entryFromRow(row: QueueRow, message: Message | undefined): StoredEntry {
  return {
    packetId: row.packet_id,
    qos: row.qos as 1 | 2,
    retain: row.retain === 1,
    identifiers: numbersFrom(row.identifiers),
    ...(message !== undefined && { message }),
  };
}
