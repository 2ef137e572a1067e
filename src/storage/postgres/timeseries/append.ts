import {
  bytesPerWeight,
  type ColumnBatch,
  lastRowAmong,
  selectRows,
  valueTextAt,
  weightOfBatch,
  withReceipts,
} from '../../../domain/datapoints/column-batch.ts';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { AppendOutcome, Push } from '../../../domain/datapoints/datapoint-store.ts';
import type { Instant } from '../../../lib/clock.ts';
import { runInSteps, yieldToEventLoop } from '../../../lib/event-loop.ts';
import { rowAfter, rowFrom } from '../../chunks/columns.ts';
import type { SqlSession } from '../../sql/session.ts';
import { unavailable } from '../failures.ts';
import type { WriteSession } from '../writer.ts';
import { changeSensors, insertHot, write } from './append-statements.ts';
import type { SeriesKey } from './chunk-table.ts';
import type { HotLimits } from './hot-limits.ts';
import { type HotRow, toHotRows } from './hot-rows.ts';
import { findIds, keepIds, outcomeByIdOf } from './kept-ids.ts';
import type { KnownRange, PartsLoading, SeriesParts } from './series-parts.ts';
import { type SeriesState, statesOf } from './series-state.ts';
import type { ViewSeries } from './series-view.ts';

/** Where datapoints of these batches may be stored already; undefined: all of them are new. */
function suspectRange(
  { bucket, series, newestStored: newest }: SeriesKey & { readonly newestStored: Instant },
  batches: readonly ColumnBatch[],
): KnownRange | undefined {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { count, times, timed } of batches) {
    for (let row = 0; row < count; row += 1) {
      const time = times[row] ?? 0;
      if (timed[row] === 0 || time > newest) continue;
      if (time < from) from = time;
      if (time > to) to = time;
    }
  }
  return from > to ? undefined : { bucket, series, from, to };
}

/**
 * The rows of a batch whose timestamps and values are stored already, or staged before it in the
 * same commit. Only those are looked for that may be: a timestamp beyond the newest is new, and one
 * beyond the newest that is stored was staged at most.
 */
async function findRepeats(options: {
  readonly session: SqlSession;
  readonly view: ViewSeries;
  readonly sensor: SensorRef;
  readonly newest: Instant;
  readonly newestStored: Instant;
  readonly staged: readonly ColumnBatch[];
  readonly batch: ColumnBatch;
  /** Stored parts in the range of all datapoints that may be there; absent: the store is asked. */
  readonly parts: SeriesParts | undefined;
}): Promise<ReadonlySet<number>> {
  const { session, view, sensor, newest, newestStored, staged, batch, parts } = options;
  const suspects: { readonly row: number; readonly time: Instant }[] = [];
  for (let row = 0; row < batch.count; row += 1) {
    const time = batch.times[row] ?? 0;
    if (batch.timed[row] === 1 && time <= newest) suspects.push({ row, time });
  }
  const found = new Set<number>();
  if (suspects.length === 0) return found;
  const stored = suspects.filter(({ time }) => time <= newestStored);
  if (stored.length > 0) {
    stored.sort((a, b) => a.time - b.time);
    const range = { from: stored[0]?.time ?? 0, to: stored.at(-1)?.time ?? 0 };
    const outside = new Set<string>();
    let at = 0;
    // Where a chunk was missing it goes on: the sensor is locked, and nothing of it changes.
    await view(session, sensor, { ...range, parts }, ({ chunks, series, unflushed }) => {
      const lookup = chunks.createLookup(series);
      const rows = [rowFrom(unflushed.times, range.from), rowAfter(unflushed.times, range.to)];
      return runInSteps(
        (function* () {
          if (at === 0) yield* addKeys(outside, unflushed, rows);
          for (let one = stored[at]; one !== undefined; one = stored[at]) {
            const text = valueTextAt(batch, one.row);
            const isOutside = outside.has(`${one.time} ${text}`);
            if (isOutside || lookup.valuesAt(one.time).has(text)) found.add(one.row);
            at += 1;
            yield;
          }
        })(),
      );
    });
  }
  await runInSteps(
    (function* () {
      const before = new Set<string>();
      for (const one of staged) yield* addKeys(before, one);
      for (const { row, time } of before.size > 0 ? suspects : []) {
        if (before.has(`${time} ${valueTextAt(batch, row)}`)) found.add(row);
        yield;
      }
    })(),
  );
  return found;
}

