import { sessionKey } from '../../domain/messaging/message.ts';
import type { Client, ConnectRequest } from '../broker-hooks.ts';
import type { ConnectPacket } from '../packets/packet.ts';
import type { ConnackProperties } from '../packets/packet-encoder.ts';
import { ProtocolError, reason } from '../packets/reason-codes.ts';
import type { BrokerContext } from './broker-context.ts';
import { requireFitting, termsFor, type Will, willOf } from './login.ts';
import type { Session } from './session.ts';

/** The parts of a connection that exist only once the client has been let in. */
export interface Established {
  readonly client: Client;
  readonly session: Session;
  /** Whether the session was there before. */
  readonly isPresent: boolean;
  readonly connack: ConnackProperties;
  /** Longer silence ends the connection. */
  readonly silenceMs: number;
  readonly will: Will | undefined;
}

/** A client that may come in, and the term of its session's claim, of all processes. */
interface Entering extends Pick<ConnectRequest, 'clientId'> {
  readonly client: Client;
  readonly turn: number;
}

/**
 * Opens or resumes the session of a client, whose connection before this one ends. Throws
 * ProtocolError.
 */
export function establish(
  { registry, wills }: BrokerContext,
  packet: ConnectPacket,
  { client, clientId, turn }: Entering,
): Established {
  const { identity, payer } = client;
  const terms = termsFor(packet, client, clientId);
  const key = sessionKey(identity, clientId);
  requireFitting(packet, terms);
  const will = willOf(packet, key, payer, turn);
  if (will !== undefined && !wills.keep(client, will.message)) {
    throw new ProtocolError(reason.quotaExceeded, 'there is no room for your last will');
  }
  registry.find(key)?.link?.end(reason.takenOver, 'the client connected again');
  const { cleanStart } = packet;
  const { expirySeconds, silenceMs, connack } = terms;
  const opened = registry.open({ identity, payer, clientId, cleanStart, expirySeconds });
  if (opened === undefined) {
    if (will !== undefined) wills.discard(client, will);
    throw new ProtocolError(reason.quotaExceeded, 'there are too many sessions');
  }
  const { session, isPresent } = opened;
  session.claimedAt = turn;
  for (const ended of opened.evicted) wills.publishNow(ended.key);
  // A reconnect in time cancels the will; the end of the session publishes it [MQTT-3.1.3-9].
  if (isPresent) wills.cancel(key);
  else wills.publishNow(key);
  return { client, session, isPresent, connack, silenceMs, will };
}
