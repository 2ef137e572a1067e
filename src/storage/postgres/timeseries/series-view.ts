import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import { startOfDay } from '../../../domain/datapoints/retention/retention.ts';
import {
  hoursPerStep,
  type RetainedState,
} from '../../../domain/datapoints/retention/summarise-with-hours.ts';
import type { Stretches } from '../../../domain/datapoints/stretches.ts';
import type { Instant } from '../../../lib/clock.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import type { ChunkHead } from '../../chunks/chunk-head.ts';
import type { ChunkSource } from '../../chunks/chunk-source.ts';
import type { Columns } from '../../chunks/columns.ts';
import { sortByTime } from '../../chunks/columns-order.ts';
import type { DamagedRows } from '../../damaged-rows.ts';
import { stateFromRow } from '../../sql/retention-row.ts';
import type { Session } from '../connection.ts';
import { unavailable } from '../failures.ts';
import { type ChunkPart, lacking, type SentChunks } from '../shards/sent-chunks.ts';
import type { ChunkCache, Missing } from './chunk-cache.ts';
import { MissingError } from './chunk-cache.ts';
import type { HotLimits } from './hot-limits.ts';
import { decodeHot, joinBatches } from './hot-rows.ts';
import { daysWithHours, hoursAmong } from './retained-hours.ts';
import type { SeriesKey } from './series-key.ts';

/** What reads of a sensor are made from, as one commit left it. */
export interface SeriesView {
  readonly series: number;
  readonly chunks: ChunkSource;
  /** By order time; they arrived after everything in chunks. */
  readonly unflushed: Columns;
  /** How far retention has come, and the hours it left: where they are asked for. */
  readonly state: RetainedState | undefined;
  readonly hours: (from: Instant, to: Instant, max: number) => Stretches;
}

// One statement, so that nothing is missed that moves from "hot" to chunks meanwhile.
const selectParts = `
  select 1, hot.bucket, hot.series, ordinal, min_time, max_time, count, points
  from one join hot using (bucket, series) where max_time >= $3 and min_time <= $4
  union all
  select 2, chunks.bucket, chunks.series, id, min_time, max_time, count, null
  from one join chunks using (bucket, series) where max_time >= $3 and min_time <= $4`;
const selectSeries = `
  with one as (select bucket, series from sensors where device_id = $1 and sensor_id = $2)
  select 0 as kind, bucket, series, 0::bigint as id, null::float8 as min_time,
    null::float8 as max_time, 0 as count, null::bytea as points
  from one
  union all ${selectParts}`;
const isDay = '(bucket, series) = (select bucket, series from one) and day >= $5 and day <= $4';
/** The same with what retention left: its state in the times of the first row. */
const selectRetained = `
  with one as (select bucket, series from sensors where device_id = $1 and sensor_id = $2)
  select 0 as kind, bucket, series, 0::bigint as id, raw_before as min_time,
    open_hour as max_time, 0 as count, null::bytea as points
  from one left join retained_series using (bucket, series)
  union all ${selectParts}
  union all
  select 3, bucket, series, 0, day, day, 0, summary
  from (${daysWithHours(isDay, `${hoursPerStep}`)}) as days`;
const range = 'bucket = $1 and series = $2 and min_time >= $3 and min_time <= $4';
const selectBytes = (part: ChunkPart): string => `
  select id, ${part} as bytes, case when sent_bytes is not null then shard end as shard
  from chunks where ${range} and id = any($5::bigint[])`;
const selections = { points: selectBytes('points'), summary: selectBytes('summary') };

interface Row {
  readonly kind: 0 | 1 | 2 | 3;
  readonly bucket: number;
  readonly series: number;
  readonly id: number;
  readonly min_time: number | null;
  readonly max_time: number | null;
  readonly count: number;
  readonly points: Uint8Array | null;
}

interface BytesRow {
  readonly id: number;
  readonly bytes: Uint8Array | null;
  /** Where the bytes are instead. */
  readonly shard: number | null;
}

interface Loaded extends Omit<SeriesView, 'chunks'> {
  readonly bucket: number;
  /** In order of time. */
  readonly heads: readonly ChunkHead[];
}

/** Somebody else writes chunks anew all the time: this often is enough to find them all once. */
const attemptsMax = 20;

/** What is looked at. */
export interface Viewed extends Range {
  /** What retention left as well. */
  readonly hasHours?: boolean;
  /** In the middle of a commit, which everybody waits for. */
  readonly isUrgent?: boolean;
}

/** Looks at a sensor in a session; what the look needs of chunks is fetched when it asks for it. */
export type ViewSeries = <Result>(
  session: Session,
  sensor: SensorRef,
  viewed: Viewed,
  look: (view: SeriesView) => Result,
) => Promise<Result | undefined>;

/**
 * A look is plain, synchronous code, the same as that of the embedded engine. Where it lacks a
 * chunk it is abandoned, the chunk and its neighbours are fetched, and it begins anew: chunks never
 * change, so all that it saw holds. Answers undefined when there is no such sensor.
 */
