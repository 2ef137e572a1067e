import { ByteReader } from './packets/byte-reader.ts';

/** The identifier of User Property [MQTT5 2.2.2.2]; the other ones that travel on, by kind. */
const userProperty = 38;
const payloadFormat = 1;

/**
 * The first value of a user property of a message, among the properties that travel on with it;
 * undefined: it has none of that name. They were checked when the packet was read.
 */
export function userPropertyOf(
  properties: Uint8Array | undefined,
  name: string,
): string | undefined {
  if (properties === undefined) return undefined;
  const reader = new ByteReader(Buffer.from(properties));
  while (!reader.isAtEnd) {
    const id = reader.variableInteger();
    if (id === userProperty) {
      const key = reader.text();
      const value = reader.text();
      if (key === name) return value;
    } else if (id === payloadFormat) reader.byte();
    else reader.binary();
  }
  return undefined;
}
