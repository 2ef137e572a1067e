import { isHeldBy, mayHoldUnsafeNumber } from './json-number.ts';

/** A number that a double cannot hold exactly; JSON.stringify writes its digits as they came. */
export interface BigNumber {
  readonly rawJSON: string;
}

/** A value that is kept as its JSON text: see LongJson. */
export interface UnreadJson {
  readonly text: string;
  toJSON(): unknown;
}

/** Any JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | BigNumber
  | UnreadJson
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

declare global {
  // In Node since version 22, not yet in the library types of TypeScript.
  interface JSON {
    rawJSON(text: string): BigNumber;
    isRawJSON(value: unknown): value is BigNumber;
  }
}

/** Text that is not JSON, or JSON beyond our limits; `position` counts characters from 0. */
export class JsonError extends Error {
  readonly problem: string;
  readonly position: number;

  constructor(problem: string, position: number) {
    super(`${problem} at character ${position + 1}`);
    this.name = 'JsonError';
    this.problem = problem;
    this.position = position;
  }
}

/** JSON that is whole perhaps, but would take too long to read. */
export class JsonCostError extends JsonError {
  constructor() {
    super('too many keys, texts and elements: send fewer, or in parts,', 0);
    this.name = 'JsonCostError';
  }
}

/** Shorter texts are read in no time, whatever they hold. */
const cheapCharactersMax = 16_384;
/** Deeper values would overflow the stack of code that walks them. */
const depthDefault = 512;
/** Longer number literals measure nothing. */
const numberCharactersMax = 1_024;

/**
 * The value of a JSON text with nothing lost: a number that a double cannot hold becomes a
 * BigNumber. -0 is read as 0. Throws JsonError, also for numbers that overflow (1e999) and for
 * nesting deeper than `depthMax`; JsonCostError for more than `costMax` microseconds of work,
 * before it begins.
 */
export function parseJson(
  text: string,
  depthMax: number = depthDefault,
  costMax: number = Number.POSITIVE_INFINITY,
): JsonValue {
  const tooDeepAt = excessPosition(text, depthMax);
  if (tooDeepAt >= 0) throw new JsonError(`nested deeper than ${depthMax} levels`, tooDeepAt);
  const isBounded = text.length > cheapCharactersMax && costMax < Number.POSITIVE_INFINITY;
  if (isBounded && jsonCost(text, costMax, false) > costMax) throw new JsonCostError();
  const isExact = mayHoldUnsafeNumber(text);
  if (isBounded && isExact && jsonCost(text, costMax, true) > costMax) throw new JsonCostError();
  if (!isExact) {
    try {
      return JSON.parse(text);
    } catch {
      // Not JSON: the reader below finds the spot and says so.
      if (isBounded && jsonCost(text, costMax, true) > costMax) throw new JsonCostError();
    }
  }
  return read(text);
}

/** Reads JSON as parseJson does, and answers undefined where that throws a JsonError. */
export function tryJson(...given: Parameters<typeof parseJson>): JsonValue | undefined {
  try {
    return parseJson(...given);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Whether the value is a number kept as its digits. */
export const isBigNumber = (value: unknown): value is BigNumber => JSON.isRawJSON(value);

/** Whether the value is a JSON object. */
export function isJsonObject(
  value: JsonValue | undefined,
): value is { readonly [key: string]: JsonValue } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isBigNumber(value)
  );
}

const plainNumber = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/**
 * The number that a value counts as in comparisons and aggregates: JSON numbers, and text that is
 * a finite decimal number, white space around it ignored [contract 6]. Nothing else counts.
 */
export function asNumber(value: JsonValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    if (value.length > numberCharactersMax || !plainNumber.test(value)) return undefined;
    const number = Number(value);
    // Adding 0 turns -0 into 0.
    return Number.isFinite(number) ? number + 0 : undefined;
  }
  return isBigNumber(value) ? Number(value.rawJSON) + 0 : undefined;
}

const quote = 34;
const nine = 57;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** The position of the first bracket that nests deeper than `depthMax`, or -1. */
function excessPosition(text: string, depthMax: number): number {
  if (!hasMoreOpeners(text, depthMax)) return -1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === openBracket || code === openBrace) {
      depth += 1;
      if (depth > depthMax) return at;
    } else if (code === closeBracket || code === closeBrace) {
      depth -= 1;
    }
  }
  return -1;
}

/** Whether there are more than `count` opening brackets, strings included: a cheap first check. */
function hasMoreOpeners(text: string, count: number): boolean {
  if (text.length <= count) return false;
  let openers = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      openers += 1;
      if (openers > count) return true;
    }
  }
  return false;
}

/** The position of the quote that ends the string starting at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (before > start && text.charCodeAt(before) === backslash) before -= 1;
    // An even number of backslashes stands before it: none of them belongs to the quote.
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

interface Cursor {
  readonly text: string;
  at: number;
}

/**
 * A strict reader, for what JSON.parse cannot do: numbers with all their digits, and errors with
 * their position. The caller has checked the depth, so the recursion is bounded.
 */
function read(text: string): JsonValue {
  const cursor: Cursor = { text, at: 0 };
  const value = readValue(cursor);
  skipWhiteSpace(cursor);
  if (cursor.at < text.length) throw unexpected(cursor);
  return value;
}

function readValue(cursor: Cursor): JsonValue {
  skipWhiteSpace(cursor);
  const code = cursor.text.charCodeAt(cursor.at);
  if (code === quote) return readString(cursor);
  if (code === openBracket) return readArray(cursor);
  if (code === openBrace) return readObject(cursor);
  if (code <= nine) return readNumber(cursor);
  if (takeWord(cursor, 'true')) return true;
  if (takeWord(cursor, 'false')) return false;
  if (takeWord(cursor, 'null')) return null;
  throw unexpected(cursor);
}

