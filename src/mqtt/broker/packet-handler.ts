import { limits } from '../../domain/limits.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import type { DisconnectPacket, SubscribePacket, UnsubscribePacket } from '../packets/packet.ts';
import { packetType } from '../packets/packet.ts';
import {
  decodeAcknowledgement,
  decodeDisconnect,
  decodePublish,
  decodeRelease,
  decodeSubscribe,
  decodeUnsubscribe,
  requireEmpty,
} from '../packets/packet-decoder.ts';
import { writeListAcknowledgement, writePingResponse } from '../packets/packet-encoder.ts';
import { malformed, protocolError, reason } from '../packets/reason-codes.ts';
import type { Inbound, Publisher } from './inbound.ts';
import type { Parts } from './parts.ts';

/** A connection that has been let in. */
export interface OpenConnection extends Publisher {
  readonly parts: Parts;
  readonly inbound: Inbound;
  /** The client says goodbye. */
  leave(packet: DisconnectPacket): void;
}

/** Acts on one packet; throws ProtocolError. */
export function handlePacket(connection: OpenConnection, header: number, body: Buffer): void {
  const { version } = connection;
  switch (header >> 4) {
    case packetType.publish:
      handlePublish(connection, header, body);
      break;
    case packetType.puback:
    case packetType.pubrec:
    case packetType.pubcomp:
      handleAnswer(connection, header, body);
      break;
    case packetType.pubrel:
      connection.inbound.release(decodeRelease(header, body, version).packetId);
      break;
    case packetType.subscribe:
      subscribe(connection, decodeSubscribe(header, body, version));
      break;
    case packetType.unsubscribe:
      unsubscribe(connection, decodeUnsubscribe(header, body, version));
      break;
    case packetType.pingreq:
      requireEmpty(header, body);
      writePingResponse(connection.outbox);
      break;
    case packetType.disconnect:
      connection.leave(decodeDisconnect(header, body, version));
      break;
    default:
      refuse(header >> 4, version);
  }
}

/** What the client answers to a message of ours. */
function handleAnswer(connection: OpenConnection, header: number, body: Buffer): void {
  const { version, session, parts } = connection;
  const type = header >> 4;
  if (type === packetType.pubcomp) {
    parts.queue.completed(session, decodeRelease(header, body, version).packetId);
  } else {
    const { packetId, reasonCode } = decodeAcknowledgement(header, body, version);
    if (type === packetType.puback) parts.queue.acknowledged(session, packetId);
    else parts.queue.received(session, packetId, reasonCode);
  }
  if (session.backlog !== undefined) parts.retainedDelivery.goOn(session);
}

/** What a client never sends, or not twice [MQTT-3.1.0-2]. */
function refuse(type: number, version: number): never {
  if (type === 0 || (type === packetType.auth && version !== 5)) {
    throw malformed('there is no packet of this type');
  }
  throw protocolError('the packet is not one of an open connection');
}

function handlePublish(connection: OpenConnection, header: number, body: Buffer): void {
  const packet = decodePublish(header, body, connection.version);
  const { isLarge } = connection.parts.frameLimits;
  const isOrdinary = body.length <= limits.mqttPacketBytesMax;
  connection.inbound.publish(packet, (topic) => isOrdinary || isLarge(topic));
}

function subscribe(connection: OpenConnection, packet: SubscribePacket): void {
  const { parts, session } = connection;
  const isNew: Subscription[] = [];
  const codes = packet.subscriptions.map((subscription) => {
    const refusal = refusalOf(connection, subscription.filter);
    if (refusal !== undefined) return refusal;
    const outcome = parts.registry.subscribe(session, subscription);
    if (outcome === 'full') return reason.quotaExceeded;
    const { retainHandling } = subscription;
    const wantsRetained = retainHandling === 0 || (retainHandling === 1 && outcome === 'new');
    if (wantsRetained) isNew.push(subscription);
    return subscription.qos;
  });
  const { packetId } = packet;
  whenDurable(connection, () => {
    answerList(connection, { type: packetType.suback, packetId, codes });
    for (const subscription of isNew) parts.retainedDelivery.start(session, subscription);
  });
}

function refusalOf({ client }: OpenConnection, filter: string): number | undefined {
  const isTooLong =
    Buffer.byteLength(filter) > limits.mqttTopicBytesMax ||
    countLevels(filter) > limits.mqttTopicLevelsMax + 2;
  if (isTooLong) return reason.filterInvalid;
  return client.maySubscribe(filter) ? undefined : reason.notAuthorized;
}

function unsubscribe(connection: OpenConnection, { packetId, filters }: UnsubscribePacket): void {
  const { parts, session } = connection;
  const codes = filters.map((filter) =>
    parts.registry.unsubscribe(session, filter) ? reason.success : reason.noSubscriptionExisted,
  );
  whenDurable(connection, () =>
    answerList(connection, { type: packetType.unsuback, packetId, codes }),
  );
}

function answerList(
  { outbox, version }: OpenConnection,
  packet: { readonly type: number; readonly packetId: number; readonly codes: readonly number[] },
): void {
  writeListAcknowledgement(outbox, { ...packet, version });
}

/** Answers now, or once the change of a session that is kept is on disk. */
function whenDurable(connection: OpenConnection, answer: () => void): void {
  const { parts, session } = connection;
  const synced = session.isDurable ? parts.journal.synced() : undefined;
  if (synced === undefined) {
    answer();
    return;
  }
  void synced.then(() => {
    if (connection.isOpen) answer();
  });
}
