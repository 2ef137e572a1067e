import {
  type ColumnBatch,
  lastRowAmong,
  selectRows,
  valueTextAt,
} from '../../../domain/datapoints/column-batch.ts';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { AppendOutcome, Push } from '../../../domain/datapoints/datapoint-store.ts';
import { bytesPerWeight, weightOfBatch } from '../../../domain/datapoints/weight.ts';
import { yieldToEventLoop } from '../../../lib/event-loop.ts';
import { unavailable } from '../failures.ts';
import { ShardAwayError } from '../shards/sent-chunks.ts';
import type { WriteSession } from '../writer.ts';
import { findRepeats } from './find-repeats.ts';
import type { HotLimits } from './hot-limits.ts';
import { type HotRow, toHotRows } from './hot-rows.ts';
import type { ViewSeries } from './series-view.ts';

const selectSensors = `
  select place::integer as place, bucket, series, arrivals, newest
  from unnest($1::text[], $2::text[]) with ordinality as given (device, sensor, place)
  join sensors on device_id = device and sensor_id = sensor`;
const write = `
  with changed as (
    update sensors set arrivals = arrivals + added, bytes = bytes + took,
      newest = greatest(sensors.newest, given.newest),
      last_at = case when moves then given.last_at else sensors.last_at end,
      last_received = case when moves then given.last_received else sensors.last_received end,
      last_value = case when moves then given.last_value else sensors.last_value end
    from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[],
      $6::boolean[], $7::float8[], $8::float8[], $9::text[])
      as given (bucket, series, added, took, newest, moves, last_at, last_received, last_value)
    where sensors.bucket = given.bucket and sensors.series = given.series)
  insert into hot (bucket, series, ordinal, min_time, max_time, count, points)
  select bucket, series, ordinal, min_time, max_time, count,
    substring($10::bytea from start + 1 for length)
  from unnest($11::smallint[], $12::bigint[], $13::bigint[], $14::float8[], $15::float8[],
    $16::integer[], $17::integer[], $18::integer[])
    as rows (bucket, series, ordinal, min_time, max_time, count, start, length)`;

/** A sensor as the commit finds it, and what the commit brings. */
interface SeriesState {
  readonly sensor: SensorRef;
  readonly bucket: number;
  readonly series: number;
  arrivals: number;
  /** No stored timestamp is later. */
  newest: number;
  added: number;
  took: number;
  last: { readonly batch: ColumnBatch; readonly row: number } | undefined;
  readonly staged: ColumnBatch[];
}

/** What an append did, for whoever moves datapoints to chunks. */
export interface Appended {
  readonly outcomes: readonly AppendOutcome[];
  readonly rows: readonly Pick<HotRow, 'bucket' | 'series' | 'count'>[];
}

/** Appends a batch inside a transaction: the sensors' rows say what is stored already. */
export async function appendPushes(
  session: WriteSession,
  batch: readonly Push[],
  { view, limits }: { readonly view: ViewSeries; readonly limits: HotLimits },
): Promise<Appended> {
  const states = await statesOf(session, batch);
  const rows: HotRow[] = [];
  const outcomes: AppendOutcome[] = [];
  for (const [at, push] of batch.entries()) {
    const state = states[at];
    if (state === undefined) {
      outcomes.push({ kind: 'missing' });
      continue;
    }
    const fresh = await stage(session, view, state, push.batch);
    if (fresh instanceof ShardAwayError) {
      outcomes.push({ kind: 'failed', reason: fresh });
      continue;
    }
    if (fresh.count === 0) {
      outcomes.push({ kind: 'stored', fresh });
      continue;
    }
    const first = state.arrivals;
    for (const row of toHotRows(state, first, fresh, limits.hotRowDatapointsMax)) {
      rows.push(row);
      if (row.count === limits.hotRowDatapointsMax) await yieldToEventLoop();
    }
    const weight = weightOfBatch(fresh);
    state.arrivals += fresh.count;
    state.added += fresh.count;
    state.took += bytesPerWeight * weight;
    state.staged.push(fresh);
    outcomes.push({ kind: 'stored', fresh, weight });
  }
  const changed = [...new Set(states)].filter((state) => state !== undefined && state.added > 0);
  // Those that are undefined have just been left out.
  if (rows.length > 0) writeRows(session, changed as SeriesState[], rows, limits);
  return { outcomes, rows };
}

