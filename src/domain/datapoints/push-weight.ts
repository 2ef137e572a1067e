import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import type { Push } from './datapoint-store.ts';

/** What a datapoint takes in memory beside its value, in bytes: about two small objects. */
const datapointBytes = 64;
const entryBytes = 16;

/** About how many bytes of memory a push takes while it waits: a queue is bounded by them. */
export function weightOf({ datapoints }: Push): number {
  let bytes = 0;
  for (const { value } of datapoints) {
    bytes += typeof value === 'number' ? datapointBytes : datapointBytes + sizeOf(value);
  }
  return bytes;
}

function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (isBigNumber(value)) return value.rawJSON.length;
  let bytes = 0;
  if (Array.isArray(value)) {
    for (const item of value) bytes += entryBytes + sizeOf(item);
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) bytes += entryBytes + key.length + sizeOf(item);
  return bytes;
}
