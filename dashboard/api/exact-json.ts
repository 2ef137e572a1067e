import { isHeldBy, mayHoldUnsafeNumber } from '../../src/lib/json-number.ts';
import { isRecord } from '../../src/lib/record.ts';
import { exact } from './long-numbers.ts';

/**
 * A number that a double cannot hold: counts as the nearest double, and is shown and sent with the
 * digits it was written with. `instanceof Number` tells it where this file is not loaded.
 */
export class ExactNumber extends Number {
  readonly digits: string;

  /** `digits` is a number as JSON writes it. */
  constructor(digits: string) {
    super(digits);
    this.digits = digits;
  }

  override toString(): string {
    return this.digits;
  }

  toJSON(): unknown {
    const { rawJSON } = JSON as Partial<Pick<typeof JSON, 'rawJSON'>>;
    // For a browser without it, `exact.json` takes the mark out again.
    return rawJSON === undefined ? mark + this.digits : rawJSON(this.digits);
  }
}

/** No text of anybody's begins so. */
const mark = `digits ${Math.random()} `;
const marked = new RegExp(`"${mark.replace('.', '\\.')}([^"]+)"`, 'g');
exact.json = (...value) => JSON.stringify(...value).replace(marked, '$1');

const textOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON with all digits of its numbers. Throws what JSON.parse throws. */
export function parseExact(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!mayHoldUnsafeNumber(text)) return parsed;
  let key = 'digits';
  while (text.includes(key)) key += '.';
  const keyed = text.replace(textOrNumber, (found) =>
    found.startsWith('"') || isHeldBy(Number(found), found) ? found : `{"${key}":"${found}"}`,
  );
  return JSON.parse(keyed, (_, value: unknown) => {
    const digits = isRecord(value) ? value[key] : undefined;
    return typeof digits === 'string' ? new ExactNumber(digits) : value;
  });
}

/** A number as people type it, with a point or a comma; undefined when it is none. */
export function typedNumber(text: string): number | ExactNumber | undefined {
  const plain = text.trim().replace(',', '.');
  const [, sign, whole, part, exponent] = typed.exec(plain) ?? [];
  const number = Number(plain);
  if (whole === undefined || !Number.isFinite(number)) return undefined;
  if (isHeldBy(number, plain)) return number;
  const minus = sign === '-' ? sign : '';
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  const fraction = part === undefined || part === '.' ? '' : part;
  return new ExactNumber(`${minus}${digits}${fraction}${exponent ?? ''}`);
}

const typed = /^([-+]?)(?=\.?\d)(\d*)(\.\d*)?(e[-+]?\d+)?$/i;

/** A value as people type it: a number, JSON, or else a text. */
export function parseLoosely(text: string): unknown {
  const trimmed = text.trim();
  const number = typedNumber(trimmed);
  if (number !== undefined) return number;
  try {
    return parseExact(trimmed);
  } catch {
    return trimmed;
  }
}

/** Typed text as the JSON of a value, with all its digits; undefined: the text is empty. */
export function typedJson(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  return exact.json(parseLoosely(text));
}
