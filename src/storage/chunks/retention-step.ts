import type { DatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import {
  addToHours,
  type HourTally,
  hoursOf,
  startOfHour,
  stretchesOf,
} from '../../domain/datapoints/retention/hours.ts';
import type { RetentionStep } from '../../domain/datapoints/retention/retaining.ts';
import { startOfDay } from '../../domain/datapoints/retention/retention.ts';
import { bytesPerWeight } from '../../domain/datapoints/weight.ts';
import { DamagedBytesError } from './bytes.ts';
import type { Taken } from './chunk-taking.ts';
import { toDatapointColumns } from './datapoint-summary.ts';
import { decodeSummary, encodeSummary } from './summary.ts';

/** Days of one step: each is a row, and commits wait for the step. */
export const daysPerStep = 64;

/** The report of a step of retention. */
export interface RetentionReport extends RetentionStep {
  /** Chunks that could not be read and were set aside. */
  readonly damaged: number;
}

/** A step that found nothing. */
export const nothingTaken = {
  ...{ datapoints: 0, hours: 0, hoursKept: 0, bytes: 0, damaged: 0 },
} as const;

/** The hours of a day, as they are stored. */
export interface DayRow {
  /** The day's first instant (UTC). */
  readonly day: number;
  readonly summary: Uint8Array;
}

/** A day that is to be written. */
export interface WrittenDay extends DayRow {
  /** How many hours it has. */
  readonly hours: number;
}

/** The changes to write for datapoints that were taken. */
export interface RetentionPlan {
  readonly report: RetentionReport;
  readonly days: readonly WrittenDay[];
  /** How far retention has come, and the hour of which some datapoints are left. */
  readonly stands: number;
  readonly openHour: number | null;
}

/**
 * Plans the changes for datapoints that were taken out of a chunk: each engine writes them in the
 * same commit. `there` are the days from the first to the last of them.
 */
export function planRetention(options: {
  readonly taken: Taken;
  readonly rawBefore: number;
  readonly hourlyBefore: number | undefined;
  /** The hour that is still being filled. */
  readonly openHour: number | undefined;
  readonly there: readonly DayRow[];
  /** Shows datapoints as corrections show them. */
  readonly shown: (columns: DatapointColumns) => DatapointColumns;
}): RetentionPlan {
  const { taken, rawBefore } = options;
  const kept = keepHours(options);
  const isDone = taken.nextTime >= rawBefore;
  const lastHour = startOfHour(taken.lastTime);
  // An hour that was closed stays so, also if the next chunk has more of what came late for it.
  const isOpen = !isDone && kept.made.has(lastHour) && startOfHour(taken.nextTime) === lastHour;
  return {
    report: {
      ...{ datapoints: taken.count, hours: 0, hoursKept: kept.hoursKept, damaged: taken.damaged },
      bytes: bytesPerWeight * taken.weight - kept.bytes,
      state: isDone ? 'done' : 'more',
    },
    days: kept.days,
    stands: isDone ? rawBefore : taken.nextTime,
    openHour: isOpen ? lastHour : null,
  };
}

/** Adds what went to its hours; `made` are those that it was added to. */
function keepHours(options: Parameters<typeof planRetention>[0]) {
  const { taken, openHour, hourlyBefore = Number.NEGATIVE_INFINITY, shown } = options;
  const before = options.there.flatMap(({ summary }) => readHours(summary));
  const there = new Map(before.map((hour) => [hour.begin, hour]));
  const made = new Map<number, HourTally>();
  for (const columns of taken.columns) {
    addToHours(shown(toDatapointColumns(columns)), { there, open: openHour, made });
  }
  const kept = [...made.values()].filter(({ begin }) => begin >= hourlyBefore);
  return {
    made,
    hoursKept: kept.filter(({ begin }) => !there.has(begin)).length,
    ...withHours(options.there, kept),
  };
}

/** Days with these hours put into them, and how many bytes more they take than before. */
export function withHours(
  there: readonly DayRow[],
  given: readonly HourTally[],
): { readonly days: readonly WrittenDay[]; readonly bytes: number } {
  const before = new Map(there.map(({ day, summary }) => [day, summary]));
  let bytes = 0;
  const byDay = Map.groupBy(given, ({ begin }) => startOfDay(begin));
  const days = Array.from(byDay, ([day, fresh]): WrittenDay => {
    const old = before.get(day);
    const begins = new Set(fresh.map(({ begin }) => begin));
    const stay = old === undefined ? [] : readHours(old).filter(({ begin }) => !begins.has(begin));
    const hours = [...stay, ...fresh].sort((a, b) => a.begin - b.begin);
    const summary = writeHours(hours);
    bytes += summary.length - (old?.length ?? 0);
    return { day, summary, hours: hours.length };
  });
  return { days, bytes };
}

function writeHours(hours: readonly HourTally[]): Uint8Array {
  const [minTime = 0, maxTime = 0] = [hours[0]?.begin, hours.at(-1)?.begin];
  const count = hours.reduce((sum, hour) => sum + hour.count, 0);
  return encodeSummary([{ count, minTime, maxTime, grain: 1, stretches: stretchesOf(hours) }]);
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
