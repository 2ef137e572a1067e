import { randomUUID } from 'node:crypto';
import type { Payer } from '../../domain/budgets/payer.ts';
import type { Message, SessionKey } from '../../domain/messaging/message.ts';
import type { Client, ConnectRefusal, ConnectRequest } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import type { ConnectPacket, ProtocolVersion } from '../packets/packet.ts';
import { type ConnackProperties, encodeConnack } from '../packets/packet-encoder.ts';
import { ProtocolError, reason } from '../packets/reason-codes.ts';

/** Reason codes of CONNACK for the refusals of the hooks. */
export const refusalCodes: Readonly<Record<ConnectRefusal, number>> = {
  bad_credentials: reason.badCredentials,
  not_authorized: reason.notAuthorized,
  client_id_invalid: reason.clientIdInvalid,
  unavailable: reason.unavailable,
  rate_limited: reason.connectionRateExceeded,
  banned: reason.banned,
};

/** The question to the hooks; throws ProtocolError for a client id that cannot be. */
export function requestOf(packet: ConnectPacket, address: string): ConnectRequest {
  const { username, password, version: protocolVersion } = packet;
  return {
    clientId: clientIdOf(packet),
    address,
    protocolVersion,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
}

function clientIdOf({ clientId, version, cleanStart }: ConnectPacket): string {
  if (clientId.length > mqttLimits.clientIdCharactersMax) {
    throw new ProtocolError(reason.clientIdInvalid, 'the client id is too long');
  }
  if (clientId !== '') return clientId;
  // [MQTT-3.1.3-7]: without a name there is nothing to come back to; 3.1 always wants one.
  if (version === 3 || (version === 4 && !cleanStart)) {
    throw new ProtocolError(reason.clientIdInvalid, 'the client id is empty');
  }
  return `auto-${randomUUID()}`;
}

/** The terms that the broker grants of those that CONNECT asks for. */
export interface ConnectTerms {
  readonly expirySeconds: number;
  /** Longer silence ends the connection. */
  readonly silenceMs: number;
  readonly connack: ConnackProperties;
}

export function termsFor(packet: ConnectPacket, client: Client, clientId: string): ConnectTerms {
  const { version, keepAliveSeconds, sessionExpirySeconds } = packet;
  const expirySeconds = Math.min(sessionExpirySeconds, longestExpiry(client));
  const keepAliveMax =
    version === 5 ? mqttLimits.keepAliveSecondsMax : mqttLimits.untoldKeepAliveSecondsMax;
  const isLower = keepAliveSeconds === 0 || keepAliveSeconds > keepAliveMax;
  const granted = isLower ? keepAliveMax : keepAliveSeconds;
  return {
    expirySeconds,
    // Once and a half the time [MQTT-3.1.2-22], and the second between two sweeps.
    silenceMs: granted * 1_500 + 1_000,
    connack: {
      receiveMaximum: mqttLimits.publishesUnderWayMax,
      maximumPacketSize: mqttLimits.valuesPacketBytesMax,
      topicAliasMaximum: mqttLimits.topicAliasesMax,
      ...(expirySeconds !== sessionExpirySeconds && { sessionExpirySeconds: expirySeconds }),
      ...(packet.clientId === '' && { assignedClientId: clientId }),
      ...(isLower && { serverKeepAliveSeconds: granted }),
    },
  };
}

/** How long the sessions of the client may outlive their connections. */
export const longestExpiry = ({ sessionSecondsMax = Number.POSITIVE_INFINITY }: Client): number =>
  Math.min(sessionSecondsMax, mqttLimits.sessionExpirySecondsMax);

/** CONNACK for a client that is let in. */
export function encodeAcceptance(
  version: ProtocolVersion,
  properties: ConnackProperties,
  sessionPresent: boolean,
): Buffer {
  return encodeConnack({ version, reasonCode: reason.success, sessionPresent, properties });
}

/** Throws ProtocolError for a client that could not even receive CONNACK [MQTT-3.1.2-24]. */
export function requireFitting(packet: ConnectPacket, { connack }: ConnectTerms): void {
  if (encodeAcceptance(packet.version, connack, false).length <= packet.maximumPacketSize) return;
  throw new ProtocolError(reason.packetTooLarge, 'not even CONNACK fits', { isSilent: true });
}

/** A last will, ready to be published by its client. */
export interface Will {
  readonly message: Message;
  readonly delayMs: number;
  readonly expirySeconds: number | undefined;
  /** The term in which its client connected, of all processes; 0: no other one knows of it. */
  readonly turn: number;
}

export function willOf(
  { will }: ConnectPacket,
  publisher: SessionKey,
  payer: Payer,
  turn = 0,
): Will | undefined {
  if (will === undefined) return undefined;
  const { topic, qos, retain, properties, expirySeconds } = will;
  const delaySeconds = Math.min(will.delaySeconds, mqttLimits.willDelaySecondsMax);
  return {
    message: {
      topic,
      payload: Buffer.from(will.payload),
      qos,
      retain,
      publisher,
      payer,
      ...(properties !== undefined && { properties: Buffer.from(properties) }),
    },
    delayMs: delaySeconds * 1_000,
    expirySeconds,
    turn,
  };
}
