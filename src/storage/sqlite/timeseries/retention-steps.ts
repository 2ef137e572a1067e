import type { DatabaseSync } from 'node:sqlite';
import { createOverlay } from '../../../domain/datapoints/corrections/overlay.ts';
import type { DatapointColumns } from '../../../domain/datapoints/datapoint-columns.ts';
import {
  addToHours,
  type HourTally,
  hoursOf,
  startOfHour,
  stretchesOf,
} from '../../../domain/datapoints/retention/hours.ts';
import type { RetentionStep } from '../../../domain/datapoints/retention/retaining.ts';
import { dayMs, startOfDay } from '../../../domain/datapoints/retention/retention.ts';
import type { RetainedState } from '../../../domain/datapoints/retention/summarise-with-hours.ts';
import { bytesPerWeight } from '../../../domain/datapoints/weight.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import type { ChunkLimits } from '../../chunks/chunk-placing.ts';
import { toDatapointColumns } from '../../chunks/datapoint-summary.ts';
import { decodeSummary, encodeSummary } from '../../chunks/summary.ts';
import {
  type CorrectionRow,
  correctionColumns,
  correctionFromRow,
} from '../../sql/correction-row.ts';
import { createSelection } from '../selection.ts';
import { createChunkTable, type Taken } from './chunk-table.ts';

/** What a step of retention is asked to do. */
export interface RetentionOrder {
  readonly series: number;
  /** First instants of days; absent: nothing goes. */
  readonly rawBefore: number | undefined;
  readonly hourlyBefore: number | undefined;
  readonly limits: ChunkLimits;
}

/** What it did. */
export interface RetentionReport extends RetentionStep {
  /** Chunks that could not be read and were set aside. */
  readonly damaged: number;
}

/** Days of one step: each is a row, and commits wait for the step. */
const daysPerStep = 64;

const oldestDays = `
  select day, octet_length(summary) as bytes from hourly_summaries
  where series = ? and day < ? order by day limit ${daysPerStep}`;
const findState = 'select raw_before, open_hour from retained_series where series = ?';
const putState = `
  insert into retained_series (series, datapoints, raw_before, open_hour) values (?, ?, ?, ?)
  on conflict (series) do update set datapoints = datapoints + excluded.datapoints,
    raw_before = max(raw_before, excluded.raw_before), open_hour = excluded.open_hour`;
const addBytes = 'update last_values set bytes = max(0, bytes + ?) where series = ?';
const findDay = 'select summary from hourly_summaries where series = ? and day = ?';
const putDay = 'insert or replace into hourly_summaries (series, day, summary) values (?, ?, ?)';
const listCorrections = `
  select '' as device_id, '' as sensor_id, ${correctionColumns} from corrections
  where series = ? order by position`;
const dropCorrections = 'delete from corrections where series = ? and to_time < ?';