function readArray(cursor: Cursor): JsonValue {
  const items: JsonValue[] = [];
  cursor.at += 1;
  if (take(cursor, ']')) return items;
  while (true) {
    items.push(readValue(cursor));
    if (take(cursor, ']')) return items;
    if (!take(cursor, ',')) throw unexpected(cursor);
  }
}

function readObject(cursor: Cursor): JsonValue {
  const object: Record<string, JsonValue> = {};
  cursor.at += 1;
  if (take(cursor, '}')) return object;
  while (true) {
    skipWhiteSpace(cursor);
    if (cursor.text.charCodeAt(cursor.at) !== quote) throw unexpected(cursor);
    const key = readString(cursor);
    if (!take(cursor, ':')) throw unexpected(cursor);
    const value = readValue(cursor);
    if (key === '__proto__') {
      // Plain assignment would set the prototype.
      const own = { value, enumerable: true, configurable: true, writable: true };
      Object.defineProperty(object, key, own);
    } else {
      object[key] = value;
    }
    if (take(cursor, '}')) return object;
    if (!take(cursor, ',')) throw unexpected(cursor);
  }
}

const escapeSequence = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

function readString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  const end = endOfString(text, start);
  try {
    // A fresh string: a slice would keep the whole text in memory.
    const value: string = JSON.parse(text.slice(start, end + 1));
    cursor.at = end + 1;
    return value;
  } catch {
    // The loop below says what is wrong, and where.
  }
  for (cursor.at += 1; cursor.at < text.length; cursor.at += 1) {
    const code = text.charCodeAt(cursor.at);
    if (code < 32) throw new JsonError('control character in a string', cursor.at);
    if (code === backslash) {
      escapeSequence.lastIndex = cursor.at;
      if (!escapeSequence.test(text)) throw new JsonError('unknown escape in a string', cursor.at);
      cursor.at = escapeSequence.lastIndex - 1;
    }
  }
  throw unexpected(cursor);
}

const numberLiteral = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function readNumber(cursor: Cursor): JsonValue {
  const start = cursor.at;
  numberLiteral.lastIndex = start;
  if (!numberLiteral.test(cursor.text)) throw unexpected(cursor);
  cursor.at = numberLiteral.lastIndex;
  if (cursor.at - start > numberCharactersMax) {
    throw new JsonError(`number longer than ${numberCharactersMax} characters`, start);
  }
  const literal = cursor.text.slice(start, cursor.at);
  const double = Number(literal);
  if (!Number.isFinite(double)) throw new JsonError('number too large', start);
  if (isHeldBy(double, literal)) return double + 0;
  // Copied for the same reason as strings are.
  return JSON.rawJSON(JSON.parse(`"${literal}"`));
}

function take(cursor: Cursor, character: string): boolean {
  skipWhiteSpace(cursor);
  return takeWord(cursor, character);
}

function takeWord(cursor: Cursor, word: string): boolean {
  if (!cursor.text.startsWith(word, cursor.at)) return false;
  cursor.at += word.length;
  return true;
}

function skipWhiteSpace(cursor: Cursor): void {
  for (; cursor.at < cursor.text.length; cursor.at += 1) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
  }
}

function unexpected(cursor: Cursor): JsonError {
  if (cursor.at >= cursor.text.length) return new JsonError('unexpected end', cursor.at);
  const found = String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 0);
  return new JsonError(`unexpected ${JSON.stringify(found)}`, cursor.at);
}

const comma = 44;
const colon = 58;
/** Costs of reading each part of a JSON text, in about microseconds. */
const cost = { newKey: 1, oldKey: 0.2, text: 0.45, other: 0.03, list: 0.1, exact: 0.5 } as const;
/** Of each character, where numbers are to be kept to the last digit. */
const exactCharacter = 0.005;
/** Keys that were seen, by hash; each call has hashes of its own. */
const seen = new Int32Array(65_536);

/**
 * Estimates from its characters how many microseconds it takes to read a JSON text: new keys cost
 * most, since an object with very many of them is a table of its own. It stops once the cost is
 * above `max`. `isExact`: all is read by our own reader.
 */
export function jsonCost(text: string, max: number, isExact: boolean): number {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const partCost = isExact ? cost.exact : 0;
  let sum = isExact ? text.length * exactCharacter : 0;
  /** Of the text that ended last, if it may still be a key; else undefined. */
  let textHash: number | undefined;
  for (let at = 0; at < text.length && sum <= max; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      let hash = seed;
      for (at += 1; at < text.length && text.charCodeAt(at) !== quote; at += 1) {
        if (text.charCodeAt(at) === backslash) at += 1;
        hash = Math.imul(hash ^ text.charCodeAt(at), hashPrime);
      }
      textHash = hash;
    } else if (code === colon && textHash !== undefined) {
      sum += costOfKey(textHash);
      textHash = undefined;
    } else if (code === comma || code === closeBracket || code === closeBrace) {
      sum += partCost + (textHash === undefined ? cost.other : cost.text);
      textHash = undefined;
    } else if (code === openBracket || code === openBrace) sum += cost.list;
  }
  return sum;
}

/** Of FNV-1a. */
const hashPrime = 0x01000193;

function costOfKey(hash: number): number {
  const slot = (hash ^ (hash >>> 16)) & 0xffff;
  const isOld = seen[slot] === hash;
  seen[slot] = hash;
  return isOld ? cost.oldKey : cost.newKey;
}
