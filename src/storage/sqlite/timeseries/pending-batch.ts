import {
  type ColumnBatch,
  emptyBatch,
  selectRows,
  valueTextAt,
  weightOfBatch,
} from '../../../domain/datapoints/column-batch.ts';
import type { AppendOutcome, Push } from '../../../domain/datapoints/datapoint-store.ts';
import type { ReceivedId } from '../../../domain/publish-context.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { Gap } from '../../chunks/chunk-lookup.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { appendRows, dropTail, reserve } from './memtable-columns.ts';
import { SequenceIndex } from './sequence-index.ts';
import { nextSequenceNumber, type Series, type SeriesTable, unflushedAt } from './series.ts';

/** The part of a batch that goes to disk. */
export interface Staging {
  /** Pushes with the series that they belong to. */
  readonly pushes: {
    readonly series: Series;
    readonly weight: number;
    readonly push: LoggedPush;
  }[];
  /** Ids of its MQTT messages; undefined: it has none. */
  received: ReceivedId[] | undefined;
}

/** Finds out what of a batch is new, and stages it with its series. */
export function createPendingBatch(
  table: SeriesTable,
  chunks: ChunkReader,
  isKept: (id: ReceivedId) => boolean,
) {
  const isStored = ({ publishContext }: Push): boolean =>
    publishContext?.receivedAs !== undefined && isKept(publishContext.receivedAs);

  /** Stages a push that is not long, as nearly all are; undefined: it is long. */
  function stageAtOnce(push: Push, staging: Staging): AppendOutcome | undefined {
    const series = table.resolve(push);
    if (series === undefined) return { kind: 'missing' };
    if (isStored(push)) return { kind: 'stored', fresh: emptyBatch };
    if (!isShort(series, push.batch)) return undefined;
    const sequenceNumber = nextSequenceNumber(series);
    const found = stageShort(chunks, series, push.batch);
    return outcomeOf({ series, sequenceNumber, push }, found, staging);
  }

  function* stageInSteps(push: Push, staging: Staging): Generator<void, AppendOutcome> {
    const series = table.resolve(push);
    if (series === undefined) return { kind: 'missing' };
    const sequenceNumber = nextSequenceNumber(series);
    const found = yield* stageLong(chunks, series, push.batch);
    return outcomeOf({ series, sequenceNumber, push }, found, staging);
  }

  /**
   * Fills `staging` with what goes to disk, and yields between the steps of a long push and after
   * some pushes; the answer says what becomes of each push.
   */
  return function* stage(
    batch: readonly Push[],
    staging: Staging,
  ): Generator<void, AppendOutcome[]> {
    const outcomes: AppendOutcome[] = [];
    let staged = 0;
    for (const push of batch) {
      if (staged > datapointsPerStep) {
        yield;
        staged = 0;
      }
      // A series may have to come to memory.
      staged += push.batch.count + 1;
      outcomes.push(stageAtOnce(push, staging) ?? (yield* stageInSteps(push, staging)));
    }
    return outcomes;
  };
}

/** Adds what is new of a push to `staging`. */
function outcomeOf(
  place: { readonly series: Series; readonly sequenceNumber: number; readonly push: Push },
  { fresh, last }: StagedPush,
  staging: Staging,
): AppendOutcome {
  if (fresh.count === 0) return { kind: 'stored', fresh };
  const { series, sequenceNumber } = place;
  const push = { series: series.number, sequenceNumber, batch: fresh, last };
  const weight = weightOfBatch(fresh);
  staging.pushes.push({ series, weight, push });
  const receivedAs = place.push.publishContext?.receivedAs;
  if (receivedAs !== undefined) {
    staging.received ??= [];
    staging.received.push(receivedAs);
  }
  return { kind: 'stored', fresh, weight };
}

/** Other work has its slice between steps of so many datapoints. */
const datapointsPerStep = 2_048;

/** The new part of a push. */
interface StagedPush {
  readonly fresh: ColumnBatch;
  /** Which of the fresh ones becomes the last value; absent: none. */
  readonly last: number | undefined;
}

/** Datapoints that are listed at once where a push goes back in time. */
const listedAtOnceMax = 8_192;

/** Whether a push is staged in one step. */
const isShort = (series: Series, batch: ColumnBatch): boolean =>
  batch.count <= datapointsPerStep && !isListLong(series, batch, 0);

