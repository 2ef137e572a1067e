import { invalid } from '../domain/errors.ts';
import { type JsonValue, parseJson } from '../lib/json.ts';

/** One point of the InfluxDB line protocol, as it was written. */
export interface LinePoint {
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly fields: readonly (readonly [string, JsonValue])[];
  /** A whole number, in the precision of the request; absent: the sender has no clock. */
  readonly time?: string;
}

/** A device has no more sensors than this, and nobody names more tags. */
const fieldsMax = 1_000;
const tagsMax = 100;

const backslash = 92;
const quote = 34;
const space = 32;

/**
 * Reads one line, without its end. Undefined for an empty line or a comment. Throws DomainError
 * invalid, with the character from 1.
 */
export function readLinePoint(line: string): LinePoint | undefined {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (/^\s*(#|$)/.test(text)) return undefined;
  const cursor = createCursor(text);
  const measurement = cursor.word(', ', 'the measurement');
  const tags = new Map<string, string>();
  while (cursor.takes(',')) {
    const key = cursor.word('=, ', 'the name of a tag');
    if (!cursor.takes('=')) throw cursor.problem('a tag must be name=value');
    if (tags.size === tagsMax) throw cursor.problem(`a line may have ${tagsMax} tags`);
    tags.set(key, cursor.word(', ', `the tag ${key.slice(0, 60)}`));
  }
  cursor.skipSpaces();
  const fields = readFields(cursor);
  cursor.skipSpaces();
  if (cursor.isAtEnd()) return { measurement, tags, fields };
  const time = cursor.rest().trim();
  if (!/^-?\d{1,20}$/.test(time)) throw cursor.problem('the timestamp must be a whole number');
  return { measurement, tags, fields, time };
}

type Cursor = ReturnType<typeof createCursor>;

function readFields(cursor: Cursor): readonly (readonly [string, JsonValue])[] {
  const fields: (readonly [string, JsonValue])[] = [];
  do {
    const name = cursor.word('=, ', 'the name of a field');
    if (!cursor.takes('=')) throw cursor.problem('a field must be name=value');
    if (fields.length === fieldsMax) {
      throw cursor.problem(`a line may have ${fieldsMax} fields`);
    }
    fields.push([name, cursor.isAtQuote() ? cursor.quoted() : bareValue(cursor, name)]);
  } while (cursor.takes(','));
  return fields;
}

const truths: ReadonlySet<string> = new Set(['t', 'T', 'true', 'True', 'TRUE']);
const falsehoods: ReadonlySet<string> = new Set(['f', 'F', 'false', 'False', 'FALSE']);
const numberPattern = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

function bareValue(cursor: Cursor, name: string): JsonValue {
  const text = cursor.word(', ', `the value of ${name.slice(0, 60)}`);
  if (truths.has(text)) return true;
  if (falsehoods.has(text)) return false;
  const value = /^[+-]?\d+[iu]$/.test(text)
    ? numberOf(text.slice(0, -1))
    : numberOf(text.startsWith('.') || /^[+-]\./.test(text) ? text.replace('.', '0.') : text);
  if (value !== undefined) return value;
  throw cursor.problem(
    `the field ${name.slice(0, 60)} must be a number, true, false or a text in double quotes`,
  );
}

/** The number with all its digits, or undefined when it is none that JSON can say. */
function numberOf(text: string): JsonValue | undefined {
  const found = numberPattern.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent] = found;
  const digits = whole.replace(/^0+(?=\d)/, '') + (fraction === '' ? '' : `.${fraction}`);
  const json = `${sign === '-' ? '-' : ''}${digits}${exponent === undefined ? '' : `e${exponent}`}`;
  try {
    return parseJson(json);
  } catch {
    // Beyond the range of a double.
    return undefined;
  }
}

function createCursor(text: string) {
  let at = 0;

  function problem(message: string) {
    return invalid(`${message} (character ${at + 1})`);
  }

  return {
    problem,
    isAtEnd: () => at >= text.length,
    isAtQuote: () => text.charCodeAt(at) === quote,
    rest: () => text.slice(at),
    takes(character: string): boolean {
      if (text[at] !== character) return false;
      at += 1;
      return true;
    },
    skipSpaces(): void {
      while (text.charCodeAt(at) === space) at += 1;
    },
    /** Up to one of the ends; a backslash takes the meaning of an end away. */
    word(ends: string, what: string): string {
      const start = at;
      let isEscaped = false;
      while (at < text.length && !ends.includes(text.charAt(at))) {
        if (text.charCodeAt(at) === backslash && ',= '.includes(text.charAt(at + 1))) {
          // At the end of the text, includes('') is true: there is nothing to escape.
          isEscaped = at + 1 < text.length;
          at += 1;
        }
        at += 1;
      }
      at = Math.min(at, text.length);
      if (at === start) throw problem(`${what} is missing`);
      const word = text.slice(start, at);
      return isEscaped || word.includes('\\') ? word.replace(/\\([,= ])/g, '$1') : word;
    },
    quoted(): string {
      const start = at + 1;
      for (at = start; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (code === backslash) at += 1;
        else if (code === quote) break;
      }
      if (at >= text.length) throw problem('a text is not closed by double quotes on its line');
      at += 1;
      return text.slice(start, at - 1).replace(/\\(["\\])/g, '$1');
    },
  };
}
