import type { Datapoint } from '../../domain/datapoints/datapoint.ts';
import type { Instant } from '../../lib/clock.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { nextOrdinal, type Series } from './series.ts';

/** What is new in a push. */
export interface StagedPush {
  readonly fresh: readonly Datapoint[];
  /** Which of the fresh ones becomes the last value; absent: none. */
  readonly last: number | undefined;
}

/**
 * Finds out which datapoints of a push are not stored yet, and stages them with their series.
 * A timestamp later than all before costs no look-up.
 */
export function stagePush(
  chunks: ChunkReader,
  series: Series,
  datapoints: readonly Datapoint[],
): StagedPush {
  const inChunks = findInChunks(chunks, series, datapoints);
  const firstOrdinal = nextOrdinal(series);
  const fresh: Datapoint[] = [];
  let newest: Instant | undefined;
  let last: number | undefined;
  for (const [at, datapoint] of datapoints.entries()) {
    const { timestamp } = datapoint;
    const known = inChunks?.has(at) ? 0 : ordinalOf(series, datapoint);
    const isFresh = known === undefined;
    if (isFresh) {
      stage(series, datapoint);
      fresh.push(datapoint);
    }
    // One that the same push brought before says nothing new.
    if (!isFresh && known >= firstOrdinal) continue;
    const position = isFresh ? fresh.length - 1 : undefined;
    if (timestamp === undefined) {
      if (newest === undefined) last = position;
    } else if (newest === undefined || timestamp >= newest) {
      newest = timestamp;
      last = position;
    }
  }
  return { fresh, last };
}

/** Ends staging: the datapoints are in the tail, or were not kept. */
export function clearStaged(series: Series, outcome: 'kept' | 'lost'): void {
  series.staged = [];
  if (outcome === 'lost') series.ordinals = undefined;
}

function stage(series: Series, datapoint: Datapoint): void {
  const { timestamp } = datapoint;
  if (timestamp !== undefined) {
    series.ordinals?.set(keyOf(timestamp, datapoint), nextOrdinal(series));
    series.newestTimestamp = Math.max(series.newestTimestamp, timestamp);
  }
  series.staged.push(datapoint);
}

/** Where outside chunks the series has this timestamp and value, or undefined. */
function ordinalOf(series: Series, datapoint: Datapoint): number | undefined {
  const { timestamp } = datapoint;
  if (timestamp === undefined || timestamp > series.newestTimestamp) return undefined;
  series.ordinals ??= listOrdinals(series);
  return series.ordinals.get(keyOf(timestamp, datapoint));
}

function listOrdinals(series: Series): Map<string, number> {
  const ordinals = new Map<string, number>();
  let ordinal = series.sealed;
  for (const part of [series.frozen?.datapoints ?? [], series.tail.datapoints, series.staged]) {
    for (const datapoint of part) {
      const { timestamp } = datapoint;
      if (timestamp !== undefined) ordinals.set(keyOf(timestamp, datapoint), ordinal);
      ordinal += 1;
    }
  }
  return ordinals;
}

function keyOf(timestamp: Instant, datapoint: Datapoint): string {
  return `${timestamp} ${JSON.stringify(datapoint.value)}`;
}

/** The positions of those that are in chunks; looked up in order of time, so each chunk once. */
function findInChunks(
  chunks: ChunkReader,
  series: Series,
  datapoints: readonly Datapoint[],
): Set<number> | undefined {
  if (series.sealed === 0) return undefined;
  const suspects: { readonly at: number; readonly timestamp: Instant }[] = [];
  for (const [at, { timestamp }] of datapoints.entries()) {
    if (timestamp !== undefined && timestamp <= series.newestTimestamp) {
      suspects.push({ at, timestamp });
    }
  }
  if (suspects.length === 0) return undefined;
  suspects.sort((a, b) => a.timestamp - b.timestamp);
  return chunks.inSnapshot(() => {
    const found = new Set<number>();
    const stored = chunks.createLookup(series.number);
    for (const { at, timestamp } of suspects) {
      const datapoint = datapoints[at];
      if (datapoint === undefined) continue;
      if (stored.valuesAt(timestamp).has(JSON.stringify(datapoint.value))) found.add(at);
    }
    return found;
  });
}
