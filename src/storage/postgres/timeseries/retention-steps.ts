import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { HourTally } from '../../../domain/datapoints/retention/hours.ts';
import {
  type RetentionLimits,
  startOfDay,
} from '../../../domain/datapoints/retention/retention.ts';
import type { RetainedState } from '../../../domain/datapoints/retention/summarise-with-hours.ts';
import {
  type DayRow,
  daysPerStep,
  nothingTaken,
  planRetention,
  type RetentionReport,
  type WrittenDay,
  withHours,
} from '../../chunks/retention-step.ts';
import { type CorrectionRow, correctionColumns, showByRows } from '../../sql/corrections.ts';
import type { StateRow } from '../../sql/retentions.ts';
import type { SqlSession } from '../../sql/session.ts';
import type { WriteSession } from '../writer.ts';
import { type SeriesChunks, takeBefore } from './chunk-table.ts';
import type { HotLimits } from './hot-limits.ts';
import type { SeriesKey } from './series-key.ts';

const isOf = 'bucket = $1 and series = $2';
const findSensor = 'select bucket, series from sensors where device_id = $1 and sensor_id = $2';
const oldestOutside = `select min(min_time) as time from hot where ${isOf}`;
const dropDays = `
  with gone as (
    delete from hourly_summaries where ${isOf} and day in (
      select day from hourly_summaries where ${isOf} and day < $3 order by day limit ${daysPerStep})
    returning hours, octet_length(summary) as bytes)
  select coalesce(sum(hours), 0) as hours, coalesce(sum(bytes), 0) as bytes from gone`;
const findState = `select raw_before, open_hour from retained_series where ${isOf}`;
const putState = `
  insert into retained_series (bucket, series, datapoints, raw_before, open_hour)
  values ($1, $2, $3, $4, $5)
  on conflict (bucket, series) do update
    set datapoints = retained_series.datapoints + excluded.datapoints,
      raw_before = greatest(retained_series.raw_before, excluded.raw_before),
      open_hour = excluded.open_hour`;
const addBytes = `update sensors set bytes = greatest(0, bytes + $3) where ${isOf}`;
const findDays = `
  select day, summary from hourly_summaries where ${isOf} and day >= $3 and day <= $4 order by day`;
const putDays = `
  insert into hourly_summaries (bucket, series, day, hours, summary)
  select $1, $2, day, hours, substring($3::bytea from start + 1 for length)
  from unnest($4::float8[], $5::integer[], $6::integer[], $7::integer[])
    as rows (day, hours, start, length)
  on conflict (bucket, series, day) do update
    set hours = excluded.hours, summary = excluded.summary`;
const listCorrections = `
  select '' as device_id, '' as sensor_id, ${correctionColumns} from corrections
  where ${isOf} order by position`;
const dropCorrections = `delete from corrections where ${isOf} and to_time < $3`;

/** The report of a step of retention, with its series; -1: there is no such sensor. */
export interface RetentionOutcome extends RetentionReport {
  readonly series: number;
}

/** The age limits of a step, and the limits of the chunks that it takes from. */
export interface OldTaking extends RetentionLimits {
  readonly limits: HotLimits;
}

/** Takes one step: hours that are too old, or else the oldest datapoints. */
export async function takeOldDatapoints(
  session: WriteSession,
  { deviceId, sensorId }: SensorRef,
  { rawBefore, hourlyBefore, limits }: OldTaking,
): Promise<RetentionOutcome> {
  const key = await session.first<SeriesKey>(findSensor, deviceId, sensorId);
  if (key === undefined) return { ...nothingTaken, series: -1, state: 'done' };
  const { bucket, series } = key;
  if (rawBefore !== undefined) {
    // Late datapoints reach their chunk first.
    const outside = await session.first<{ time: number | null }>(oldestOutside, bucket, series);
    if ((outside?.time ?? rawBefore) < rawBefore) return { ...nothingTaken, series, state: 'wait' };
  }
  if (hourlyBefore !== undefined) {
    const gone = await session.first<{ hours: number; bytes: number }>(
      ...([dropDays, bucket, series, hourlyBefore] as const),
    );
    if (gone !== undefined && gone.hours > 0) {
      await session.run(addBytes, bucket, series, -gone.bytes);
      return { ...nothingTaken, ...gone, series, state: 'more' };
    }
  }
  if (rawBefore === undefined) return { ...nothingTaken, series, state: 'done' };
  const chunks = { session, key, limits };
  return { ...(await takeRaw(chunks, rawBefore, hourlyBefore)), series };
}

/** Takes from the oldest chunk what is too old. */
async function takeRaw(
  chunks: SeriesChunks,
  rawBefore: number,
  hourlyBefore: number | undefined,
): Promise<RetentionReport> {
  const { session, key } = chunks;
  const { bucket, series } = key;
  const taken = await takeBefore(chunks, { before: rawBefore, days: daysPerStep });
  if (taken === undefined) return { ...nothingTaken, state: 'done' };
  const state = await session.first<StateRow>(findState, bucket, series);
  const [first, last] = [startOfDay(taken.firstTime), startOfDay(taken.lastTime)];
  const { report, ...plan } = planRetention({
    ...{ taken, rawBefore, hourlyBefore },
    openHour: state?.open_hour ?? undefined,
    there: await session.all<DayRow>(findDays, bucket, series, first, last),
    shown: showByRows(await session.all<CorrectionRow>(listCorrections, bucket, series)),
  });
  await writeDays(session, key, plan.days);
  await session.run(putState, bucket, series, report.datapoints, plan.stands, plan.openHour);
  await session.run(addBytes, bucket, series, -report.bytes);
  if (report.state === 'done') await session.run(dropCorrections, bucket, series, rawBefore);
  return report;
}

/** Adds hours to a sensor that they were summed up of elsewhere. */
export async function restoreHours(
  session: SqlSession,
  { deviceId, sensorId }: SensorRef,
  { state, given }: { readonly state: RetainedState; readonly given: readonly HourTally[] },
): Promise<'put' | 'missing'> {
  const key = await session.first<SeriesKey>(findSensor, deviceId, sensorId);
  if (key === undefined) return 'missing';
  const { bucket, series } = key;
  const { rawBefore, openHour = null } = state;
  await session.run(putState, bucket, series, 0, rawBefore, openHour);
  const touched = given.map(({ begin }) => startOfDay(begin));
  if (touched.length === 0) return 'put';
  const range = [
    touched.reduce((a, b) => Math.min(a, b)),
    touched.reduce((a, b) => Math.max(a, b)),
  ];
  const there = await session.all<DayRow>(findDays, bucket, series, ...range);
  const { days, bytes } = withHours(there, given);
  await writeDays(session, key, days);
  await session.run(addBytes, bucket, series, bytes);
  return 'put';
}

async function writeDays(
  session: SqlSession,
  { bucket, series }: SeriesKey,
  days: readonly WrittenDay[],
): Promise<void> {
  if (days.length === 0) return;
  let end = 0;
  const starts = days.map(({ summary }) => {
    end += summary.length;
    return end - summary.length;
  });
  await session.run(
    ...([putDays, bucket, series, Buffer.concat(days.map(({ summary }) => summary))] as const),
    days.map(({ day }) => day),
    days.map(({ hours }) => hours),
    starts,
    days.map(({ summary }) => summary.length),
  );
}
