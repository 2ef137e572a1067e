import {
  type DayRow,
  daysPerStep,
  type RetentionTables,
  readHours,
} from '../chunks/retention-step.ts';
import { type CorrectionRow, correctionColumns, showByRows } from './corrections.ts';
import type { StateRow } from './retentions.ts';
import type { ChangeSession } from './session.ts';

/** The statements of retention that differ by engine. */
export interface HourTables {
  /** Puts a day of a series: $3 its first instant, $4 how many hours it has, $5 these. */
  readonly putDay: string;
  /** The table that counts the bytes of each series. */
  readonly bytes: 'sensors' | 'last_values';
}

const isOf = 'bucket = $1 and series = $2';
const oldestDays = `
  select day, summary from hourly_summaries
  where ${isOf} and day < $3 order by day limit ${daysPerStep}`;
const dropDays = `delete from hourly_summaries where ${isOf} and day <= $3`;
const findState = `select raw_before, open_hour from retained_series where ${isOf}`;
const putState = `
  insert into retained_series (bucket, series, datapoints, raw_before, open_hour)
  select bucket, series, $3, $4, $5 from sensors where ${isOf}
  on conflict (bucket, series) do update
    set datapoints = retained_series.datapoints + excluded.datapoints,
      raw_before = case when retained_series.raw_before > excluded.raw_before
        then retained_series.raw_before else excluded.raw_before end,
      open_hour = excluded.open_hour`;
const findDays = `
  select day, summary from hourly_summaries where ${isOf} and day >= $3 and day <= $4 order by day`;
const listCorrections = `
  select '' as device_id, '' as sensor_id, ${correctionColumns} from corrections
  where ${isOf} order by position`;
const dropCorrections = `delete from corrections where ${isOf} and to_time < $3`;

/** The tables of retention in either engine, of one series inside a commit. */
export function retentionTablesOf(
  session: Omit<ChangeSession, 'atEnd'>,
  { bucket, series }: { readonly bucket: number; readonly series: number },
  { putDay, bytes: table }: HourTables,
): RetentionTables {
  const key = [bucket, series] as const;
  return {
    async dropDays(before) {
      const days = await session.all<DayRow>(oldestDays, ...key, before);
      const last = days.at(-1);
      if (last !== undefined) await session.run(dropDays, ...key, last.day);
      let [hours, bytes] = [0, 0];
      for (const { summary } of days) {
        hours += readHours(summary).length || 1;
        bytes += summary.length;
      }
      return { hours, bytes };
    },
    openHour: async () =>
      (await session.first<StateRow>(findState, ...key))?.open_hour ?? undefined,
    days: (first, last) => session.all<DayRow>(findDays, ...key, first, last),
    writeDays(days) {
      for (const { day, hours, summary } of days) session.send(putDay, ...key, day, hours, summary);
    },
    shown: async () => showByRows(await session.all<CorrectionRow>(listCorrections, ...key)),
    dropCorrections: (before) => session.run(dropCorrections, ...key, before),
    putState: (datapoints, { rawBefore, openHour = null }) =>
      session.run(putState, ...key, datapoints, rawBefore, openHour),
    addBytes: (bytes) =>
      session.run(
        `update ${table} set bytes = case when bytes + $3 > 0 then bytes + $3 else 0 end
         where ${isOf}`,
        ...key,
        bytes,
      ),
  };
}
