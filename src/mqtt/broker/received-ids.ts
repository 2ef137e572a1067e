import type { PublishOutcome } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import type { Journal } from './journal.ts';
import type { Session } from './session.ts';

/** Until PUBREL, a QoS 2 publish with this packet id is a repetition [MQTT-4.3.3-10]. */
export function rememberId(
  session: Session,
  packetId: number,
  outcome: Promise<PublishOutcome>,
  journal: Journal,
): void {
  session.received ??= new Map();
  session.received.set(packetId, outcome);
  const [oldest] = session.received.keys();
  if (session.received.size <= mqttLimits.receivedIdsMax || oldest === undefined) return;
  // Of a connection before this one, whose client has forgotten it.
  void forgetId(session, oldest, journal);
}

/** The publish has been handed on: after a crash a repetition of it is only answered. */
export function keepId(session: Session, packetId: number, journal: Journal): void {
  const isKnown = session.received?.has(packetId) === true;
  if (isKnown) session.received?.set(packetId, undefined);
  if (session.isEnded || !session.isDurable) return;
  // Released meanwhile: the commit that stored the message may have kept its id all the same.
  const kind = isKnown ? 'received' : 'completed';
  journal.add({ kind, key: session.key, packetId }, session.payer);
}

/** The publish was refused: its id is free, also where the first one of a repetition was stored. */
export function dropId(
  session: Session,
  { packetId, isRepeated }: { readonly packetId: number; readonly isRepeated: boolean },
  journal: Journal,
): void {
  session.received?.delete(packetId);
  if (!isRepeated || session.isEnded || !session.isDurable) return;
  journal.add({ kind: 'completed', key: session.key, packetId }, session.payer);
}

/** The id may be used again [MQTT-4.3.3-11]; resolves when that is durable, undefined: it is. */
export function forgetId(
  session: Session,
  packetId: number,
  journal: Journal,
): Promise<void> | undefined {
  const isKnown = session.received?.delete(packetId) === true;
  if (!isKnown || !session.isDurable) return undefined;
  journal.add({ kind: 'completed', key: session.key, packetId }, session.payer);
  return journal.synced();
}