function* addKeys(
  keys: Set<string>,
  batch: ColumnBatch,
  [from = 0, to = batch.count]: readonly number[] = [],
): Generator<void> {
  for (let row = from; row < to; row += 1) {
    if (batch.timed[row] === 1) keys.add(`${batch.times[row]} ${valueTextAt(batch, row)}`);
    yield;
  }
}

/** Appends a batch inside a transaction: the sensors' rows say what is stored already. */
export async function appendPushes(
  session: WriteSession,
  batch: readonly Push[],
  looking: AppendReads,
): Promise<{
  readonly outcomes: readonly AppendOutcome[];
  readonly rows: readonly Pick<HotRow, 'bucket' | 'series' | 'count'>[];
}> {
  const { limits } = looking;
  const outcomes: AppendOutcome[] = batch.map(() => ({ kind: 'missing' }));
  const states = await statesOf(session, batch, looking);
  const ids = await findIds(session, batch);
  for (let from = 0; from < states.length; from += limits.seriesPerLook) {
    const some = states.slice(from, from + limits.seriesPerLook);
    const ranges = some.map((state) => suspectRange(state, batchesOf(state, batch)));
    const partsOf = await looking.loadSeveral(
      session,
      ranges.filter((range) => range !== undefined),
    );
    for (const state of some) {
      const stage = { ...looking, session, state, parts: partsOf(state.series) };
      for (const place of state.places) {
        const push = batch[place];
        if (push === undefined) continue;
        const settled = outcomeByIdOf(ids.get(place), looking.own);
        outcomes[place] = settled ?? (await outcomeOf(stage, push.batch));
      }
    }
  }
  const changed = states.filter(({ added }) => added > 0);
  const rows = await rowsOf(changed, limits);
  if (rows.length > 0) writeRows(session, changed, rows, looking);
  keepIds(session, batch, { ids, outcomes });
  return { outcomes, rows };
}

/** How an append reads what is stored. */
interface AppendReads extends Pick<PartsLoading, 'loadSeveral'> {
  readonly view: ViewSeries;
  readonly limits: HotLimits;
  readonly hasParts: boolean;
  /** The process, where several serve. */
  readonly own: number | undefined;
}

interface Stage extends AppendReads {
  readonly session: WriteSession;
  readonly state: SeriesState;
  readonly parts: SeriesParts | undefined;
}

const batchesOf = ({ places }: SeriesState, batch: readonly Push[]): readonly ColumnBatch[] =>
  places.flatMap((place) => batch[place]?.batch ?? []);

async function outcomeOf(stage: Stage, batch: ColumnBatch): Promise<AppendOutcome> {
  const { state } = stage;
  const { lastReceived } = state;
  const newest = Math.max(state.newest, lastReceived);
  const fresh = await freshFor(stage, stage.own === undefined ? batch : inOrder(state, batch));
  if (fresh.count === 0) return { kind: 'stored', fresh };
  const weight = weightOfBatch(fresh);
  state.added += fresh.count;
  state.took += bytesPerWeight * weight;
  state.staged.push(fresh);
  if (stage.own === undefined) return { kind: 'stored', fresh, weight };
  const isAhead = fresh.times.subarray(0, fresh.count).every((time) => time >= newest);
  const isLater = (fresh.received[0] ?? 0) > lastReceived;
  return { kind: 'stored', fresh, weight, isAhead, isLater };
}

/** A last receipt so far ahead was made by a wrong clock, which pushes after it do not keep. */
const raisedMsMax = 60_000;

/** Receipts so far ahead of the clock go no further: pushes never pause, or a clock was wrong. */
const apartMsMax = 10;

/**
 * The batch, received after what processes committed before it: so the receipts of a sensor are in
 * the order of commits, by which rules are evaluated.
 */
function inOrder(state: SeriesState, batch: ColumnBatch): ColumnBatch {
  const { lastReceived } = state;
  const { received, count } = batch;
  const aheadMs = lastReceived - (received[0] ?? lastReceived);
  const earliest = aheadMs < apartMsMax ? lastReceived + 1 : lastReceived;
  const isRaised = aheadMs >= 0 && aheadMs <= raisedMsMax;
  const last = received[count - 1] ?? lastReceived;
  state.lastReceived = isRaised ? Math.max(earliest, last) : last;
  if (!isRaised) return batch;
  const raised = received.map((at) => Math.max(at, earliest));
  return withReceipts(batch, raised);
}

