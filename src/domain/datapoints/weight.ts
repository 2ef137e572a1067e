import type { JsonValue } from '../../lib/json.ts';
import { LongJson } from '../../lib/long-json.ts';
import type { Datapoint } from './datapoint.ts';

const charactersPerWeight = 32;

/** Bytes that a weight of 1 counts towards a quota. */
export const bytesPerWeight = 32;

/** 1 for a number, and 1 more for every 32 characters of the JSON text of other values. */
export function weigh(datapoint: Datapoint): number {
  const { value } = datapoint;
  if (typeof value === 'number' || typeof value === 'boolean') return 1;
  if (value instanceof LongJson) return weightOfText(value.text);
  return 1 + Math.floor(lengthOf(value) / charactersPerWeight);
}

function lengthOf(value: JsonValue): number {
  return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}

/** Weight of several datapoints. */
export function weightOf(datapoints: readonly Datapoint[]): number {
  let weight = 0;
  for (const datapoint of datapoints) weight += weigh(datapoint);
  return weight;
}

/** The JSON texts of values that are no numbers, among so many: see `ColumnBatch`. */
export interface ValueTexts {
  readonly count: number;
  readonly texts?: readonly (string | undefined)[] | undefined;
  readonly weight?: number | undefined;
}

/** Weight of the datapoints of a batch: as much as objects of them would weigh. */
export function weightOfBatch({ count, texts, weight: known }: ValueTexts): number {
  if (texts === undefined) return count;
  if (known !== undefined) return known;
  let weight = 0;
  for (let row = 0; row < count; row += 1) weight += weightOfText(texts[row]);
  return weight;
}

/** Weight of a datapoint whose value has this JSON text; undefined: a number. */
export function weightOfText(text: string | undefined): number {
  if (text === undefined || text === 'true' || text === 'false') return 1;
  return 1 + Math.floor(charactersOf(text) / charactersPerWeight);
}

/** A string counts without its quotes, and an escaped character as one. */
function charactersOf(text: string): number {
  if (!text.startsWith('"')) return text.length;
  let characters = text.length - 2;
  for (let at = text.indexOf('\\'); at >= 0; ) {
    const length = text[at + 1] === 'u' ? 6 : 2;
    characters -= length - 1;
    at = text.indexOf('\\', at + length);
  }
  return characters;
}
