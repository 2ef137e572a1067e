import type { Retention, RetentionScope } from '../../domain/datapoints/retention/retention.ts';
import { retentionLimits } from '../../domain/datapoints/retention/retention-limits.ts';
import type { RetainedSensor } from '../../domain/datapoints/retention/retention-store.ts';
import type { RetainedState } from '../../domain/datapoints/retention/summarise-with-hours.ts';
import type { DeviceId, SensorId, Username } from '../../domain/ids.ts';

/** The days that a row of retentions sets. */
export interface DaysRow {
  readonly raw_days: number | null;
  readonly hourly_days: number | null;
}

/** A sensor with the nearest retention that is set for it. */
export interface RetainedRow extends DaysRow {
  readonly series: number;
  readonly device_id: string;
  readonly sensor_id: string;
  readonly owner: string;
  readonly source: RetentionScope['kind'] | null;
  readonly oldest: number | null;
  readonly oldest_hour: number | null;
}

/** How far retention has come with a sensor. */
export interface StateRow {
  readonly raw_before: number;
  readonly open_hour: number | null;
}

/** The retention of a row: a value that is no number of days deletes nothing. */
export function retentionOf({ raw_days: rawDays, hourly_days: hourlyDays }: DaysRow): Retention {
  return {
    ...(isDays(rawDays) && { rawDays }),
    ...(isDays(hourlyDays) && { hourlyDays }),
  };
}

const isDays = (days: number | null): days is number =>
  days !== null && days >= 1 && days <= retentionLimits.retentionDaysMax;

/** Rows hold what parsed ids were written from. */
export const sensorFromRow = (row: RetainedRow): RetainedSensor => ({
  number: row.series,
  deviceId: row.device_id as DeviceId,
  sensorId: row.sensor_id as SensorId,
  owner: row.owner as Username,
  ...(row.oldest !== null && { oldest: row.oldest }),
  ...(row.oldest_hour !== null && { oldestHour: row.oldest_hour }),
  ...(row.source !== null && { nearest: { retention: retentionOf(row), source: row.source } }),
});

export const stateFromRow = ({ raw_before, open_hour }: StateRow): RetainedState => ({
  rawBefore: raw_before,
  ...(open_hour !== null && { openHour: open_hour }),
});
