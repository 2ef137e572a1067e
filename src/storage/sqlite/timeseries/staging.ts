import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import type { Instant } from '../../../lib/clock.ts';
import { sameJson } from '../../../lib/json.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { nextOrdinal, type Ordinals, type Series } from './series.ts';

/** Others have their turn between steps of so many datapoints. */
const datapointsPerStep = 4_096;

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
  const staging = beginStaging(series);
  for (let at = 0; at < datapoints.length; at += datapointsPerStep) {
    stageStep(chunks, staging, datapoints, at);
  }
  return staging;
}

/** The same for a long push: yields between its steps. */
export function* stageInSteps(
  chunks: ChunkReader,
  series: Series,
  datapoints: readonly Datapoint[],
): Generator<void, StagedPush> {
  const staging = beginStaging(series);
  for (let at = 0; at < datapoints.length; at += datapointsPerStep) {
    if (at > 0) yield;
    stageStep(chunks, staging, datapoints, at);
  }
  return staging;
}

interface Staging {
  readonly series: Series;
  readonly firstOrdinal: number;
  readonly fresh: Datapoint[];
  newest: Instant | undefined;
  last: number | undefined;
}

function beginStaging(series: Series): Staging {
  const firstOrdinal = nextOrdinal(series);
  return { series, firstOrdinal, fresh: [], newest: undefined, last: undefined };
}

/** Stages what is new of the step that begins at `first`. */
function stageStep(
  chunks: ChunkReader,
  staging: Staging,
  datapoints: readonly Datapoint[],
  first: number,
): void {
  const { series, firstOrdinal, fresh } = staging;
  const inChunks = findInChunks(chunks, series, datapoints, first);
  const end = Math.min(first + datapointsPerStep, datapoints.length);
  for (let at = first; at < end; at += 1) {
    // Below its length the array has no holes.
    const datapoint = datapoints[at] as Datapoint;
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
      if (staging.newest === undefined) staging.last = position;
    } else if (staging.newest === undefined || timestamp >= staging.newest) {
      staging.newest = timestamp;
      staging.last = position;
    }
  }
}

/** Ends staging: the datapoints are in the tail, or were not kept. */
export function clearStaged(series: Series, outcome: 'kept' | 'lost'): void {
  series.staged = [];
  if (outcome === 'lost') series.ordinals = undefined;
}

function stage(series: Series, datapoint: Datapoint): void {
  const { timestamp } = datapoint;
  if (timestamp !== undefined) {
    const ordinal = nextOrdinal(series);
    series.staged.push(datapoint);
    if (series.ordinals !== undefined) remember(series, series.ordinals, timestamp, ordinal);
    series.newestTimestamp = Math.max(series.newestTimestamp, timestamp);
  } else {
    series.staged.push(datapoint);
  }
}

/** Where outside chunks the series has this timestamp and value, or undefined. */
function ordinalOf(series: Series, { timestamp, value }: Datapoint): number | undefined {
  if (timestamp === undefined || timestamp > series.newestTimestamp) return undefined;
  series.ordinals ??= listOrdinals(series);
  const known = series.ordinals.get(timestamp);
  if (typeof known !== 'number') return known?.get(JSON.stringify(value));
  return sameJson(unsealedAt(series, known).value, value) ? known : undefined;
}

function listOrdinals(series: Series): Ordinals {
  const ordinals: Ordinals = new Map();
  const end = nextOrdinal(series);
  for (let ordinal = series.sealed; ordinal < end; ordinal += 1) {
    const { timestamp } = unsealedAt(series, ordinal);
    if (timestamp !== undefined) remember(series, ordinals, timestamp, ordinal);
  }
  return ordinals;
}

/** A timestamp mostly comes once; those of one that comes again are told apart by their values. */
function remember(series: Series, ordinals: Ordinals, timestamp: Instant, ordinal: number): void {
  const known = ordinals.get(timestamp);
  if (known === undefined) {
    ordinals.set(timestamp, ordinal);
    return;
  }
  const byValue = typeof known === 'number' ? new Map<string, number>() : known;
  if (typeof known === 'number') byValue.set(valueText(series, known), known);
  byValue.set(valueText(series, ordinal), ordinal);
  ordinals.set(timestamp, byValue);
}

const valueText = (series: Series, ordinal: number): string =>
  JSON.stringify(unsealedAt(series, ordinal).value);

/** A datapoint that is not known to be in chunks, by its count of arrival. */
function unsealedAt(series: Series, ordinal: number): Datapoint {
  const frozen = series.frozen?.datapoints ?? [];
  const inTail = ordinal - series.sealed - frozen.length;
  const datapoint =
    frozen[ordinal - series.sealed] ??
    series.tail.datapoints[inTail] ??
    series.staged[inTail - series.tail.datapoints.length];
  if (datapoint === undefined) throw new Error(`series ${series.number} has no such datapoint`);
  return datapoint;
}

/**
 * The positions, in the step that begins at `first`, of those that are in chunks; looked up in
 * order of time, so each chunk once.
 */
function findInChunks(
  chunks: ChunkReader,
  series: Series,
  datapoints: readonly Datapoint[],
  first: number,
): Set<number> | undefined {
  if (series.sealed === 0) return undefined;
  const suspects: { readonly at: number; readonly timestamp: Instant }[] = [];
  const end = Math.min(first + datapointsPerStep, datapoints.length);
  for (let at = first; at < end; at += 1) {
    const timestamp = datapoints[at]?.timestamp;
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
