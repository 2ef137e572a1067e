import type { Push } from './datapoint-store.ts';
import { bytesPerWeight } from './weight.ts';

/** Memory of a datapoint beside its text, in bytes: four columns of one row. */
const datapointBytes = 64;

/** About how many bytes of memory a push takes while it waits: a queue is bounded by them. */
export function weightOf({ batch: { count, texts, weight } }: Push): number {
  let bytes = count * datapointBytes;
  if (texts === undefined) return bytes;
  // Short texts take more than their characters.
  if (weight !== undefined) return bytes + bytesPerWeight * weight;
  for (const text of texts) if (text !== undefined) bytes += text.length;
  return bytes;
}
