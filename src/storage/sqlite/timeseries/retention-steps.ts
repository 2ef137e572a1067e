import type { DatabaseSync } from 'node:sqlite';
import type { HourTally } from '../../../domain/datapoints/retention/hours.ts';
import { dayMs, startOfDay } from '../../../domain/datapoints/retention/retention.ts';
import type { RetainedState } from '../../../domain/datapoints/retention/summarise-with-hours.ts';
import type { ChunkLimits } from '../../chunks/chunk-placing.ts';
import {
  type DayRow,
  daysPerStep,
  nothingTaken,
  planRetention,
  type RetentionReport,
  readHours,
  type WrittenDay,
  withHours,
} from '../../chunks/retention-step.ts';
import { type CorrectionRow, correctionColumns, showByRows } from '../../sql/corrections.ts';
import { createSelection } from '../selection.ts';
import { createChunkTable } from './chunk-table.ts';

/** The work of one step of retention. */
export interface RetentionOrder {
  readonly series: number;
  /** First instants of days; absent: nothing goes. */
  readonly rawBefore: number | undefined;
  readonly hourlyBefore: number | undefined;
  readonly limits: ChunkLimits;
}

const oldestDays = `
  select day, octet_length(summary) as bytes from hourly_summaries
  where series = ? and day < ? order by day limit ${daysPerStep}`;
const findState = 'select raw_before, open_hour from retained_series where series = ?';
const putState = `
  insert into retained_series (series, datapoints, raw_before, open_hour) values (?, ?, ?, ?)
  on conflict (series) do update set datapoints = datapoints + excluded.datapoints,
    raw_before = max(raw_before, excluded.raw_before), open_hour = excluded.open_hour`;
const addBytes = 'update last_values set bytes = max(0, bytes + ?) where series = ?';
const findDay = 'select day, summary from hourly_summaries where series = ? and day = ?';
const putDay = 'insert or replace into hourly_summaries (series, day, summary) values (?, ?, ?)';
const listCorrections = `
  select '' as device_id, '' as sensor_id, ${correctionColumns} from corrections
  where series = ? order by position`;
const dropCorrections = 'delete from corrections where series = ? and to_time < ?';

/** The changes that the writer thread makes for retention. */
export function createRetentionStepWrites(database: DatabaseSync) {
  const chunks = createChunkTable(database);
  const days = createDays(database);
  const state = createSelection<{ raw_before: number; open_hour: number | null }>(
    database,
    findState,
  );
  const put = database.prepare(putState);
  const add = database.prepare(addBytes);
  const corrections = createSelection<CorrectionRow>(database, listCorrections);
  const drop = database.prepare(dropCorrections);

  /** Takes from the oldest chunk what is too old. */
  function takeRaw(order: RetentionOrder, rawBefore: number): RetentionReport {
    const { series, limits, hourlyBefore } = order;
    const taken = chunks.takeBefore(series, rawBefore, daysPerStep, limits);
    if (taken === undefined) return { ...nothingTaken, state: 'done' };
    const { report, ...plan } = planRetention({
      ...{ taken, rawBefore, hourlyBefore },
      openHour: state.first(series)?.open_hour ?? undefined,
      there: days.between(series, startOfDay(taken.firstTime), startOfDay(taken.lastTime)),
      shown: showByRows(corrections.all(series)),
    });
    days.write(series, plan.days);
    put.run(series, report.datapoints, plan.stands, plan.openHour);
    add.run(-report.bytes, series);
    if (report.state === 'done') drop.run(series, rawBefore);
    return report;
  }

  return {
    /** Adds hours to a series that they were summed up of elsewhere. */
    putHours(series: number, { rawBefore, openHour }: RetainedState, given: readonly HourTally[]) {
      put.run(series, 0, rawBefore, openHour ?? null);
      const touched = new Set(given.map(({ begin }) => startOfDay(begin)));
      const there = [...touched].flatMap((day) => days.between(series, day, day));
      const { days: written, bytes } = withHours(there, given);
      days.write(series, written);
      add.run(bytes, series);
    },
    /** Takes one step: hours that are too old, or else the oldest datapoints that are. */
    takeOldDatapoints(order: RetentionOrder): RetentionReport {
      const { series, rawBefore, hourlyBefore } = order;
      const gone = hourlyBefore === undefined ? nothingTaken : days.drop(series, hourlyBefore);
      if (gone.hours > 0) {
        add.run(-gone.bytes, series);
        return { ...gone, state: 'more' };
      }
      return rawBefore === undefined
        ? { ...nothingTaken, state: 'done' }
        : takeRaw(order, rawBefore);
    },
  };
}

/** Rows of hours. */
function createDays(database: DatabaseSync) {
  const oldest = createSelection<{ day: number; bytes: number }>(database, oldestDays);
  const find = createSelection<DayRow>(database, findDay);
  const put = database.prepare(putDay);
  const remove = database.prepare('delete from hourly_summaries where series = ? and day = ?');

  return {
    drop(series: number, before: number): Omit<RetentionReport, 'state'> {
      const rows = oldest.all(series, before);
      let [hours, bytes] = [0, 0];
      for (const { day, bytes: size } of rows) {
        const row = find.first(series, day);
        hours += (row === undefined ? 0 : readHours(row.summary).length) || 1;
        bytes += size;
        remove.run(series, day);
      }
      return { ...nothingTaken, hours, bytes };
    },
    between(series: number, first: number, last: number): readonly DayRow[] {
      const found: DayRow[] = [];
      for (let day = first; day <= last; day += dayMs) {
        const row = find.first(series, day);
        if (row !== undefined) found.push(row);
      }
      return found;
    },
    write(series: number, days: readonly WrittenDay[]): void {
      for (const { day, summary } of days) put.run(series, day, summary);
    },
  };
}
