import type { DatabaseSync } from 'node:sqlite';
import type { SessionKey } from '../../domain/messaging/message.ts';
import type { SessionRecord, Subscription } from '../../domain/messaging/session-store.ts';
import {
  keyParts,
  keyToText,
  messageColumns,
  type PackedChange,
  type PackedMessage,
  queueColumns,
  retainedColumns,
  subscriptionColumns,
} from '../sql/session-row.ts';
import { createSelection } from './connection.ts';

const insertSession = `
  insert into mqtt_sessions (identity, client_id, expiry_seconds, left_at, payer)
  values (?, ?, ?, ?, ?)`;
const selectSession = 'select session from mqtt_sessions where identity = ? and client_id = ?';
const deleteSession = 'delete from mqtt_sessions where identity = ? and client_id = ?';
const updateSession = `
  update mqtt_sessions set expiry_seconds = ?, left_at = ?, payer = coalesce(?, payer)
  where session = ?`;
const upsertSubscription = `
  insert into mqtt_subscriptions (${subscriptionColumns}) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (session, filter) do update set
    qos = excluded.qos, no_local = excluded.no_local,
    retain_as_published = excluded.retain_as_published,
    retain_handling = excluded.retain_handling, identifier = excluded.identifier`;
const deleteSubscription = 'delete from mqtt_subscriptions where session = ? and filter = ?';
const insertMessage = `
  insert into mqtt_messages (${messageColumns}, retain) values (?, ?, ?, ?, ?, ?, ?)`;
const insertEntry = `
  insert into mqtt_queue (${queueColumns}) values (?, ?, ?, ?, ?, ?)
  on conflict (session, packet_id) do nothing`;
const releaseEntry = 'update mqtt_queue set message = null where session = ? and packet_id = ?';
const deleteEntry = 'delete from mqtt_queue where session = ? and packet_id = ?';
const insertReceived = `
  insert into mqtt_received (session, packet_id) values (?, ?)
  on conflict (session, packet_id) do update set handed_on = 1`;
const deleteReceived = 'delete from mqtt_received where session = ? and packet_id = ?';
const upsertRetained = `
  insert into mqtt_retained (${retainedColumns}) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (topic) do update set
    payload = excluded.payload, qos = excluded.qos, properties = excluded.properties,
    expires_at = excluded.expires_at, publisher = excluded.publisher, payer = excluded.payer`;
const deleteRetained = 'delete from mqtt_retained where topic = ?';

type Change<Kind extends PackedChange['kind']> = Extract<PackedChange, { readonly kind: Kind }>;
type ChangeOfSession = Extract<PackedChange, { readonly key: SessionKey }>;

/** The changes that the writer thread makes to MQTT sessions and retained messages. */
export function createSessionWrites(database: DatabaseSync) {
  const sessionOf = createSelection<{ session: number }>(database, selectSession);
  const applyToSession = createStepsOfSession(database);
  const addSession = database.prepare(insertSession);
  const dropSession = database.prepare(deleteSession);
  const keepMessages = createMessageSteps(database);

  function find(key: SessionKey): number | undefined {
    return sessionOf.first(...keyParts(key))?.session;
  }

  function open({ identity, clientId, expirySeconds, leftAt, payer }: SessionRecord): void {
    dropSession.run(identity, clientId);
    addSession.run(identity, clientId, expirySeconds, leftAt ?? null, payer ?? null);
  }

  function apply(change: PackedChange, bytes: Uint8Array): void {
    switch (change.kind) {
      case 'opened':
        open(change.session);
        break;
      case 'ended':
        dropSession.run(...keyParts(change.key));
        break;
      case 'queued':
        keepMessages.queue(change, bytes, find);
        break;
      case 'retained':
        keepMessages.retain(change.message, bytes);
        break;
      case 'unretained':
        keepMessages.unretain(change.topic);
        break;
      default: {
        const session = find(change.key);
        if (session !== undefined) applyToSession(session, change);
      }
    }
  }

  return {
    applySessionChanges(changes: readonly PackedChange[], bytes: Uint8Array): void {
      for (const change of changes) apply(change, bytes);
    },
  };
}

function createStepsOfSession(database: DatabaseSync) {
  const move = database.prepare(updateSession);
  const subscribe = database.prepare(upsertSubscription);
  const unsubscribe = database.prepare(deleteSubscription);
  const release = database.prepare(releaseEntry);
  const settle = database.prepare(deleteEntry);
  const receive = database.prepare(insertReceived);
  const complete = database.prepare(deleteReceived);

  return (session: number, change: Exclude<ChangeOfSession, Change<'ended'>>): void => {
    switch (change.kind) {
      case 'moved':
        move.run(change.expirySeconds, change.leftAt ?? null, change.payer ?? null, session);
        break;
      case 'subscribed':
        subscribe.run(...subscriptionValues(session, change.subscription));
        break;
      case 'unsubscribed':
        unsubscribe.run(session, change.filter);
        break;
      case 'released':
        release.run(session, change.packetId);
        break;
      case 'settled':
        settle.run(session, change.packetId);
        break;
      case 'received':
        receive.run(session, change.packetId);
        break;
      case 'completed':
        complete.run(session, change.packetId);
        break;
    }
  };
}

function subscriptionValues(session: number, subscription: Subscription) {
  const { filter, qos, noLocal, retainAsPublished, retainHandling, identifier } = subscription;
  const flags = [Number(noLocal), Number(retainAsPublished)] as const;
  return [session, filter, qos, ...flags, retainHandling, identifier] as const;
}

function createMessageSteps(database: DatabaseSync) {
  const addMessage = database.prepare(insertMessage);
  const addEntry = database.prepare(insertEntry);
  const upsert = database.prepare(upsertRetained);
  const remove = database.prepare(deleteRetained);

  return {
    queue(
      { message, entries }: Change<'queued'>,
      bytes: Uint8Array,
      find: (key: SessionKey) => number | undefined,
    ): void {
      let id: number | bigint | undefined;
      for (const { key, packetId, qos, retain, identifiers } of entries) {
        const session = find(key);
        if (session === undefined) continue;
        id ??= addMessage.run(
          ...messageValues(message, bytes),
          Number(message.retain),
        ).lastInsertRowid;
        addEntry.run(session, packetId, id, qos, Number(retain), JSON.stringify(identifiers));
      }
    },
    retain(message: PackedMessage, bytes: Uint8Array): void {
      upsert.run(...messageValues(message, bytes), message.payer ?? null);
    },
    unretain(topic: string): void {
      remove.run(topic);
    },
  };
}

function messageValues(message: PackedMessage, bytes: Uint8Array) {
  const { topic, payload, qos, properties, expiresAt, publisher } = message;
  return [
    topic,
    bytes.subarray(...payload),
    qos,
    properties === undefined ? null : bytes.subarray(...properties),
    expiresAt ?? null,
    publisher === undefined ? null : keyToText(publisher),
  ] as const;
}