/** Whether the step that begins at `first` goes back in time, and a long list is not made yet. */
function isListLong(series: Series, batch: ColumnBatch, first: number): boolean {
  const unflushed = nextSequenceNumber(series) - series.flushed;
  if (series.sequenceNumbers !== undefined || unflushed <= listedAtOnceMax) return false;
  const end = Math.min(first + datapointsPerStep, batch.count);
  let newest = series.newestTimestamp;
  for (let at = first; at < end; at += 1) {
    if (batch.timed[at] === 0) continue;
    const time = batch.times[at] ?? 0;
    if (time <= newest) return true;
    newest = time;
  }
  return false;
}

/**
 * Finds out which datapoints of a push are not stored yet, and stages them with their series. A
 * timestamp later than all before costs no lookup.
 */
function stageShort(chunks: ChunkReader, series: Series, batch: ColumnBatch): StagedPush {
  const pendingPush = beginPendingPush(series, batch);
  try {
    stageStep(chunks, pendingPush, 0);
    return stagedOf(pendingPush);
  } catch (reason) {
    clearStaged(series);
    throw reason;
  }
}

/** The same for a long push: yields between its steps. */
function* stageLong(
  chunks: ChunkReader,
  series: Series,
  batch: ColumnBatch,
): Generator<void, StagedPush> {
  const pendingPush = beginPendingPush(series, batch);
  try {
    for (let at = 0; at < batch.count; at += datapointsPerStep) {
      if (at > 0) yield;
      if (isListLong(series, batch, at)) yield* listInSteps(series);
      stageStep(chunks, pendingPush, at);
    }
    return stagedOf(pendingPush);
  } catch (reason) {
    clearStaged(series);
    throw reason;
  }
}

const stagedOf = ({ batch, rows, last }: PendingPush): StagedPush => ({
  fresh: rows === undefined ? batch : selectRows(batch, rows),
  last,
});

interface PendingPush {
  readonly series: Series;
  readonly batch: ColumnBatch;
  readonly firstSequenceNumber: number;
  /** How many rows were checked. */
  looked: number;
  /** Rows that are new; absent while all are. */
  rows: number[] | undefined;
  /** Among those with a timestamp; undefined from the first one without. */
  newest: Instant | undefined;
  last: number | undefined;
}

function beginPendingPush(series: Series, batch: ColumnBatch): PendingPush {
  // Of a long push at its start, while there is little to be moved.
  if (batch.count > datapointsPerStep) reserve(series.memtableEntry.columns, batch.count);
  return {
    series,
    batch,
    firstSequenceNumber: nextSequenceNumber(series),
    looked: 0,
    rows: undefined,
    newest: Number.NEGATIVE_INFINITY,
    last: undefined,
  };
}

/** Stages what is new of the step that begins at `first`. */
function stageStep(chunks: ChunkReader, pendingPush: PendingPush, first: number): void {
  const { series, batch } = pendingPush;
  const inChunks = findInChunks(chunks, series, batch, first);
  const end = Math.min(first + datapointsPerStep, batch.count);
  if (inChunks === undefined && stageNewest(pendingPush, first, end)) return;
  for (let at = first; at < end; at += 1) {
    const known = inChunks?.has(at) ? 0 : sequenceNumberOf(series, batch, at);
    stageRow(pendingPush, at, known);
  }
}

/** Stages rows that ascend beyond all that the series has, at once; says whether they do. */
function stageNewest(pendingPush: PendingPush, first: number, end: number): boolean {
  const { series, batch, rows } = pendingPush;
  if (series.sequenceNumbers !== undefined || rows !== undefined) return false;
  if (pendingPush.newest === undefined) return false;
  let newest = series.newestTimestamp;
  for (let at = first; at < end; at += 1) {
    const time = batch.times[at] ?? 0;
    if (batch.timed[at] === 0 || time <= newest) return false;
    newest = time;
  }
  appendRows(series.memtableEntry.columns, batch, first, end);
  series.newestTimestamp = newest;
  pendingPush.newest = newest;
  pendingPush.last = end - 1;
  pendingPush.looked = end;
  return true;
}

