import { isBigNumber, type JsonValue } from './json.ts';
import { LongJson, writeJson } from './long-json.ts';

/** The longest text of a double, and of `true`, `false` and `null`. */
const plainBytesMax = 25;
/** A character as `\u0000`; in UTF-8 none takes more. */
const bytesPerCharacterMax = 6;

/**
 * Whether the JSON text of the value has at most `bytesMax` bytes in UTF-8. Most values are far
 * from it and are only estimated; those that may be too long are written to be sure.
 */
export function isJsonWithin(value: JsonValue, bytesMax: number): boolean {
  if (typeof value === 'number')
    return plainBytesMax <= bytesMax || isWrittenWithin(value, bytesMax);
  return upperBound(value, bytesMax) <= bytesMax || isWrittenWithin(value, bytesMax);
}

const isWrittenWithin = (value: JsonValue, bytesMax: number): boolean =>
  Buffer.byteLength(writeJson(value)) <= bytesMax;

/** An upper bound of the bytes of the text; counting stops above `enough`. */
function upperBound(value: JsonValue, enough: number): number {
  if (typeof value === 'string') return value.length * bytesPerCharacterMax + 2;
  if (typeof value !== 'object' || value === null) return plainBytesMax;
  if (isBigNumber(value)) return value.rawJSON.length;
  if (value instanceof LongJson) return value.text.length * bytesPerCharacterMax;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 1 + upperBound(item, enough - bytes);
      if (bytes > enough) return bytes;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    bytes += key.length * bytesPerCharacterMax + 4 + upperBound(item, enough - bytes);
    if (bytes > enough) return bytes;
  }
  return bytes;
}
