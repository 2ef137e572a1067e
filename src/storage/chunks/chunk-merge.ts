import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import { weigh } from '../../domain/datapoints/weight.ts';

/** Sorts by order time; those of the same time keep their order. */
export function sortByTime(datapoints: readonly Datapoint[]): Datapoint[] {
  return datapoints.toSorted((a, b) => orderTime(a) - orderTime(b));
}

/** Both lists in one order; at the same time `earlier`, which arrived first, goes first. */
export function mergeByTime(
  earlier: readonly Datapoint[],
  later: readonly Datapoint[],
): Datapoint[] {
  const merged: Datapoint[] = [];
  let next = 0;
  for (const datapoint of later) {
    const time = orderTime(datapoint);
    for (let old = earlier[next]; old !== undefined && orderTime(old) <= time; ) {
      merged.push(old);
      next += 1;
      old = earlier[next];
    }
    merged.push(datapoint);
  }
  for (; next < earlier.length; next += 1) {
    const old = earlier[next];
    if (old !== undefined) merged.push(old);
  }
  return merged;
}

/** What one chunk holds at most: datapoints, and their weight. */
export interface ChunkLimits {
  readonly chunkDatapointsMax: number;
  readonly chunkWeightMax: number;
}

/**
 * Cuts datapoints into chunks. `fill`: full chunks and a rest, for datapoints that come at the end;
 * `even`: chunks of one size, so that each has room for the next late datapoint.
 */
export function cut(
  datapoints: readonly Datapoint[],
  limits: ChunkLimits,
  how: 'fill' | 'even',
): Datapoint[][] {
  const { chunkDatapointsMax, chunkWeightMax } = limits;
  const chunkCount = Math.ceil(datapoints.length / chunkDatapointsMax);
  const countMax =
    how === 'fill' ? chunkDatapointsMax : Math.ceil(datapoints.length / Math.max(1, chunkCount));
  const chunks: Datapoint[][] = [];
  let chunk: Datapoint[] = [];
  let weight = 0;
  for (const datapoint of datapoints) {
    const added = weigh(datapoint);
    if (chunk.length > 0 && (chunk.length >= countMax || weight + added > chunkWeightMax)) {
      chunks.push(chunk);
      chunk = [];
      weight = 0;
    }
    chunk.push(datapoint);
    weight += added;
  }
  if (chunk.length > 0) chunks.push(chunk);
  if (how === 'even') mixLast(chunks);
  return chunks;
}

/**
 * Sees to it that the last chunk does not hold one time alone. Another chunk may hold that same
 * time alone, for datapoints that arrived later, and the two would change places.
 */
function mixLast(chunks: Datapoint[][]): void {
  const lastTime = chunks.at(-1)?.at(-1);
  if (lastTime === undefined) return;
  const time = orderTime(lastTime);
  while (chunks.length > 1) {
    const last = chunks.at(-1) ?? [];
    const first = last[0];
    if (first === undefined || orderTime(first) < time) return;
    const before = chunks.at(-2) ?? [];
    const cutAt = before.findLastIndex((datapoint) => orderTime(datapoint) < time);
    if (cutAt > 0) {
      last.unshift(...before.splice(cutAt));
    } else {
      chunks.splice(-2, 2, [...before, ...last]);
    }
  }
}
