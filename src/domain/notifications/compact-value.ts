import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import { LongJson } from '../../lib/long-json.ts';

/** How many characters a value takes, roughly: as text, or as JSON. */
export function charactersOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || isBigNumber(value)) return 8;
  return value instanceof LongJson ? value.text.length : JSON.stringify(value).length;
}

/** The value, or where it has more characters the beginning of its text, for people to see. */
export function shortened(value: JsonValue, charactersMax: number): JsonValue {
  if (charactersOf(value) <= charactersMax) return value;
  if (value instanceof LongJson) {
    const text = value.isString ? value.beginning(6 * charactersMax) : value.text;
    return beginningOf(text, charactersMax);
  }
  return beginningOf(typeof value === 'string' ? value : JSON.stringify(value), charactersMax);
}

/**
 * The first characters of a text, as a text of its own: a slice would keep all of the text in
 * memory for as long as it is kept itself.
 */
export function beginningOf(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return Buffer.from(text.slice(0, charactersMax), 'utf16le').toString('utf16le');
}

/** The value, or where it has more characters what rules evaluate: it stays of its kind. */
export function compacted(value: JsonValue, charactersMax: number): JsonValue {
  if (charactersOf(value) <= charactersMax) return value;
  if (typeof value !== 'object' || value === null || isBigNumber(value) || isLongText(value)) {
    return shortened(value, charactersMax);
  }
  let room = charactersMax;
  const fits = (characters: number): boolean => {
    const isIn = characters < room;
    if (isIn) room -= characters + 1;
    return isIn;
  };
  if (value instanceof LongJson && !value.isArray) return {};
  if (value instanceof LongJson || Array.isArray(value)) {
    const elements: readonly JsonValue[] =
      value instanceof LongJson ? value.elements(charactersMax) : value;
    return elements.filter((element) => fits(charactersOf(element)));
  }
  const fields = Object.entries(value);
  return Object.fromEntries(
    fields.filter(([key, field]) => fits(key.length + charactersOf(field))),
  );
}

const isLongText = (value: JsonValue): boolean => value instanceof LongJson && value.isString;
