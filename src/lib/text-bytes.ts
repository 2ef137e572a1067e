import type { Instant } from './clock.ts';
import { formatTimestamp } from './timestamp.ts';

export type TextBytes = ReturnType<typeof createTextBytes>;
const dayMs = 86_400_000;
const zero = 48;
const [dash, dot, colon, zulu] = [45, 46, 58, 90];
/** Sign, digits, point and exponent of any number, and of any instant. */
const partBytesMax = 32;
const bytesFirst = 4_096;
/** The buffer stays, for the next text, up to so many bytes. */
const bytesKept = 1_048_576;
/** With up to so many decimals numbers are written digit by digit. */
const powers = [10, 100, 1_000, 10_000, 100_000] as const;
const powerMost = 100_000;
const wholeMax = 2 ** 31 - 1;
const timestampBytes = 24;
const datePartBytes = 11;
/** Days whose dates are remembered, each in the place its number ends on; a power of two. */
const daysKnown = 256;

/** Text that is put together as bytes of UTF-8, without a string for each part of it. */
export function createTextBytes() {
  let bytes = Buffer.allocUnsafeSlow(bytesFirst);
  let length = 0;
  const days = new Float64Array(daysKnown).fill(Number.NaN);
  const dates = new Uint8Array(daysKnown * datePartBytes);

  function reserve(more: number): void {
    if (length + more <= bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, length + more));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  /** Forgets what was put since the last time. */
  function clear(): void {
    length = 0;
    if (bytes.length > bytesKept) bytes = Buffer.allocUnsafeSlow(bytesFirst);
  }

  /** ASCII that fits. */
  function putPlain(text: string): void {
    for (let at = 0; at < text.length; at += 1) bytes[length + at] = text.charCodeAt(at);
    length += text.length;
  }

  /** Whether the date of the instant is among those that are remembered now. */
  function knowsDate(day: number, instant: Instant): boolean {
    const text = formatTimestamp(instant);
    if (text.length !== 24) return false;
    const place = day & (daysKnown - 1);
    for (let at = 0; at < datePartBytes; at += 1) {
      dates[place * datePartBytes + at] = text.charCodeAt(at);
    }
    days[place] = day;
    return true;
  }

  return {
    /** For text with any characters. */
    putText(text: string): void {
      reserve(3 * text.length);
      length += bytes.write(text, length);
    },
    /** Bytes that are UTF-8 already. */
    putBytes(more: Uint8Array): void {
      reserve(more.length);
      const into = bytes;
      const to = length;
      for (let at = 0; at < more.length; at += 1) into[to + at] = more[at] ?? 0;
      length = to + more.length;
    },
    /** A finite number as JSON has it. */
    putNumber(number: number): void {
      reserve(partBytesMax);
      if (number === (number | 0)) {
        length = putDecimal(bytes, length, number, 0);
        return;
      }
      const most = Math.round(number * powerMost);
      // Of so few digits, a number of up to five decimals would be this one.
      if (most <= wholeMax && most >= -wholeMax && most / powerMost !== number) {
        length += bytes.write(String(number), length, 'latin1');
        return;
      }
      for (let decimals = 1; decimals <= powers.length; decimals += 1) {
        const power = powers[decimals - 1] ?? 1;
        const scaled = Math.round(number * power);
        if (scaled > wholeMax || scaled < -wholeMax) break;
        // Ten digits: no other number of so few is as near, and fewer were tried before.
        if (scaled / power === number) {
          length = putDecimal(bytes, length, scaled, decimals);
          return;
        }
      }
      putPlain(String(number));
    },
    /** YYYY-MM-DDThh:mm:ss.sssZ, as formatTimestamp has it. */
    putInstant(instant: Instant): void {
      reserve(partBytesMax);
      const day = Math.floor(instant / dayMs);
      const rest = instant - day * dayMs;
      const place = day & (daysKnown - 1);
      if (!Number.isInteger(instant) || (days[place] !== day && !knowsDate(day, instant))) {
        putPlain(formatTimestamp(instant));
        return;
      }
      const date = place * datePartBytes;
      for (let at = 0; at < datePartBytes; at += 1) bytes[length + at] = dates[date + at] ?? 0;
      putTime(bytes, length + datePartBytes, rest);
      length += timestampBytes;
    },
    /** Takes the bytes that were put since the last time; the caller owns them. */
    take(): Buffer {
      // No longer than the text: a caller that waits to send it keeps nothing else in memory.
      const taken = Buffer.allocUnsafeSlow(length);
      bytes.copy(taken, 0, 0, length);
      clear();
      return taken;
    },
    clear,
  };
}

/** Writes hh:mm:ss.sssZ of a time of day in milliseconds. */
function putTime(bytes: Uint8Array, at: number, time: number): void {
  const minutes = (time / 60_000) | 0;
  const hour = (minutes / 60) | 0;
  const minute = minutes - hour * 60;
  const milliseconds = time - minutes * 60_000;
  const second = (milliseconds / 1_000) | 0;
  const millisecond = milliseconds - second * 1_000;
  const hundreds = (millisecond / 100) | 0;
  bytes[at] = zero + ((hour / 10) | 0);
  bytes[at + 1] = zero + (hour % 10);
  bytes[at + 2] = colon;
  bytes[at + 3] = zero + ((minute / 10) | 0);
  bytes[at + 4] = zero + (minute % 10);
  bytes[at + 5] = colon;
  bytes[at + 6] = zero + ((second / 10) | 0);
  bytes[at + 7] = zero + (second % 10);
  bytes[at + 8] = dot;
  bytes[at + 9] = zero + hundreds;
  bytes[at + 10] = zero + (((millisecond - hundreds * 100) / 10) | 0);
  bytes[at + 11] = zero + (millisecond % 10);
  bytes[at + 12] = zulu;
}

/** Writes a whole number of 31 bits with its point so many digits from the end; answers the end. */
function putDecimal(bytes: Uint8Array, start: number, whole: number, decimals: number): number {
  let from = start;
  let rest = whole;
  if (rest < 0) {
    bytes[from] = dash;
    from += 1;
    rest = -rest;
  }
  let digits = 1;
  for (let left = (rest / 10) | 0; left > 0; left = (left / 10) | 0) digits += 1;
  if (digits <= decimals) digits = decimals + 1;
  const end = from + digits + (decimals === 0 ? 0 : 1);
  const point = decimals === 0 ? -1 : end - decimals - 1;
  for (let at = end - 1; at >= from; at -= 1) {
    if (at === point) {
      bytes[at] = dot;
      continue;
    }
    const tens = (rest / 10) | 0;
    bytes[at] = zero + rest - tens * 10;
    rest = tens;
  }
  return end;
}