/** What the writer thread does for retention. */
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

  /** As corrections show them. */
  function shown(series: number, columns: DatapointColumns): DatapointColumns {
    const rows = corrections.all(series);
    if (rows.length === 0) return columns;
    const readable = rows.flatMap((row) => {
      try {
        return [correctionFromRow(row)];
      } catch {
        // Reads leave it out as well, and log it.
        return [];
      }
    });
    return createOverlay(readable).showColumns(columns);
  }

  /** Adds what went to its hours; answers how many are new, and how many bytes all take more. */
  function keepHours(
    order: RetentionOrder,
    taken: Taken,
    open: number | undefined,
  ): { readonly hoursKept: number; readonly added: number } {
    const { series, hourlyBefore = Number.NEGATIVE_INFINITY } = order;
    const there = new Map<number, HourTally>();
    const made = new Map<number, HourTally>();
    const [firstDay, lastDay] = [startOfDay(taken.firstTime), startOfDay(taken.lastTime)];
    for (let day = firstDay; day <= lastDay; day += dayMs) {
      for (const hour of days.read(series, day)) there.set(hour.begin, hour);
    }
    for (const columns of taken.columns) {
      addToHours(shown(series, toDatapointColumns(columns)), { there, open, made });
    }
    const kept = [...made.values()].filter(({ begin }) => begin >= hourlyBefore);
    const hoursKept = kept.filter(({ begin }) => !there.has(begin)).length;
    for (const hour of kept) there.set(hour.begin, hour);
    let added = 0;
    const changed = new Set(kept.map(({ begin }) => startOfDay(begin)));
    for (const day of changed) {
      const hours = [...there.values()].filter((hour) => startOfDay(hour.begin) === day);
      added += days.write(series, day, hours);
    }
    return { hoursKept, added };
  }

  /** Takes from the oldest chunk what is too old. */
  function takeRaw(order: RetentionOrder, rawBefore: number): RetentionReport {
    const { series, limits } = order;
    const taken = chunks.takeBefore(series, rawBefore, daysPerStep, limits);
    if (taken === undefined) return { ...nothing, state: 'done' };
    const open = state.first(series)?.open_hour ?? undefined;
    const { hoursKept, added } = taken.count === 0 ? noHours : keepHours(order, taken, open);
    const isDone = taken.nextTime >= rawBefore;
    const lastHour = startOfHour(taken.lastTime);
    const isOpen = !isDone && startOfHour(taken.nextTime) === lastHour;
    const stands = isDone ? rawBefore : taken.nextTime;
    put.run(series, taken.count, stands, isOpen ? lastHour : null);
    const bytes = bytesPerWeight * taken.weight - added;
    add.run(-bytes, series);
    if (isDone) drop.run(series, rawBefore);
    return {
      ...{ datapoints: taken.count, hours: 0, hoursKept, bytes, damaged: taken.damaged },
      state: isDone ? 'done' : 'more',
    };
  }

  return {
    /** Adds hours to a series that they were summed up of elsewhere. */
    putHours(series: number, { rawBefore, openHour }: RetainedState, given: readonly HourTally[]) {
      put.run(series, 0, rawBefore, openHour ?? null);
      let added = 0;
      for (const [day, hours] of Map.groupBy(given, ({ begin }) => startOfDay(begin))) {
        const begins = new Set(hours.map(({ begin }) => begin));
        const there = days.read(series, day).filter(({ begin }) => !begins.has(begin));
        added += days.write(series, day, [...there, ...hours]);
      }
      add.run(added, series);
    },
    /** One step: hours that are too old, or else the oldest datapoints that are. */
    takeOldDatapoints(order: RetentionOrder): RetentionReport {
      const { series, rawBefore, hourlyBefore } = order;
      const gone = hourlyBefore === undefined ? nothing : days.drop(series, hourlyBefore);
      if (gone.hours > 0) {
        add.run(-gone.bytes, series);
        return { ...gone, state: 'more' };
      }
      return rawBefore === undefined ? { ...nothing, state: 'done' } : takeRaw(order, rawBefore);
    },
  };
}

const nothing = { datapoints: 0, hours: 0, hoursKept: 0, bytes: 0, damaged: 0 } as const;
const noHours = { hoursKept: 0, added: 0 } as const;

/** Rows of hours. */
function createDays(database: DatabaseSync) {
  const oldest = createSelection<{ day: number; bytes: number }>(database, oldestDays);
  const find = createSelection<{ summary: Uint8Array }>(database, findDay);
  const put = database.prepare(putDay);
  const remove = database.prepare('delete from hourly_summaries where series = ? and day = ?');

  return {
    drop(series: number, before: number): typeof nothing | Omit<RetentionReport, 'state'> {
      const rows = oldest.all(series, before);
      let [hours, bytes] = [0, 0];
      for (const { day, bytes: size } of rows) {
        hours += this.read(series, day).length || 1;
        bytes += size;
        remove.run(series, day);
      }
      return { ...nothing, hours, bytes };
    },
    /** Those of a row that cannot be read are none. */
    read(series: number, day: number): readonly HourTally[] {
      const row = find.first(series, day);
      return row === undefined ? [] : readHours(row.summary);
    },
    /** Answers how many bytes it takes more than what was there. */
    write(series: number, day: number, hours: readonly HourTally[]): number {
      const before = find.first(series, day)?.summary.length ?? 0;
      const ordered = hours.toSorted((a, b) => a.begin - b.begin);
      const [minTime = 0, maxTime = 0] = [ordered[0]?.begin, ordered.at(-1)?.begin];
      const count = ordered.reduce((sum, hour) => sum + hour.count, 0);
      const block = { count, minTime, maxTime, stretches: stretchesOf(ordered) };
      const bytes = encodeSummary([block]);
      put.run(series, day, bytes);
      return bytes.length - before;
    },
  };
}

/** The hours of a row; of one that is damaged none. */
export function readHours(summary: Uint8Array): readonly HourTally[] {
  try {
    return hoursOf(decodeSummary(summary).stretches);
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return [];
  }
}
