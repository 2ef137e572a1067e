import { randomUUID } from 'node:crypto';
import { type Payer, payerAt } from '../../domain/budgets/budget.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { Client, ConnectRefusal, ConnectRequest, Transport } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import {
  type ConnectPacket,
  ProtocolError,
  type ProtocolVersion,
  reason,
} from '../packets/packet.ts';
import { type ConnackProperties, encodeConnack } from '../packets/packet-encoder.ts';
import type { BrokerContext } from './broker-context.ts';
import type { OpenedSession, OpenRequest } from './session-registry.ts';
import type { Will } from './wills.ts';

/** A client that may come in: the session it asks for, the terms it is granted, its last will. */
export interface Entering extends ConnectTerms, OpenRequest {
  readonly client: Client;
  readonly will: Will | undefined;
}

/** The parts of a connection that exist only once the client has been let in. */
export type Established = Entering & Pick<OpenedSession, 'session' | 'isPresent'>;

/**
 * Asks whether a client may come in, and calls `admit` once, which answers whether it is there yet:
 * when its last will is durable, and where other processes have sessions as well, when this process
 * has claimed that of the client; with the term of the will or of the claim. Throws ProtocolError.
 */
export function letIn(
  { authority, ownership, registry, wills, partialBytes, log }: BrokerContext,
  packet: ConnectPacket,
  request: ConnectRequest,
  transport: Transport,
  admit: (answer: Entering | ConnectRefusal, turn?: number) => boolean,
): void {
  const payer = payerAt(request.address);
  const bytes = bytesOf(packet);
  if (bytes > 0 && partialBytes.take(payer, bytes) !== undefined) {
    const text = 'too many bytes of logins wait: try again in a while, or send less with CONNECT';
    throw new ProtocolError(reason.connectionRateExceeded, text);
  }
  const release = transport.holdForLogin?.();
  const over = (): void => {
    if (bytes > 0) partialBytes.release(payer, bytes);
    release?.();
  };
  const refuse = (why: ConnectRefusal): void => {
    over();
    admit(why);
  };
  const asked = authority.connect(request).catch((error: unknown) => {
    log.error({ error }, 'a login to MQTT failed');
    return { kind: 'refused', reason: 'unavailable' } as const;
  });
  void asked.then((answer) => {
    if (answer.kind === 'refused') return refuse(answer.reason);
    const entering = enteringOf(registry, packet, answer.client, request.clientId);
    const enter = (turn?: number): boolean => {
      over();
      transport.countFor?.(entering.payer);
      return admit(entering, turn);
    };
    const { will, payer, identity, clientId } = entering;
    if (ownership === undefined) {
      return void wills.put(sessionKey(identity, clientId), will, payer, enter);
    }
    ownership.take(entering, enter).catch((error: unknown) => {
      log.warn({ err: error }, 'the session of a client could not be claimed');
      refuse('unavailable');
    });
  });
}

/** A CONNECT that has no more bytes counts nothing: a login comes through however many wait. */
const connectBytesFree = 4_096;

/** Bytes that count while its client waits to be let in. */
function bytesOf({ username, password, will }: ConnectPacket): number {
  const parts = [username, password, will?.topic, will?.payload, will?.properties];
  const bytes = parts.reduce((sum, part) => sum + (part?.length ?? 0), 0);
  return bytes > connectBytesFree ? bytes : 0;
}

function enteringOf(
  registry: BrokerContext['registry'],
  packet: ConnectPacket,
  client: Client,
  clientId: string,
): Entering {
  const { payer } = client;
  const own = registry.find(sessionKey(client.identity, clientId));
  const { identity } = own ?? registry.findFormer(client, clientId) ?? client;
  const { cleanStart } = packet;
  const will = willOf(packet, sessionKey(identity, clientId), payer);
  return {
    client,
    identity,
    payer,
    clientId,
    cleanStart,
    will,
    ...termsFor(packet, client, clientId),
  };
}

/** Opens or resumes a client's session; its connection of before ends. Throws ProtocolError. */
export function establish(
  { registry, wills }: BrokerContext,
  packet: ConnectPacket,
  entering: Entering,
  turn: number,
): Established {
  const { client, identity, clientId } = entering;
  const key = sessionKey(identity, clientId);
  requireFitting(packet, entering);
  const will = entering.will && { ...entering.will, turn };
  if (will !== undefined && !wills.keep(client, will)) {
    throw new ProtocolError(reason.quotaExceeded, 'there is no room for your last will');
  }
  registry.find(key)?.link?.end(reason.takenOver, 'the client connected again');
  const opened = registry.open(entering);
  if (opened === undefined) {
    if (will !== undefined) wills.discard(client, will);
    throw new ProtocolError(reason.quotaExceeded, 'there are too many sessions');
  }
  const { session, isPresent } = opened;
  session.claimedAt = turn;
  if (!isPresent) session.takenAt = turn;
  for (const ended of opened.evicted) wills.publishNow(ended.key);
  // A reconnect in time cancels the will; the end of the session publishes it [MQTT-3.1.3-9].
  if (isPresent) wills.cancel(key);
  else wills.publishNow(key);
  return { ...entering, session, isPresent, will };
}

/** What CONNACK says of the refusals of the hooks: a reason code, and with MQTT 5 a text. */
export const connectRefusals: Readonly<Record<ConnectRefusal, readonly [number, string]>> = {
  bad_credentials: [
    reason.badCredentials,
    'the username or the password is wrong: send those of the account, or an access key',
  ],
  not_authorized: [reason.notAuthorized, 'this login may not connect: it has ended, or needs more'],
  client_id_invalid: [reason.clientIdInvalid, 'another client id is needed'],
  unavailable: [reason.unavailable, 'the service cannot say who you are: try again'],
  rate_limited: [reason.connectionRateExceeded, 'too many logins failed: try again in a while'],
  banned: [reason.banned, 'this address is refused for a while'],
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
interface ConnectTerms {
  readonly expirySeconds: number;
  /** Longer silence ends the connection. */
  readonly silenceMs: number;
  readonly connack: ConnackProperties;
}

function termsFor(packet: ConnectPacket, client: Client, clientId: string): ConnectTerms {
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
function requireFitting(packet: ConnectPacket, { connack }: ConnectTerms): void {
  if (encodeAcceptance(packet.version, connack, false).length <= packet.maximumPacketSize) return;
  throw new ProtocolError(reason.packetTooLarge, 'not even CONNACK fits', { isSilent: true });
}

function willOf({ will }: ConnectPacket, publisher: SessionKey, payer: Payer): Will | undefined {
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
    ...(expirySeconds !== undefined && { expirySeconds }),
    turn: 0,
  };
}
