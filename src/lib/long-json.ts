import { endOfString, type JsonValue, parseJson, type UnreadJson } from './json.ts';

/** Longer JSON texts of values are not read: that, and writing them again, takes too long. */
export const readCharactersMax = 65_536;
/** Characters of a long text that are scanned, or written, at once. */
export const sliceCharacters = 32_768;
const quote = 34;
const backslash = 92;

/**
 * A JSON value that is kept as its text, since it is long. No code reads into it: it is handed on
 * as it is, slice by slice. JSON.stringify reads it after all; `writeJson` does not.
 */
export class LongJson implements UnreadJson {
  readonly #text: string;

  /** The text is as JSON.stringify writes it. */
  constructor(text: string) {
    this.#text = text;
  }

  /** The JSON text. */
  get text(): string {
    return this.#text;
  }

  get isString(): boolean {
    return this.#text.charCodeAt(0) === quote;
  }

  get isArray(): boolean {
    return this.#text.startsWith('[');
  }

  /** Of a string, about its first `characters`, as long as there are any. */
  beginning(characters: number): string {
    const end = sliceEnd(this.#text, 1, Math.min(characters + 1, this.#text.length - 1));
    return JSON.parse(`"${this.#text.slice(1, end)}"`);
  }

  /** Of a string, about its last `characters`. */
  ending(characters: number): string {
    const last = this.#text.length - 1;
    const start = Math.max(1, last - characters);
    // Where an escape may be cut, what is left of it stands for itself.
    const slice = this.#text.slice(start, last);
    return slice.replace(/\\[nrt]/g, ' ').replaceAll('\\"', '"');
  }

  /** The characters of a string, slice by slice; no slice ends within a character. */
  *characters(): Generator<string> {
    const last = this.#text.length - 1;
    for (let at = 1; at < last; ) {
      const end = sliceEnd(this.#text, at, Math.min(at + sliceCharacters, last));
      yield JSON.parse(`"${this.#text.slice(at, end)}"`);
      at = end;
    }
  }

  /** Of an array, so many of its first elements; those that are arrays or objects are empty. */
  elements(max: number): readonly JsonValue[] {
    return this.isArray ? firstElements(this.#text, max) : [];
  }

  toJSON(): unknown {
    if (underWay === undefined) return parseJson(this.#text);
    underWay.push(this);
    return placeholder;
  }
}

/** Text that is made while it is written, since there is much of it. */
export interface LongText extends Iterable<string | Uint8Array> {
  /** About how many characters it has. */
  readonly length: number;
}

/** A value from its stored text; one that is long is not read. */
export const storedJson = (text: string): JsonValue =>
  text.length > readCharactersMax ? new LongJson(text) : parseJson(text);

/** No text that anybody sends has it. */
const placeholder = `long value ${crypto.randomUUID()}`;
const placeholderText = JSON.stringify(placeholder);
let underWay: LongJson[] | undefined;

/** As JSON.stringify, but long values within are not read. */
export function writeJson(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return value instanceof LongJson ? value.text : partsOf(value).join('');
}

/** The same as text that is made while it is written, where there are long values within. */
export function writeLongJson(value: unknown): string | LongText {
  const parts = partsOf(value);
  return parts.length === 1 ? (parts[0] ?? '') : longText(parts);
}

/** Long text of parts, of which only slices are read. */
export const longText = (parts: readonly string[]): LongText => ({
  length: parts.reduce((sum, part) => sum + part.length, 0),
  *[Symbol.iterator]() {
    for (const part of parts) yield* slicesOf(part, sliceCharacters);
  },
});

/** Joins parts, one after the other, into one text. */
export const joinedText = (parts: readonly (string | Uint8Array | LongText)[]): LongText => ({
  length: parts.reduce((sum, part) => sum + part.length, 0),
  *[Symbol.iterator]() {
    for (const part of parts) {
      if (typeof part === 'string' || part instanceof Uint8Array) yield part;
      else yield* part;
    }
  },
});

/** The text of a value, apart from the texts of long values within, which are parts themselves. */
function partsOf(value: unknown): readonly string[] {
  const found: LongJson[] = [];
  underWay = found;
  try {
    const text = JSON.stringify(value);
    if (found.length === 0) return [text];
    return text.split(placeholderText).flatMap((part, at) => [part, found[at]?.text ?? '']);
  } finally {
    underWay = undefined;
  }
}

/** Whether both values are written as the same JSON text. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' && typeof b !== 'object') return false;
  return writeJson(a) === writeJson(b);
}

/** Slices of a text, none of which ends between the halves of a surrogate pair. */
export function* slicesOf(text: string, characters: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = wholeCharacters(text, Math.min(at + characters, text.length));
    yield text.slice(at, end);
    at = end;
  }
}

/** The end, or one less where a surrogate pair would be cut. */
function wholeCharacters(text: string, end: number): number {
  const isCut = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isCut && end > 1 ? end - 1 : end;
}

/** The end of a slice of a JSON string that begins at `start`: not within an escape, or a pair. */
function sliceEnd(text: string, start: number, end: number): number {
  // The last backslash that may begin an escape that is cut: `\uXXXX` is the longest.
  for (let at = end - 1; at >= Math.max(start, end - 5); at -= 1) {
    if (text.charCodeAt(at) !== backslash) continue;
    let first = at;
    while (first > start && text.charCodeAt(first - 1) === backslash) first -= 1;
    const isEscaped = (at - first) % 2 === 1;
    if (isEscaped) break;
    const length = text[at + 1] === 'u' ? 6 : 2;
    if (at + length > end) return at;
    break;
  }
  return wholeCharacters(text, end);
}

function firstElements(text: string, max: number): readonly JsonValue[] {
  const found: JsonValue[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 1; at < text.length && found.length < max; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' || character === '{') depth += 1;
    else if (depth > 0 && (character === ']' || character === '}')) depth -= 1;
    else if (depth === 0 && (character === ',' || character === ']')) {
      if (at > start) found.push(elementOf(text.slice(start, at)));
      start = at + 1;
      if (character === ']') break;
    }
  }
  return found;
}

function elementOf(text: string): JsonValue {
  if (text.startsWith('[')) return [];
  return text.startsWith('{') ? {} : storedJson(text);
}
