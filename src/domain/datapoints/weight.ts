import type { JsonValue } from '../../lib/json.ts';
import type { Datapoint } from './datapoint.ts';

const charactersPerWeight = 32;

/** What a weight of 1 counts towards a quota, in bytes. */
export const bytesPerWeight = 32;

/** 1 for a number, and 1 more for every 32 characters of the JSON text of other values. */
export function weigh(datapoint: Datapoint): number {
  const { value } = datapoint;
  if (typeof value === 'number' || typeof value === 'boolean') return 1;
  return 1 + Math.floor(lengthOf(value) / charactersPerWeight);
}

function lengthOf(value: JsonValue): number {
  return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}

/** What several datapoints weigh. */
export function weightOf(datapoints: readonly Datapoint[]): number {
  let weight = 0;
  for (const datapoint of datapoints) weight += weigh(datapoint);
  return weight;
}
