import type { Subscription } from '../../domain/messaging/session-store.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import {
  type DisconnectPacket,
  malformed,
  packetType,
  protocolError,
  reason,
  type SubscribePacket,
  type UnsubscribePacket,
} from '../packets/packet.ts';
import {
  decodeAcknowledgement,
  decodeDisconnect,
  decodePublish,
  decodeRelease,
  decodeSubscribe,
  decodeUnsubscribe,
} from '../packets/packet-decoder.ts';
import { writeListAcknowledgement, writePingResponse } from '../packets/packet-encoder.ts';
import type { BrokerContext } from './broker-context.ts';
import type { Inbound, Publisher } from './inbound.ts';

/** A connection that has been let in. */
export interface OpenConnection extends Publisher {
  readonly context: BrokerContext;
  readonly inbound: Inbound;
  readonly isBridge: boolean;
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
      writePingResponse(connection.writer);
      break;
    case packetType.disconnect:
      connection.leave(decodeDisconnect(header, body, version));
      break;
    default:
      refuse(header >> 4, version);
  }
}

/** Handles the client's acknowledgement of a message of ours. */
function handleAnswer(connection: OpenConnection, header: number, body: Buffer): void {
  const { version, session, context } = connection;
  const type = header >> 4;
  if (type === packetType.pubcomp) {
    context.queue.acknowledged(session, decodeRelease(header, body, version).packetId, 'PUBCOMP');
  } else {
    const { packetId, reasonCode } = decodeAcknowledgement(header, body, version);
    if (type === packetType.puback) context.queue.acknowledged(session, packetId, 'PUBACK');
    else context.queue.received(session, packetId, reasonCode);
  }
  if (session.backlog !== undefined) context.retainedDelivery.goOn(session);
}

/** Refuses a packet that a client never sends, or not twice [MQTT-3.1.0-2]. */
function refuse(type: number, version: number): never {
  if (type === 0 || (type === packetType.auth && version !== 5)) {
    throw malformed('there is no packet of this type');
  }
  throw protocolError('the packet is not one of an open connection');
}

function handlePublish(connection: OpenConnection, header: number, body: Buffer): void {
  const packet = decodePublish(header, body, connection.version);
  const { bytesMaxOf } = connection.context.frameLimits;
  const isOrdinary = body.length <= mqttLimits.packetBytesMax;
  connection.inbound.publish(packet, (topic) => isOrdinary || body.length <= bytesMaxOf(topic));
}

function subscribe(connection: OpenConnection, packet: SubscribePacket): void {
  const { packetId, surplus } = packet;
  const subscriptions = connection.isBridge
    ? packet.subscriptions.map(forBridge)
    : packet.subscriptions;
  const wanted: Subscription[] = [];
  const refusals = new Map<string, number>();
  // Of those with the same filter the last one counts [MQTT-3.8.4-3]: the others cost nothing.
  const lastOfEach = new Map(subscriptions.map((one) => [one.filter, one]));
  for (const subscription of lastOfEach.values()) {
    const refusal = take(connection, subscription, wanted);
    if (refusal !== undefined) refusals.set(subscription.filter, refusal);
  }
  const codes: number[] = subscriptions.map(({ filter, qos }) => refusals.get(filter) ?? qos);
  for (let left = surplus; left > 0; left -= 1) codes.push(reason.quotaExceeded);
  if (subscriptions.some(({ filter }) => filter.startsWith('$share/'))) {
    connection.context.claims?.tellHere();
  }
  const { writer, version } = connection;
  whenDurable(connection, () => {
    writeListAcknowledgement(writer, { type: packetType.suback, packetId, codes, version });
    for (const one of wanted) connection.context.retainedDelivery.start(connection.session, one);
  });
}

/** A bridge has the messages that it publishes, and is to retain those retained here. */
const forBridge = (subscription: Subscription): Subscription => ({
  ...subscription,
  noLocal: !subscription.filter.startsWith('$share/'),
  retainAsPublished: true,
});

/** Subscribes, or answers why not; adds to `wanted` what is to bring retained messages. */
function take(
  connection: OpenConnection,
  subscription: Subscription,
  wanted: Subscription[],
): number | undefined {
  const refusal = refusalOf(connection, subscription.filter);
  if (refusal !== undefined) return refusal;
  const outcome = connection.context.registry.subscribe(connection.session, subscription);
  if (outcome === 'full') return reason.quotaExceeded;
  const { retainHandling } = subscription;
  if (retainHandling === 0 || (retainHandling === 1 && outcome === 'new')) {
    wanted.push(subscription);
  }
  return undefined;
}

function refusalOf({ client }: OpenConnection, filter: string): number | undefined {
  const isTooLong =
    Buffer.byteLength(filter) > mqttLimits.topicBytesMax ||
    countLevels(filter) > mqttLimits.topicLevelsMax + 2;
  if (isTooLong) return reason.filterInvalid;
  return client.maySubscribe(filter) ? undefined : reason.notAuthorized;
}

function unsubscribe(connection: OpenConnection, packet: UnsubscribePacket): void {
  const { context, session } = connection;
  const { packetId, filters, surplus } = packet;
  const codes: number[] = filters.map((filter) => {
    if (!context.registry.unsubscribe(session, filter)) return reason.noSubscriptionExisted;
    context.retainedDelivery.stop(session, filter);
    return reason.success;
  });
  // UNSUBACK has no word for too many [MQTT5 3.11.3].
  for (let left = surplus; left > 0; left -= 1) codes.push(reason.notAccepted);
  const { writer, version } = connection;
  whenDurable(connection, () =>
    writeListAcknowledgement(writer, { type: packetType.unsuback, packetId, codes, version }),
  );
}

/** Answers now, or once the change of a session that is kept is on disk. */
function whenDurable(connection: OpenConnection, answer: () => void): void {
  const { context, session } = connection;
  const synced = session.isDurable ? context.journal.synced() : undefined;
  if (synced === undefined) {
    answer();
    return;
  }
  void synced.then(() => {
    if (connection.isOpen) answer();
  });
}