export function createViewSeries(options: {
  readonly cache: ChunkCache;
  readonly limits: HotLimits;
  readonly damaged: DamagedRows;
  readonly sent: SentChunks;
}): ViewSeries {
  const { cache, limits, damaged, sent } = options;

  async function load(
    session: Session,
    sensor: SensorRef,
    { from, to, hasHours = false }: Viewed,
  ): Promise<Loaded | undefined> {
    const [first, last] = [from ?? Number.NEGATIVE_INFINITY, to ?? Number.POSITIVE_INFINITY];
    const rows = await session.all<Row>(
      ...([hasHours ? selectRetained : selectSeries, sensor.deviceId, sensor.sensorId] as const),
      ...[first, last, ...(hasHours ? [startOfDay(first)] : [])],
    );
    const [one] = rows.filter(({ kind }) => kind === 0);
    if (one === undefined) return undefined;
    const { bucket, series } = one;
    const hot = rows.filter(({ kind }) => kind === 1).sort((a, b) => a.id - b.id);
    const batches = hot.flatMap(({ id, points }) => {
      const read = () => decodeHot(points ?? new Uint8Array());
      return damaged.read('hot', `${series} ${id}`, read) ?? [];
    });
    const heads = rows
      .filter(({ kind }) => kind === 2)
      .map(headOf)
      .sort(byTime);
    const days = rows
      .filter(({ kind }) => kind === 3)
      .sort((a, b) => (a.min_time ?? 0) - (b.min_time ?? 0))
      .map(({ points }) => ({ summary: points ?? new Uint8Array() }));
    return {
      ...{ bucket, series, heads, unflushed: sortByTime(joinBatches(batches)) },
      state: stateOf(one),
      hours: (start, end, max) => hoursAmong(days, { from: start, to: end }, max),
    };
  }

  /** Whether all of it was still there. */
  async function fetch(
    session: Session,
    loaded: Loaded,
    missing: Missing,
    isUrgent: boolean,
  ): Promise<boolean> {
    const { bucket, series, heads } = loaded;
    const max = missing.what === 'summary' ? limits.summariesPerFetch : limits.chunksPerFetch;
    const wanted = neighbours(heads, missing, max);
    const times = wanted.map(({ minTime }) => minTime);
    const rows = await session.all<BytesRow>(
      selections[missing.what],
      ...[bucket, series, Math.min(...times), Math.max(...times)],
      wanted.map(({ id }) => id),
    );
    for (const { id, bytes, shard } of rows) {
      if (shard === null) missing.put(id, bytes ?? undefined);
    }
    await fetchSent(rows, loaded, missing, isUrgent);
    return rows.some(({ id }) => id === missing.chunk);
  }

  /** What other databases have of it. Of chunks beside the one that is needed nothing is a must. */
  async function fetchSent(
    rows: readonly BytesRow[],
    key: SeriesKey,
    missing: Missing,
    isUrgent: boolean,
  ): Promise<void> {
    const shard = rows.find(({ id }) => id === missing.chunk)?.shard ?? null;
    if (shard === null) return;
    const ids = rows.filter((row) => row.shard === shard).map(({ id }) => id);
    const how = { parts: [missing.what], isUrgent };
    const found = await sent.read(shard, key, ids, how);
    if (!found.has(missing.chunk)) throw lacking(shard, missing.chunk);
    for (const [id, bytes] of found) missing.put(id, bytes[missing.what] ?? undefined);
  }

  return async (session, sensor, viewed, look) => {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const loaded = await load(session, sensor, viewed);
      if (loaded === undefined) return undefined;
      const source = cache.sourceOf(loaded.heads);
      for (let isWhole = true; isWhole; ) {
        try {
          return look({ ...loaded, chunks: source });
        } catch (error) {
          if (!(error instanceof MissingError)) throw readable(error);
          isWhole = await fetch(session, loaded, error.missing, viewed.isUrgent === true);
        }
      }
    }
    throw unavailable('the datapoints are being put in order: try again in a moment');
  };
}

const readable = (error: unknown): unknown =>
  error instanceof DamagedBytesError
    ? unavailable('a part of the datapoints is damaged', error)
    : error;

const headOf = ({ id, min_time, max_time, count }: Row): ChunkHead => ({
  ...{ id, count, minTime: min_time ?? 0, maxTime: max_time ?? 0 },
});

const stateOf = ({ min_time, max_time }: Row): RetainedState | undefined =>
  min_time === null ? undefined : stateFromRow({ raw_before: min_time, open_hour: max_time });

const byTime = (a: ChunkHead, b: ChunkHead): number =>
  a.minTime - b.minTime || a.maxTime - b.maxTime || a.id - b.id;

/** The chunk that is missing, and those that the look comes to next. */
function neighbours(heads: readonly ChunkHead[], missing: Missing, max: number) {
  const at = heads.findIndex(({ id }) => id === missing.chunk);
  const ahead =
    missing.order === 'asc'
      ? heads.slice(at, at + max)
      : heads.slice(Math.max(0, at + 1 - max), at + 1);
  return ahead.filter(({ id }) => id === missing.chunk || !missing.has(id));
}