async function statesOf(
  session: WriteSession,
  batch: readonly Push[],
): Promise<readonly (SeriesState | undefined)[]> {
  const found = await session.all<{
    place: number;
    bucket: number;
    series: number;
    arrivals: number;
    newest: number | null;
  }>(
    selectSensors,
    batch.map(({ deviceId }) => deviceId),
    batch.map(({ sensorId }) => sensorId),
  );
  const states: (SeriesState | undefined)[] = batch.map(() => undefined);
  const bySeries = new Map<number, SeriesState>();
  for (const { place, bucket, series, arrivals, newest } of found) {
    const push = batch[place - 1];
    if (push === undefined) continue;
    const state = bySeries.get(series) ?? {
      ...{ sensor: push, bucket, series, arrivals, newest: newest ?? Number.NEGATIVE_INFINITY },
      ...{ added: 0, took: 0, last: undefined, staged: [] },
    };
    bySeries.set(series, state);
    states[place - 1] = state;
  }
  return states;
}

/**
 * What is new of a push; moves the newest timestamp and the last value of its sensor. Nobody knows
 * while datapoints of its time are at a shard that is away: that push alone fails.
 */
async function stage(
  session: WriteSession,
  view: ViewSeries,
  state: SeriesState,
  batch: ColumnBatch,
): Promise<ColumnBatch | ShardAwayError> {
  if (isBeyond(batch, state.newest)) {
    moveNewest(state, batch);
    state.last = lastOf(batch, undefined) ?? state.last;
    return batch;
  }
  const repeats = await findRepeats({ ...state, session, view, batch }).catch(unlessAway);
  if (repeats instanceof ShardAwayError) return repeats;
  const { freshRows, saidRows } = freshOf(batch, repeats);
  const fresh = freshRows.length === batch.count ? batch : selectRows(batch, freshRows);
  moveNewest(state, fresh);
  const lastSaid = lastRowAmong(selectRows(batch, saidRows));
  const last = lastSaid === undefined ? undefined : saidRows[lastSaid];
  // One that was stored already says nothing new.
  if (last !== undefined && freshRows.includes(last)) state.last = { batch, row: last };
  return fresh;
}

function unlessAway(error: unknown): ShardAwayError {
  if (error instanceof ShardAwayError) return error;
  throw error;
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
function freshOf(batch: ColumnBatch, repeats: ReadonlySet<number>) {
  const freshRows: number[] = [];
  const saidRows: number[] = [];
  const keys = new Set<string>();
  for (let row = 0; row < batch.count; row += 1) {
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

function lastOf(batch: ColumnBatch, otherwise: undefined): SeriesState['last'] {
  const row = lastRowAmong(batch);
  return row === undefined ? otherwise : { batch, row };
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
  limits: HotLimits,
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
  session.send(
    write,
    states.map(({ bucket }) => bucket),
    states.map(({ series }) => series),
    states.map(({ added }) => added),
    states.map(({ took }) => took),
    states.map(({ newest }) => (Number.isFinite(newest) ? newest : null)),
    lasts.map((last) => last !== undefined),
    lasts.map((last) => last?.at ?? null),
    lasts.map((last) => last?.received ?? null),
    lasts.map((last) => last?.value ?? null),
    blob,
    rows.map(({ bucket }) => bucket),
    rows.map(({ series }) => series),
    rows.map(({ ordinal }) => ordinal),
    rows.map(({ minTime }) => minTime),
    rows.map(({ maxTime }) => maxTime),
    rows.map(({ count }) => count),
    starts,
    rows.map(({ points }) => points.length),
  );
}

function lastColumns({ batch, row }: NonNullable<SeriesState['last']>) {
  return {
    at: batch.timed[row] === 1 ? (batch.times[row] ?? 0) : null,
    received: batch.received[row] ?? 0,
    value: valueTextAt(batch, row),
  };
}
