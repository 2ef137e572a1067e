import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import { hoursPerStep, type RetainedState } from '../../../domain/datapoints/retention/hours.ts';
import { startOfDay } from '../../../domain/datapoints/retention/retention.ts';
import type { Stretches } from '../../../domain/datapoints/stretches.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { ChunkHead } from '../../chunks/chunk.ts';
import { type Columns, sortByTime } from '../../chunks/columns.ts';
import { hoursAmong } from '../../chunks/retention-step.ts';
import type { DamagedRows } from '../../faults.ts';
import { bucketOf } from '../../sql/device-row.ts';
import { stateFromRow } from '../../sql/retentions.ts';
import type { SqlSession } from '../../sql/session.ts';
import { isHere } from '../parts.ts';
import type { SeriesKey } from './chunk-table.ts';
import { decodeHot, joinBatches } from './hot-rows.ts';
import { daysWithHours } from './retention-steps.ts';

/** The stored parts of a sensor in a range of time, as one commit left them. */
export interface SeriesParts extends SeriesKey {
  /** In order of time. */
  readonly heads: readonly ChunkHead[];
  /** By order time; they arrived after everything in chunks. */
  readonly unflushed: Columns;
  /** How far retention has come, and the hours it left: where they are asked for. */
  readonly state: RetainedState | undefined;
  readonly hours: (from: Instant, to: Instant, max: number) => Stretches;
}

/** The range of a sensor to load. */
export interface LoadedRange extends Range {
  /** Whether what retention left is loaded as well. */
  readonly hasHours?: boolean;
}

/** A range of a sensor whose row is known. */
export interface KnownRange extends SeriesKey {
  readonly from: Instant;
  readonly to: Instant;
}

// A single statement, so that nothing is missed that moves from "hot" to chunks meanwhile.
const selectParts = `
  select 1, hot.bucket, hot.series, ordinal, min_time, max_time, count, points
  from one join hot using (bucket, series)
  where hot.bucket = $5 and max_time >= $3 and min_time <= $4
  union all
  select 2, chunks.bucket, chunks.series, id, min_time, max_time, count, null
  from one join chunks using (bucket, series)
  where chunks.bucket = $5 and max_time >= $3 and min_time <= $4`;
const one = `
  select bucket, series from sensors
  where device_id = $1 and sensor_id = $2 and bucket = $5::smallint`;
const selectSeries = `
  with one as (${one})
  select 0 as kind, bucket, series, 0::bigint as id, null::float8 as min_time,
    null::float8 as max_time, 0 as count, null::bytea as points
  from one
  union all ${selectParts}`;
const isDay = `
  bucket = $5 and series = (select series from one) and day >= $6 and day <= $4`;
/** The same with what retention left: its state in the times of the first row. */
const selectRetained = `
  with one as (${one})
  select 0 as kind, bucket, series, 0::bigint as id, raw_before as min_time,
    open_hour as max_time, 0 as count, null::bytea as points
  from one left join (select * from retained_series where bucket = $5) as retained
    using (bucket, series)
  union all ${selectParts}
  union all
  select 3, bucket, series, 0, day, day, 0, summary
  from (${daysWithHours(isDay, `${hoursPerStep}`)}) as days`;
/** Of several sensors; in the order of each, so that each is found by its key. */
const selectSeveral = (here: string): string => `
  with given as (
    select * from unnest($1::smallint[], $2::bigint[], $3::float8[], $4::float8[])
      as given (bucket, series, from_time, to_time))
  select 1 as kind, found.* from given cross join lateral (
    select bucket, series, ordinal as id, min_time, max_time, count, points from hot
    where ${here} hot.bucket = given.bucket and hot.series = given.series
      and max_time >= from_time and min_time <= to_time order by ordinal) as found
  union all
  select 2, found.* from given cross join lateral (
    select bucket, series, id, min_time, max_time, count, null::bytea from chunks
    where ${here} chunks.bucket = given.bucket and chunks.series = given.series
      and max_time >= from_time and min_time <= to_time order by min_time) as found`;

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