/** Stages one row if it is new; known: which of the datapoints before it is the same. */
function stageRow(pendingPush: PendingPush, at: number, known: number | undefined): void {
  const { series, batch, firstSequenceNumber } = pendingPush;
  const isFresh = known === undefined;
  if (isFresh) {
    stage(series, batch, at);
    pendingPush.rows?.push(at);
  } else {
    pendingPush.rows ??= Array.from({ length: pendingPush.looked }, (_, row) => row);
  }
  pendingPush.looked = at + 1;
  // A datapoint that the same push brought before says nothing new.
  if (!isFresh && known >= firstSequenceNumber) return;
  const position = isFresh ? (pendingPush.rows?.length ?? pendingPush.looked) - 1 : undefined;
  // As lastRowAmong has it.
  const timestamp = batch.timed[at] === 1 ? batch.times[at] : undefined;
  if (timestamp === undefined) pendingPush.newest = undefined;
  if (timestamp === undefined || timestamp >= (pendingPush.newest ?? timestamp)) {
    if (pendingPush.newest !== undefined) pendingPush.newest = timestamp;
    pendingPush.last = position;
  }
}

/** Takes back what was staged and is not kept. */
export function clearStaged(series: Series): void {
  dropTail(series.memtableEntry.columns, series.memtableEntry.count);
  series.sequenceNumbers = undefined;
}

function stage(series: Series, batch: ColumnBatch, at: number): void {
  const sequenceNumber = nextSequenceNumber(series);
  appendRows(series.memtableEntry.columns, batch, at, at + 1);
  if (batch.timed[at] === 0) return;
  series.sequenceNumbers?.add(sequenceNumber);
  series.newestTimestamp = Math.max(series.newestTimestamp, batch.times[at] ?? 0);
}

/** Where outside chunks the series has the timestamp and value of a row, or undefined. */
function sequenceNumberOf(series: Series, batch: ColumnBatch, at: number): number | undefined {
  const timestamp = batch.times[at] ?? 0;
  if (batch.timed[at] === 0 || timestamp > series.newestTimestamp) return undefined;
  series.sequenceNumbers ??= listSequenceNumbers(series);
  return series.sequenceNumbers.find(timestamp, batch.texts?.[at] ?? batch.numbers[at] ?? 0);
}

function listSequenceNumbers(series: Series): SequenceIndex {
  const end = nextSequenceNumber(series);
  const index = emptyIndex(series);
  for (let at = series.flushed; at < end; at += 1) index.add(at);
  return index;
}

const emptyIndex = (series: Series): SequenceIndex => {
  const { flushed } = series;
  const room = nextSequenceNumber(series) - flushed;
  return new SequenceIndex(flushed, room, (count) => unflushedAt(series, count));
};

/** Lists what is outside chunks, and again if some of it went to chunks meanwhile. */
function* listInSteps(series: Series): Generator<void, void> {
  while (series.sequenceNumbers === undefined) {
    const { flushed } = series;
    const end = nextSequenceNumber(series);
    const isSame = () => series.flushed === flushed && nextSequenceNumber(series) === end;
    const index = emptyIndex(series);
    for (let at = flushed; at < end && isSame(); at += 1) {
      index.add(at);
      if ((at - flushed + 1) % datapointsPerStep === 0) yield;
    }
    if (isSame()) series.sequenceNumbers = index;
  }
}

/**
 * The positions, in the step that begins at `first`, of those that are in chunks; found in
 * order of time, so each chunk once.
 */
function findInChunks(
  chunks: ChunkReader,
  series: Series,
  batch: ColumnBatch,
  first: number,
): Set<number> | undefined {
  if (series.flushed === 0) return undefined;
  const { gap } = series;
  // Most pushes have none.
  let suspects: { readonly at: number; readonly timestamp: Instant }[] | undefined;
  const end = Math.min(first + datapointsPerStep, batch.count);
  for (let at = first; at < end; at += 1) {
    const timestamp = batch.times[at] ?? 0;
    if (batch.timed[at] === 1 && timestamp <= series.newestTimestamp && !isIn(gap, timestamp)) {
      suspects ??= [];
      suspects.push({ at, timestamp });
    }
  }
  if (suspects === undefined) return undefined;
  const inOrder = suspects.sort((a, b) => a.timestamp - b.timestamp);
  return chunks.inSnapshot(() => {
    const found = new Set<number>();
    const stored = chunks.createLookup(series.number);
    for (const { at, timestamp } of inOrder) {
      if (stored.valuesAt(timestamp).has(valueTextAt(batch, at))) found.add(at);
    }
    // Of a backlog that comes beside live values, the next push goes on there.
    series.gap = stored.gap();
    return found;
  });
}

const isIn = (gap: Gap | undefined, timestamp: Instant): boolean =>
  gap !== undefined && timestamp > gap.after && timestamp < gap.before;
