import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { parseTimestamp } from '../lib/timestamp.ts';

const quote = 34;
const plus = 43;
const minus = 45;
const point = 46;
const zero = 48;
const colon = 58;
const bigE = 69;
const bigT = 84;
const bigZ = 90;
const backslash = 92;
const smallE = 101;

/** A double holds every decimal number of so many digits. */
const digitsMax = 15;
/** No double is written with more digits, zeros behind them aside. */
const doubleDigitsMax = 21;
/** Powers of ten that a double holds. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** 1 for printable ASCII that a text holds as it is. */
const isPlain = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 32 && code <= 126 && code !== quote && code !== backslash ? 1 : 0,
);

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * Reads JSON from bytes where it is plain: all other text is left to `parseJson`, so every method
 * may say no to what is right, and never yes to what is wrong.
 */
export class ByteCursor {
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;
  /** Where the text begins that plainText read, behind its quote. */
  textStart = 0;
  textEnd = 0;
  readonly #instants = new InstantReader();
  readonly #numbers = new NumberReader();

  move(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Takes a sign behind white space. */
  take(sign: number): boolean {
    const at = this.#skip();
    if (at >= this.#end || this.#bytes[at] !== sign) return false;
    this.#at = at + 1;
    return true;
  }

  /** The sign that is next behind white space, which is not taken; -1: there is none. */
  next(): number {
    const at = this.#skip();
    return at < this.#end ? (this.#bytes[at] ?? -1) : -1;
  }

  /** Where the cursor is. */
  get at(): number {
    return this.#at;
  }

  /** Takes the bytes from `start` to `end` of others, if the very same are next. */
  takeSame(others: Uint8Array, start: number, end: number): boolean {
    const from = this.#at;
    const length = end - start;
    if (from + length > this.#end) return false;
    const bytes = this.#bytes;
    for (let at = 0; at < length; at += 1) {
      if (bytes[from + at] !== others[start + at]) return false;
    }
    this.#at = from + length;
    return true;
  }

  /** Whether only white space is left. */
  isAtEnd(): boolean {
    return this.#skip() >= this.#end;
  }

  /** Takes a text of printable ASCII without escapes. */
  plainText(): boolean {
    if (!this.take(quote)) return false;
    const bytes = this.#bytes;
    const end = this.#end;
    const start = this.#at;
    for (let at = start; at < end; at += 1) {
      const code = bytes[at] ?? 0;
      if (code === quote) {
        this.textStart = start;
        this.textEnd = at;
        this.#at = at + 1;
        return true;
      }
      if (isPlain[code] === 0) return false;
    }
    return false;
  }

  /** Takes these bytes, if they are next behind white space. */
  takeAll(text: Uint8Array): boolean {
    this.#skip();
    return this.takeSame(text, 0, text.length);
  }

  /** Takes a number as NumberReader reads it; NaN: it is another, or none, and is not taken. */
  number(): number {
    const numbers = this.#numbers;
    const number = numbers.read(this.#bytes, this.#skip(), this.#end);
    if (!Number.isNaN(number)) this.#at = numbers.at;
    return number;
  }

  /** Takes a text of the form YYYY-MM-DDThh:mm:ss[.sss]Z; its instant, or NaN: it has another. */
  instant(): number {
    if (!this.take(quote)) return Number.NaN;
    const bytes = this.#bytes;
    const start = this.#at;
    const length = bytes[start + 19] === point ? 24 : 20;
    if (start + length >= this.#end || bytes[start + length] !== quote) return Number.NaN;
    this.#at = start + length + 1;
    return this.#instants.read(bytes, start, length);
  }

  #skip(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < this.#end) {
      const code = bytes[at];
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break;
      at += 1;
    }
    this.#at = at;
    return at;
  }
}

/** ASCII bytes as text. */
export const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');

/** Reads numbers of JSON. */
class NumberReader {
  /** Where the number ends that was read. */
  at = 0;

  /**
   * A number of up to 15 digits, whose double is found by one exact multiplication or division, or
   * one that is written as its double is; NaN: it is another, or none. -0 is 0.
   */
  read(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    const isNegative = at < end && bytes[at] === minus;
    if (isNegative) at += 1;
    const wholeStart = at;
    let digits = 0;
    let mantissa = 0;
    for (; at < end; at += 1) {
      const digit = (bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      mantissa = mantissa * 10 + digit;
      if (mantissa > 0) digits += 1;
    }
    if (at === wholeStart || (bytes[wholeStart] === zero && at - wholeStart > 1)) return Number.NaN;
    let exponent = 0;
    if (at < end && bytes[at] === point) {
      const fractionStart = at + 1;
      for (at = fractionStart; at < end; at += 1) {
        const digit = (bytes[at] ?? 0) - zero;
        if (digit < 0 || digit > 9) break;
        mantissa = mantissa * 10 + digit;
        if (mantissa > 0) digits += 1;
      }
      if (at === fractionStart) return Number.NaN;
      exponent = fractionStart - at;
    }
    if (at < end && (bytes[at] === smallE || bytes[at] === bigE)) {
      const power = this.#exponentAt(bytes, at + 1, end);
      if (Number.isNaN(power)) return Number.NaN;
      exponent += power;
      at = this.at;
    }
    this.at = at;
    if (digits > digitsMax) {
      return digits > doubleDigitsMax ? Number.NaN : doubleOf(textOf(bytes, start, at));
    }
    if (mantissa === 0) return exponent < -400 ? Number.NaN : 0;
    const power = powers[Math.abs(exponent)];
    if (power === undefined) return Number.NaN;
    const size = exponent < 0 ? mantissa / power : mantissa * power;
    return isNegative ? -size : size;
  }

  /** The exponent of up to two digits that begins here. */
  #exponentAt(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    const sign = at < end ? bytes[at] : 0;
    if (sign === minus || sign === plus) at += 1;
    const first = at;
    let power = 0;
    for (; at < end; at += 1) {
      const digit = (bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      power = power * 10 + digit;
    }
    if (at === first || at - first > 2) return Number.NaN;
    this.at = at;
    return sign === minus ? -power : power;
  }
}

/** The double of a number; NaN: it is written in another way than this. */
function doubleOf(text: string): number {
  const double = Number(text);
  return String(double) === text ? double : Number.NaN;
}

/** Reads instants of one form; the last date is remembered, as most follow on the same day. */
class InstantReader {
  #date = -1;
  #midnight = Number.NaN;

  /** The instant of YYYY-MM-DDThh:mm:ssZ, or of the same with .sss before its Z; NaN: another. */
  read(bytes: Uint8Array, start: number, length: number): number {
    if (bytes[start + 10] !== bigT || bytes[start + length - 1] !== bigZ) return Number.NaN;
    if (bytes[start + 13] !== colon || bytes[start + 16] !== colon) return Number.NaN;
    const hour = twoDigits(bytes, start + 11);
    const minute = twoDigits(bytes, start + 14);
    const second = twoDigits(bytes, start + 17);
    // A part that is not two digits is NaN, which passes none of these.
    if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
    let millisecond = 0;
    if (length === 24) {
      millisecond = twoDigits(bytes, start + 20) * 10 + (twoDigits(bytes, start + 21) % 10);
      if (Number.isNaN(millisecond)) return Number.NaN;
    }
    const midnight = this.#midnightAt(bytes, start);
    return midnight + hour * hourMs + minute * minuteMs + second * secondMs + millisecond;
  }

  #midnightAt(bytes: Uint8Array, start: number): number {
    if (bytes[start + 4] !== minus || bytes[start + 7] !== minus) return Number.NaN;
    const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
    const date = year * 10_000 + twoDigits(bytes, start + 5) * 100 + twoDigits(bytes, start + 8);
    if (date === this.#date) return this.#midnight;
    if (Number.isNaN(date)) return Number.NaN;
    this.#date = date;
    this.#midnight = parseTimestamp(textOf(bytes, start, start + 10)) ?? Number.NaN;
    return this.#midnight;
  }
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - zero;
  const ones = (bytes[at + 1] ?? 0) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

const bareNumbers = new NumberReader();
/** A sign, the digits of a double, and a point. */
const bareBytesMax = digitsMax + 2;

/** The number that the bytes are, without white space and exponent; NaN: they are anything else. */
export function bareNumberOf(bytes: Uint8Array): number {
  const { length } = bytes;
  if (length > bareBytesMax) return Number.NaN;
  // Neither a letter nor a brace.
  for (let at = 0; at < length; at += 1) if ((bytes[at] ?? 0) >= colon) return Number.NaN;
  const number = bareNumbers.read(bytes, 0, length);
  return bareNumbers.at === length ? number : Number.NaN;
}

/** Longer bodies are no usual push: these bytes hold any of the shape and some white space. */
const bytesMax = 128;
const none = new Uint8Array(0);
const comma = 44;
const openBrace = 123;
const closeBrace = 125;
const valueKey = Buffer.from('"value"');
const timestampKey = Buffer.from('"timestamp"');

/**
 * A reader of usual pushes, one at a time: `{"value": number, "timestamp": "…Z"}`, the timestamp
 * first or absent. Undefined: it is anything else, which `readDatapoints` reads or refuses. None of
 * their bytes are kept.
 */
export function createPushByteReader(): (bytes: Uint8Array) => NewDatapoint | undefined {
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
