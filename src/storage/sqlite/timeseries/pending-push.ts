import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import type { Instant } from '../../../lib/clock.ts';
import { sameJson } from '../../../lib/json.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { nextSequenceNumber, type SequenceNumbers, type Series } from './series.ts';

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
  const pendingPush = beginPendingPush(series);
  try {
    for (let at = 0; at < datapoints.length; at += datapointsPerStep) {
      stageStep(chunks, pendingPush, datapoints, at);
    }
    return pendingPush;
  } catch (reason) {
    clearStaged(series, 'lost');
    throw reason;
  }
}

/** The same for a long push: yields between its steps. */
export function* stageInSteps(
  chunks: ChunkReader,
  series: Series,
  datapoints: readonly Datapoint[],
): Generator<void, StagedPush> {
  const pendingPush = beginPendingPush(series);
  try {
    for (let at = 0; at < datapoints.length; at += datapointsPerStep) {
      if (at > 0) yield;
      stageStep(chunks, pendingPush, datapoints, at);
    }
    return pendingPush;
  } catch (reason) {
    clearStaged(series, 'lost');
    throw reason;
  }
}

interface PendingPush {
  readonly series: Series;
  readonly firstSequenceNumber: number;
  readonly fresh: Datapoint[];
  /** Among those with a timestamp; undefined from the first one without. */
  newest: Instant | undefined;
  last: number | undefined;
}

function beginPendingPush(series: Series): PendingPush {
  const firstSequenceNumber = nextSequenceNumber(series);
  const newest = Number.NEGATIVE_INFINITY;
  return { series, firstSequenceNumber, fresh: [], newest, last: undefined };
}

/** Stages what is new of the step that begins at `first`. */
function stageStep(
  chunks: ChunkReader,
  pendingPush: PendingPush,
  datapoints: readonly Datapoint[],
  first: number,
): void {
  const { series, firstSequenceNumber, fresh } = pendingPush;
  const inChunks = findInChunks(chunks, series, datapoints, first);
  const end = Math.min(first + datapointsPerStep, datapoints.length);
  for (let at = first; at < end; at += 1) {
    // Below its length the array has no holes.
    const datapoint = datapoints[at] as Datapoint;
    const { timestamp } = datapoint;
    const known = inChunks?.has(at) ? 0 : sequenceNumberOf(series, datapoint);
    const isFresh = known === undefined;
    if (isFresh) {
      stage(series, datapoint);
      fresh.push(datapoint);
    }
    // One that the same push brought before says nothing new.
    if (!isFresh && known >= firstSequenceNumber) continue;
    const position = isFresh ? fresh.length - 1 : undefined;
    // As lastAmong has it.
    if (timestamp === undefined) pendingPush.newest = undefined;
    if (timestamp === undefined || timestamp >= (pendingPush.newest ?? timestamp)) {
      if (pendingPush.newest !== undefined) pendingPush.newest = timestamp;
      pendingPush.last = position;
    }
  }
}

/** Ends pendingPush: the datapoints are in the memtableEntry, or were not kept. */
export function clearStaged(series: Series, outcome: 'kept' | 'lost'): void {
  series.staged = [];
  if (outcome === 'lost') series.sequenceNumbers = undefined;
}

function stage(series: Series, datapoint: Datapoint): void {
  const { timestamp } = datapoint;
  if (timestamp !== undefined) {
    const sequenceNumber = nextSequenceNumber(series);
    series.staged.push(datapoint);
    if (series.sequenceNumbers !== undefined)
      remember(series, series.sequenceNumbers, timestamp, sequenceNumber);
    series.newestTimestamp = Math.max(series.newestTimestamp, timestamp);
  } else {
    series.staged.push(datapoint);
  }
}

/** Where outside chunks the series has this timestamp and value, or undefined. */
function sequenceNumberOf(series: Series, { timestamp, value }: Datapoint): number | undefined {
  if (timestamp === undefined || timestamp > series.newestTimestamp) return undefined;
  series.sequenceNumbers ??= listSequenceNumbers(series);
  const known = series.sequenceNumbers.get(timestamp);
  if (typeof known !== 'number') return known?.get(JSON.stringify(value));
  return sameJson(unflushedAt(series, known).value, value) ? known : undefined;
}

function listSequenceNumbers(series: Series): SequenceNumbers {
  const sequenceNumbers: SequenceNumbers = new Map();
  const end = nextSequenceNumber(series);
  for (let sequenceNumber = series.flushed; sequenceNumber < end; sequenceNumber += 1) {
    const { timestamp } = unflushedAt(series, sequenceNumber);
    if (timestamp !== undefined) remember(series, sequenceNumbers, timestamp, sequenceNumber);
  }
  return sequenceNumbers;
}

/** A timestamp mostly comes once; those of one that comes again are told apart by their values. */
function remember(
  series: Series,
  sequenceNumbers: SequenceNumbers,
  timestamp: Instant,
  sequenceNumber: number,
): void {
  const known = sequenceNumbers.get(timestamp);
  if (known === undefined) {
    sequenceNumbers.set(timestamp, sequenceNumber);
    return;
  }
  const byValue = typeof known === 'number' ? new Map<string, number>() : known;
  if (typeof known === 'number') byValue.set(valueText(series, known), known);
  byValue.set(valueText(series, sequenceNumber), sequenceNumber);
  sequenceNumbers.set(timestamp, byValue);
}

const valueText = (series: Series, sequenceNumber: number): string =>
  JSON.stringify(unflushedAt(series, sequenceNumber).value);

/** A datapoint that is not known to be in chunks, by its count of arrival. */
function unflushedAt(series: Series, sequenceNumber: number): Datapoint {
  const frozen = series.frozen?.datapoints ?? [];
  const inMemtableEntry = sequenceNumber - series.flushed - frozen.length;
  const datapoint =
    frozen[sequenceNumber - series.flushed] ??
    series.memtableEntry.datapoints[inMemtableEntry] ??
    series.staged[inMemtableEntry - series.memtableEntry.datapoints.length];
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
  if (series.flushed === 0) return undefined;
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
