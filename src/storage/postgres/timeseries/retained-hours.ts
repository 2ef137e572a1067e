import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import type { Retaining } from '../../../domain/datapoints/retention/retaining.ts';
import { startOfDay } from '../../../domain/datapoints/retention/retention.ts';
import type { Stretches } from '../../../domain/datapoints/stretches.ts';
import type { Instant } from '../../../lib/clock.ts';
import { hoursAmong } from '../../chunks/retention-step.ts';
import { type StateRow, stateFromRow } from '../../sql/retentions.ts';
import { found, type SqlSession } from '../../sql/session.ts';

/** Hours of the first day before those that are asked for, and of so many damaged days. */
const hoursBeside = 24 * (1 + 32);

/** Days in their order, as many as have so many hours. */
export const daysWithHours = (condition: string, max: string): string => `
  select bucket, series, day, summary from (
    select bucket, series, day, summary, sum(hours) over (order by day) - hours as before
    from hourly_summaries where ${condition} order by day limit ${max}) as days
  where before < ${max} + ${hoursBeside}`;

const ofSensor = `
  (bucket, series) = (select bucket, series from sensors where device_id = $1 and sensor_id = $2)`;
const selectState = `select raw_before, open_hour from retained_series where ${ofSensor}`;
const selectDays = daysWithHours(`${ofSensor} and day >= $3 and day <= $4`, '$5::integer');
const selectStandsFrom = `
  select max(raw_before) as stands
  from unnest($1::text[], $2::text[]) as given (device, sensor)
    join sensors on device_id = device and sensor_id = sensor
    join retained_series using (bucket, series)
  where raw_before > $3`;

/** Reads the hours that retention left of datapoints, and how far it has come. */
export function createRetainedHours(reader: SqlSession) {
  return {
    async state({ deviceId, sensorId }: SensorRef): ReturnType<Retaining['state']> {
      return found(await reader.first<StateRow>(selectState, deviceId, sensorId), stateFromRow);
    },
    async hours({ deviceId, sensorId }: SensorRef, range: Range, max: number): Promise<Stretches> {
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
      const days = await reader.all<{ summary: Uint8Array }>(
        ...([selectDays, deviceId, sensorId, startOfDay(from), startOfDay(to), max] as const),
      );
      return hoursAmong(days, { from, to }, max);
    },
    async standsFrom(sensors: readonly SensorRef[], range: Range): Promise<Instant | undefined> {
      const row = await reader.first<{ stands: number | null }>(
        selectStandsFrom,
        sensors.map(({ deviceId }) => deviceId),
        sensors.map(({ sensorId }) => sensorId),
        range.from ?? Number.NEGATIVE_INFINITY,
      );
      return row?.stands ?? undefined;
    },
  };
}
