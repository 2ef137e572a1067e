import type { DatabaseSync } from 'node:sqlite';
import type { HourTally, RetainedState } from '../../../domain/datapoints/retention/hours.ts';
import type { RetentionLimits } from '../../../domain/datapoints/retention/retention.ts';
import type { ChunkLimits } from '../../chunks/chunk-store.ts';
import { runAtOnce } from '../../chunks/engine-work.ts';
import {
  type DayRow,
  daysPerStep,
  type RetentionReport,
  type RetentionTables,
  readHours,
  restoreHours,
  takeOld,
} from '../../chunks/retention-step.ts';
import { type CorrectionRow, correctionColumns, showByRows } from '../../sql/corrections.ts';
import type { StateRow } from '../../sql/retentions.ts';
import { createSelection } from '../connection.ts';
import { createChunkTable } from './chunk-table.ts';

/** The work of one step of retention. */
export interface RetentionOrder extends RetentionLimits {
  readonly series: number;
  readonly limits: ChunkLimits;
}

const oldestDays = `
  select day, summary from hourly_summaries
  where series = ? and day < ? order by day limit ${daysPerStep}`;
const findState = 'select raw_before, open_hour from retained_series where series = ?';
const putState = `
  insert into retained_series (series, datapoints, raw_before, open_hour) values (?, ?, ?, ?)
  on conflict (series) do update set datapoints = datapoints + excluded.datapoints,
    raw_before = max(raw_before, excluded.raw_before), open_hour = excluded.open_hour`;
const addBytes = 'update last_values set bytes = max(0, bytes + ?) where series = ?';
const findDays = `
  select day, summary from hourly_summaries
  where series = ? and day >= ? and day <= ? order by day`;
const putDay = 'insert or replace into hourly_summaries (series, day, summary) values (?, ?, ?)';
const removeDay = 'delete from hourly_summaries where series = ? and day = ?';
const listCorrections = `
  select '' as device_id, '' as sensor_id, ${correctionColumns} from corrections
  where series = ? order by position`;
const dropCorrections = 'delete from corrections where series = ? and to_time < ?';

/** The changes that the writer thread makes for retention. */
export function createRetentionStepWrites(database: DatabaseSync) {
  const chunksOf = createChunkTable(database);
  const tablesOf = createRetentionTables(database);
  return {
    /** Adds hours to a series that they were summed up of elsewhere. */
    putHours: (series: number, state: RetainedState, given: readonly HourTally[]): void =>
      runAtOnce(restoreHours(tablesOf(series), state, given)),
    /** Takes one step: hours that are too old, or else the oldest datapoints that are. */
    takeOldDatapoints: ({ series, limits, ...ages }: RetentionOrder): RetentionReport =>
      runAtOnce(takeOld({ ...tablesOf(series), chunks: chunksOf(series, limits) }, ages)),
  };
}

function createRetentionTables(database: DatabaseSync) {
  const oldest = createSelection<DayRow>(database, oldestDays);
  const days = createSelection<DayRow>(database, findDays);
  const write = database.prepare(putDay);
  const remove = database.prepare(removeDay);
  const state = createSelection<StateRow>(database, findState);
  const put = database.prepare(putState);
  const add = database.prepare(addBytes);
  const corrections = createSelection<CorrectionRow>(database, listCorrections);
  const drop = database.prepare(dropCorrections);

  return (series: number): RetentionTables => ({
    dropDays(before) {
      let [hours, bytes] = [0, 0];
      for (const { day, summary } of oldest.all(series, before)) {
        hours += readHours(summary).length || 1;
        bytes += summary.length;
        remove.run(series, day);
      }
      return { hours, bytes };
    },
    openHour: () => state.first(series)?.open_hour ?? undefined,
    days: (first, last) => days.all(series, first, last),
    writeDays(written) {
      for (const { day, summary } of written) write.run(series, day, summary);
    },
    shown: () => showByRows(corrections.all(series)),
    dropCorrections: (before) => drop.run(series, before),
    putState: (datapoints, { rawBefore, openHour = null }) =>
      put.run(series, datapoints, rawBefore, openHour),
    addBytes: (bytes) => add.run(bytes, series),
  });
}
