import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { ByteCursor } from './byte-cursor.ts';

/**
 * Reads the usual push from its bytes: `{"value": number, "timestamp": "…Z"}`, the timestamp first
 * or absent. Undefined: it is anything else, which `readDatapoints` reads or refuses.
 */
export type PushByteReader = (bytes: Uint8Array) => NewDatapoint | undefined;

/** Longer bodies are no usual push: these bytes hold any of the shape and some white space. */
const bytesMax = 128;
const none = new Uint8Array(0);

const comma = 44;
const colon = 58;
const openBrace = 123;
const closeBrace = 125;
const valueKey = Buffer.from('"value"');
const timestampKey = Buffer.from('"timestamp"');

/** A reader of pushes, one at a time; it keeps none of their bytes. */
export function createPushByteReader(): PushByteReader {
  const cursor = new ByteCursor();

  /** The number behind the key of the value; NaN: another, or none. */
  const numberHere = (): number => (cursor.take(colon) ? cursor.number() : Number.NaN);

  const instantHere = (): number => (cursor.take(colon) ? cursor.instant() : Number.NaN);

  /** NaN marks bytes that did not go on as usual: nothing is tried a second time. */
  function read(): NewDatapoint | undefined {
    if (!cursor.take(openBrace)) return undefined;
    let value: number;
    let timestamp: number | undefined;
    if (cursor.takeAll(valueKey)) {
      value = numberHere();
      if (cursor.take(comma)) timestamp = cursor.takeAll(timestampKey) ? instantHere() : Number.NaN;
    } else {
      timestamp = cursor.takeAll(timestampKey) ? instantHere() : Number.NaN;
      value = cursor.take(comma) && cursor.takeAll(valueKey) ? numberHere() : Number.NaN;
    }
    if (Number.isNaN(value) || !cursor.take(closeBrace) || !cursor.isAtEnd()) return undefined;
    if (timestamp === undefined) return { value };
    return Number.isNaN(timestamp) ? undefined : { value, timestamp };
  }

  return (bytes) => {
    if (bytes.length > bytesMax) return undefined;
    cursor.move(bytes, 0, bytes.length);
    const found = read();
    cursor.move(none, 0, 0);
    return found;
  };
}
