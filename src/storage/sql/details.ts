import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';

/** A row holds something that this program did not write. */
export class DamagedRowError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'DamagedRowError';
  }
}

/** The object that a JSON text holds; throws where it holds none. */
export function detailsFrom<Details>(text: string): Details {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new DamagedRowError('the details are no JSON object');
  // The text was written from such an object.
  return value as Details;
}

/** The texts of an array that a JSON text holds; throws where it holds none. */
export function textsFrom(text: string): readonly string[] {
  const value = parseJson(text);
  if (!areTexts(value)) throw new DamagedRowError('expected a JSON array of texts');
  return value;
}

/** The numbers of an array that a JSON text holds; throws where it holds none. */
export function numbersFrom(text: string): readonly number[] {
  const value = parseJson(text);
  if (Array.isArray(value) && value.every((element) => typeof element === 'number')) return value;
  throw new DamagedRowError('expected a JSON array of numbers');
}

export function areTexts(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}
