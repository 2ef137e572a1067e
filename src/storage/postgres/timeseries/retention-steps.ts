import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import type { HourTally, RetainedState } from '../../../domain/datapoints/retention/hours.ts';
import type { Retaining } from '../../../domain/datapoints/retention/retaining.ts';
import {
  type RetentionLimits,
  startOfDay,
} from '../../../domain/datapoints/retention/retention.ts';
import type { Stretches } from '../../../domain/datapoints/stretches.ts';
import type { Instant } from '../../../lib/clock.ts';
import { runAwaiting } from '../../chunks/engine-work.ts';
import {
  hoursAmong,
  nothingTaken,
  type RetentionReport,
  restoreHours,
  takeOld,
} from '../../chunks/retention-step.ts';
import { bucketOf } from '../../sql/device-row.ts';
import { retentionTablesOf } from '../../sql/retention-tables.ts';
import { type StateRow, stateFromRow } from '../../sql/retentions.ts';
import type { SqlSession } from '../../sql/session.ts';
import { found } from '../../sql/table.ts';
import { hourTables } from '../own-tables.ts';
import { isHere } from '../parts.ts';
import type { WriteSession } from '../writer.ts';
import { chunksOf, type SeriesKey } from './chunk-table.ts';
import type { HotLimits } from './hot-limits.ts';

/** Hours of the first day before those that are asked for, and of so many damaged days. */
const hoursBeside = 24 * (1 + 32);

/** Days in their order, as many as have so many hours. */
export const daysWithHours = (condition: string, max: string): string => `
  select bucket, series, day, summary from (
    select bucket, series, day, summary, sum(hours) over (order by day) - hours as before
    from hourly_summaries where ${condition} order by day limit ${max}) as days
  where before < ${max} + ${hoursBeside}`;

const ofSensor = `
  bucket = $3 and series = (
    select series from sensors where bucket = $3 and device_id = $1 and sensor_id = $2)`;
const selectState = `select raw_before, open_hour from retained_series where ${ofSensor}`;
const selectDays = daysWithHours(`${ofSensor} and day >= $4 and day <= $5`, '$6::integer');
const selectStandsFrom = (hasParts: boolean): string => `
  select max(raw_before) as stands
  from unnest($1::text[], $2::text[]) as given (device, sensor)
    join sensors on ${isHere(hasParts, 4)} device_id = device and sensor_id = sensor
    join retained_series using (bucket, series)
  where ${isHere(hasParts, 4).replace('bucket', 'retained_series.bucket')} raw_before > $3`;

/** Reads the hours that retention left of datapoints, and how far it has come. */
export function createRetainedHours(reader: SqlSession, hasParts: boolean) {
  return {
    async state({ deviceId, sensorId }: SensorRef): ReturnType<Retaining['state']> {
      const key = [deviceId, sensorId, bucketOf(deviceId)] as const;
      return found(await reader.first<StateRow>(selectState, ...key), stateFromRow);
    },
    async hours({ deviceId, sensorId }: SensorRef, range: Range, max: number): Promise<Stretches> {
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
      const days = await reader.all<{ summary: Uint8Array }>(
        ...([selectDays, deviceId, sensorId, bucketOf(deviceId)] as const),
        ...[startOfDay(from), startOfDay(to), max],
      );
      return hoursAmong(days, { from, to }, max);
    },
    async standsFrom(sensors: readonly SensorRef[], range: Range): Promise<Instant | undefined> {
      const row = await reader.first<{ stands: number | null }>(
        selectStandsFrom(hasParts),
        sensors.map(({ deviceId }) => deviceId),
        sensors.map(({ sensorId }) => sensorId),
        range.from ?? Number.NEGATIVE_INFINITY,
        ...(hasParts ? [sensors.map(({ deviceId }) => bucketOf(deviceId))] : []),
      );
      return row?.stands ?? undefined;
    },
  };
}

const isOf = 'bucket = $1 and series = $2';
/** Nobody else changes its data until the commit ends. */
const lockSensor = `
  select bucket, series from sensors
  where device_id = $1 and sensor_id = $2 and bucket = $3 for no key update`;
const oldestOutside = `select min(min_time) as time from hot where ${isOf}`;

/** Takes a step: hours that are too old, or the oldest datapoints; series -1: no such sensor. */
export async function takeOldDatapoints(
  session: WriteSession,
  { deviceId, sensorId }: SensorRef,
  { limits, ...ages }: RetentionLimits & { readonly limits: HotLimits },
): Promise<RetentionReport & { readonly series: number }> {
  const key = await session.first<SeriesKey>(lockSensor, deviceId, sensorId, bucketOf(deviceId));
  if (key === undefined) return { ...nothingTaken, series: -1, state: 'done' };
  const { bucket, series } = key;
  const { rawBefore } = ages;
  if (rawBefore !== undefined) {
    // Late datapoints reach their chunk first.
    const outside = await session.first<{ time: number | null }>(oldestOutside, bucket, series);
    if ((outside?.time ?? rawBefore) < rawBefore) return { ...nothingTaken, series, state: 'wait' };
  }
  const store = {
    ...retentionTablesOf(session, key, hourTables),
    chunks: chunksOf(session, key, limits),
  };
  return { ...(await runAwaiting(takeOld(store, ages))), series };
}

/** Adds hours to a sensor that they were summed up of elsewhere. */
export async function putHours(
  session: WriteSession,
  { deviceId, sensorId }: SensorRef,
  { state, given }: { readonly state: RetainedState; readonly given: readonly HourTally[] },
): Promise<'put' | 'missing'> {
  const key = await session.first<SeriesKey>(lockSensor, deviceId, sensorId, bucketOf(deviceId));
  if (key === undefined) return 'missing';
  await runAwaiting(restoreHours(retentionTablesOf(session, key, hourTables), state, given));
  return 'put';
}
