import { isPayer, type Payer } from '../../domain/budgets/payer.ts';
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
import { DamagedRowError, numbersFrom, textsFrom } from './table.ts';

/** Where something is among the bytes that travel with the changes. */
export type Span = readonly [start: number, end: number];

/** A message whose bytes travel beside it. */
export interface PackedMessage extends Omit<Message, 'payload' | 'properties'> {
  readonly payload: Span;
  readonly properties?: Span;
}

/** A change whose messages are packed. */
export type PackedChange =
  | Exclude<SessionChange, { readonly message: Message }>
  | (Omit<Extract<SessionChange, { readonly kind: 'queued' }>, 'message'> & {
      readonly message: PackedMessage;
    })
  | { readonly kind: 'retained'; readonly message: PackedMessage };

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

export interface SessionRow {
  readonly session: number;
  readonly identity: string;
  readonly client_id: string;
  readonly expiry_seconds: number;
  readonly left_at: number | null;
  readonly payer: string | null;
}

export const sessionColumns = 'session, identity, client_id, expiry_seconds, left_at, payer';

export interface SubscriptionRow {
  readonly session: number;
  readonly filter: string;
  readonly qos: number;
  readonly no_local: number;
  readonly retain_as_published: number;
  readonly retain_handling: number;
  readonly identifier: number;
}

export const subscriptionColumns =
  'session, filter, qos, no_local, retain_as_published, retain_handling, identifier';

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
 * Gathers the bytes of all messages in one piece: a message is mostly a small part of what arrived
 * together with it, and all of that would be copied with it.
 */
export function packChanges(changes: readonly SessionChange[]): {
  readonly changes: readonly PackedChange[];
  readonly bytes: Uint8Array<ArrayBuffer>;
} {
  const parts: Uint8Array[] = [];
  let end = 0;
  const pack = (bytes: Uint8Array): Span => {
    parts.push(bytes);
    end += bytes.byteLength;
    return [end - bytes.byteLength, end];
  };
  const packMessage = ({ payload, properties, ...others }: Message): PackedMessage => ({
    ...others,
    payload: pack(payload),
    ...(properties !== undefined && { properties: pack(properties) }),
  });
  const packed = changes.map((change): PackedChange => {
    if (change.kind === 'queued') return { ...change, message: packMessage(change.message) };
    return change.kind === 'retained'
      ? { kind: 'retained', message: packMessage(change.message) }
      : change;
  });
  const bytes = new Uint8Array(end);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return { changes: packed, bytes };
}

/** The two parts of a key: text with U+0000 in it cannot be kept as it is. */
export function keyParts(key: string): readonly [identity: string, clientId: string] {
  const end = key.indexOf('\u0000');
  return [key.slice(0, end), key.slice(end + 1)];
}

/** A key as text without U+0000, and back. */
export const keyToText = (key: string): string => JSON.stringify(keyParts(key));

export function keyFromText(text: string): SessionKey {
  const [identity, clientId] = textsFrom(text);
  if (identity === undefined || clientId === undefined) {
    throw new DamagedRowError('a session is named by its identity and its client id');
  }
  return sessionKey(identity, clientId);
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

export function sessionFromRow(row: SessionRow): SessionRecord {
  return {
    key: sessionKey(row.identity, row.client_id),
    identity: row.identity,
    clientId: row.client_id,
    expirySeconds: row.expiry_seconds,
    ...(row.left_at !== null && { leftAt: row.left_at }),
    ...payerFromRow(row),
  };
}

export function retainedFromRow(row: RetainedRow): Message {
  return { ...messageFromRow(row, true), ...payerFromRow(row) };
}

function payerFromRow({ payer }: { readonly payer: string | null }): { readonly payer?: Payer } {
  return payer !== null && isPayer(payer) ? { payer } : {};
}

export function subscriptionFromRow(row: SubscriptionRow): Subscription {
  requireQos(row.qos);
  if (!isTopicFilter(row.filter)) throw new DamagedRowError('the filter is malformed');
  return {
    filter: row.filter,
    qos: row.qos as Qos,
    noLocal: row.no_local === 1,
    retainAsPublished: row.retain_as_published === 1,
    retainHandling: row.retain_handling as Subscription['retainHandling'],
    identifier: row.identifier,
  };
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
