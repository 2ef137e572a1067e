import type { Message } from '../../domain/messaging/message.ts';
import type { Value } from '../sql/session.ts';
import { keyToText } from '../sql/session-row.ts';

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