/** Loads what is not in chunks, and what chunks there are. */
export function createPartsLoading(damaged: DamagedRows, hasParts = false) {
  function partsOf({ bucket, series }: SeriesKey, rows: readonly Row[]) {
    const hot = rows.filter(({ kind }) => kind === 1).sort((a, b) => a.id - b.id);
    const batches = hot.flatMap(({ id, points }) => {
      const read = () => decodeHot(points ?? new Uint8Array());
      return damaged.read('hot', `${series} ${id}`, read) ?? [];
    });
    const heads = rows
      .filter(({ kind }) => kind === 2)
      .map(headOf)
      .sort(byTime);
    return { bucket, series, heads, unflushed: sortByTime(joinBatches(batches)) };
  }

  return {
    /** Undefined: there is no such sensor. */
    async loadParts(
      session: SqlSession,
      sensor: SensorRef,
      { from, to, hasHours = false }: LoadedRange,
    ): Promise<SeriesParts | undefined> {
      const [first, last] = [from ?? Number.NEGATIVE_INFINITY, to ?? Number.POSITIVE_INFINITY];
      const rows = await session.all<Row>(
        ...([hasHours ? selectRetained : selectSeries, sensor.deviceId, sensor.sensorId] as const),
        ...[first, last, bucketOf(sensor.deviceId), ...(hasHours ? [startOfDay(first)] : [])],
      );
      const [one] = rows.filter(({ kind }) => kind === 0);
      if (one === undefined) return undefined;
      const days = rows
        .filter(({ kind }) => kind === 3)
        .sort((a, b) => (a.min_time ?? 0) - (b.min_time ?? 0))
        .map(({ points }) => ({ summary: points ?? new Uint8Array() }));
      return {
        ...{ ...partsOf(one, rows), state: stateOf(one) },
        hours: (start, end, max) => hoursAmong(days, { from: start, to: end }, max),
      };
    },

    /**
     * Of several sensors in one journey, without what retention left. Each is put together when it
     * is asked for, by its series, once.
     */
    async loadSeveral(
      session: SqlSession,
      ranges: readonly KnownRange[],
    ): Promise<(series: number) => SeriesParts | undefined> {
      if (ranges.length === 0) return () => undefined;
      const rows = await session.all<Row>(
        selectSeveral(isHere(hasParts, 1)),
        ranges.map(({ bucket }) => bucket),
        ranges.map(({ series }) => series),
        ranges.map(({ from }) => from),
        ranges.map(({ to }) => to),
      );
      const bySeries = Map.groupBy(rows, ({ series }) => series);
      const byKey = new Map(ranges.map((range) => [range.series, range]));
      const known = new Map<number, SeriesParts>();
      return (series) => {
        const key = byKey.get(series);
        const before = known.get(series);
        if (key === undefined || before !== undefined) return before;
        const parts = partsOf(key, bySeries.get(series) ?? []);
        const whole = { ...parts, state: undefined, hours: noHours };
        known.set(series, whole);
        return whole;
      };
    },
  };
}

const noHours: SeriesParts['hours'] = (from, to, max) => hoursAmong([], { from, to }, max);

const headOf = ({ id, min_time, max_time, count }: Row): ChunkHead => ({
  ...{ id, count, minTime: min_time ?? 0, maxTime: max_time ?? 0 },
});

const stateOf = ({ min_time, max_time }: Row): RetainedState | undefined =>
  min_time === null ? undefined : stateFromRow({ raw_before: min_time, open_hour: max_time });

const byTime = (a: ChunkHead, b: ChunkHead): number =>
  a.minTime - b.minTime || a.maxTime - b.maxTime || a.id - b.id;

export type PartsLoading = ReturnType<typeof createPartsLoading>;