/** The datapoints of a sensor in a commit are one row, unless that would be too long. */
async function rowsOf(
  states: readonly SeriesState[],
  { hotRowDatapointsMax: most }: HotLimits,
): Promise<readonly HotRow[]> {
  const rows: HotRow[] = [];
  for (const state of states) {
    for (const row of toHotRows(state, state.arrivals, state.staged, most)) {
      rows.push(row);
      if (row.count === most) await yieldToEventLoop();
    }
  }
  return rows;
}

/** The new part of a push; moves the newest timestamp and the last value of its sensor. */
async function freshFor(
  { session, view, state, parts }: Stage,
  batch: ColumnBatch,
): Promise<ColumnBatch> {
  if (isBeyond(batch, state.newest)) {
    moveNewest(state, batch);
    const row = lastRowAmong(batch);
    if (row !== undefined) state.last = { batch, row };
    return batch;
  }
  const repeats = await findRepeats({ ...state, session, view, batch, parts });
  const { freshRows, saidRows } = await runInSteps(freshOf(batch, repeats));
  const fresh = freshRows.length === batch.count ? batch : selectRows(batch, freshRows);
  moveNewest(state, fresh);
  const lastSaid = lastRowAmong(selectRows(batch, saidRows));
  const last = lastSaid === undefined ? undefined : saidRows[lastSaid];
  // A datapoint that was stored already says nothing new.
  if (last !== undefined && freshRows.includes(last)) state.last = { batch, row: last };
  return fresh;
}

/** Whether all datapoints are new for certain: their timestamps ascend beyond all there are. */
function isBeyond({ count, times, timed }: ColumnBatch, newest: number): boolean {
  let before = newest;
  for (let row = 0; row < count; row += 1) {
    if (timed[row] === 0) continue;
    const time = times[row] ?? 0;
    if (time <= before) return false;
    before = time;
  }
  return true;
}

/** Rows that are new, and those that say anything: a repeat within its own push does not. */
function* freshOf(batch: ColumnBatch, repeats: ReadonlySet<number>) {
  const freshRows: number[] = [];
  const saidRows: number[] = [];
  const keys = new Set<string>();
  for (let row = 0; row < batch.count; row += 1) {
    yield;
    const isTimed = batch.timed[row] === 1;
    const key = isTimed ? `${batch.times[row]} ${valueTextAt(batch, row)}` : undefined;
    if (key !== undefined && keys.has(key)) continue;
    saidRows.push(row);
    if (repeats.has(row)) continue;
    if (key !== undefined) keys.add(key);
    freshRows.push(row);
  }
  return { freshRows, saidRows };
}

function moveNewest(state: SeriesState, { count, times, timed }: ColumnBatch): void {
  for (let row = 0; row < count; row += 1) {
    if (timed[row] === 1) state.newest = Math.max(state.newest, times[row] ?? 0);
  }
}

function writeRows(
  session: WriteSession,
  states: readonly SeriesState[],
  rows: readonly HotRow[],
  { limits, hasParts }: AppendReads,
): void {
  const lasts = states.map(({ last }) => last && lastColumns(last));
  const blob = Buffer.concat(rows.map(({ points }) => points));
  if (blob.length > limits.batchBytesMax) {
    throw unavailable('too much arrived at once: try again in a moment');
  }
  let end = 0;
  const starts = rows.map(({ points }) => {
    end += points.length;
    return end - points.length;
  });
  const changes = [
    states.map(({ bucket }) => bucket),
    states.map(({ series }) => series),
    states.map(({ added }) => added),
    states.map(({ took }) => took),
    states.map(({ newest }) => (Number.isFinite(newest) ? newest : null)),
    lasts.map((last) => last !== undefined),
    lasts.map((last) => last?.at ?? null),
    lasts.map((last) => last?.received ?? null),
    lasts.map((last) => last?.value ?? null),
  ];
  const inserted = [
    blob,
    rows.map(({ bucket }) => bucket),
    rows.map(({ series }) => series),
    rows.map(({ ordinal }) => ordinal),
    rows.map(({ minTime }) => minTime),
    rows.map(({ maxTime }) => maxTime),
    rows.map(({ count }) => count),
    starts,
    rows.map(({ points }) => points.length),
  ];
  if (hasParts) {
    session.send(changeSensors, ...changes);
    session.send(insertHot, ...inserted);
  } else session.send(write, ...changes, ...inserted);
}

function lastColumns({ batch, row }: NonNullable<SeriesState['last']>) {
  return {
    at: batch.timed[row] === 1 ? (batch.times[row] ?? 0) : null,
    received: batch.received[row] ?? 0,
    value: valueTextAt(batch, row),
  };
}
