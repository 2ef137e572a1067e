import { isHeldBy, mayHoldUnsafeNumber } from '../../src/lib/json-number.ts';
import { isRecord } from '../../src/lib/record.ts';

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
    // A browser without it sends the double.
    return rawJSON === undefined ? Number(this) : rawJSON(this.digits);
  }
}

const textOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON with all digits of its numbers. Throws what JSON.parse throws. */
export function parseExact(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!mayHoldUnsafeNumber(text)) return parsed;
  let mark = 'digits';
  while (text.includes(mark)) mark += '.';
  const marked = text.replace(textOrNumber, (found) =>
    found.startsWith('"') || isHeldBy(Number(found), found) ? found : `{"${mark}":"${found}"}`,
  );
  return JSON.parse(marked, (_, value: unknown) => {
    const digits = isRecord(value) ? value[mark] : undefined;
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
  const value = parseLoosely(text);
  return value instanceof ExactNumber ? value.digits : JSON.stringify(value);
}
