import { bytesPerWeight, weightOfBatch } from '../../domain/datapoints/column-batch.ts';
import type { DatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type { Range } from '../../domain/datapoints/datapoint-store.ts';
import {
  addToHours,
  type HourTally,
  hoursOf,
  type RetainedState,
  startOfHour,
  stretchesOf,
} from '../../domain/datapoints/retention/hours.ts';
import type { RetentionStep } from '../../domain/datapoints/retention/retaining.ts';
import {
  dayMs,
  type RetentionLimits,
  startOfDay,
} from '../../domain/datapoints/retention/retention.ts';
import type { Stretches } from '../../domain/datapoints/stretches.ts';
import { type Block, columnsOf, toBlock } from './chunk.ts';
import {
  type ChunkRow,
  type ChunkStore,
  chunkOf,
  type TakenChunk,
  takeChunk,
  unlessDamaged,
} from './chunk-store.ts';
import { sliceColumns } from './column-pieces.ts';
import { type Columns, rowFrom } from './columns.ts';
import { toDatapointColumns } from './datapoint-summary.ts';
import { type Answered, answerOf, type EngineWork } from './engine-work.ts';
import { decodeSummary, encodeSummary } from './summary.ts';

/** The datapoints that were taken out of a chunk. */
type Taken = ReturnType<typeof takenOf>;

/**
 * Takes what is earlier than `before` out of the oldest chunk of a series, of so many days at most;
 * undefined: there is nothing earlier that can be taken.
 */
function* takeBefore(
  store: ChunkStore,
  before: number,
  days: number,
): EngineWork<Taken | undefined> {
  const [oldest, following] = yield* answerOf(store.oldest());
  if (oldest === undefined || oldest.minTime >= before) return undefined;
  const old = yield* takeChunk(store, oldest);
  const until = Math.min(before, startOfDay(oldest.minTime) + days * dayMs);
  const taken = takenOf(old, { oldest, following, until });
  store.remove(oldest, taken.damaged > 0 ? old.points : undefined);
  if (taken.rest.length > 0) {
    // Where both have one and the same time alone, ids say which of them arrived first: the id of
    // the rest sorts before all that the database gives. No two chunks have it: a chunk with one
    // time alone is not cut again.
    const needsLowId = taken.rest[0]?.minTime === following?.maxTime;
    store.insert(chunkOf(taken.rest, store.limits), needsLowId ? -oldest.id : undefined);
  }
  return taken;
}

function takenOf(
  { blocks, isDamaged }: TakenChunk,
  ends: {
    readonly oldest: ChunkRow;
    readonly following: ChunkRow | undefined;
    readonly until: number;
  },
) {
  const { minTime } = ends.oldest;
  const cut = cutBlocks(blocks, ends.until);
  const last = cut.taken.at(-1);
  return {
    /** In order of time. */
    columns: cut.taken,
    count: cut.taken.reduce((sum, { count }) => sum + count, 0),
    weight: cut.taken.reduce((sum, piece) => sum + weightOfBatch(piece), 0),
    /** 1: some of it could not be read, and the chunk is set aside as it was. */
    damaged: isDamaged || cut.isDamaged ? 1 : 0,
    firstTime: minTime,
    lastTime: last?.times[last.count - 1] ?? minTime,
    /** When the datapoints that are left begin; Infinity: there are none. */
    nextTime: cut.rest[0]?.minTime ?? ends.following?.minTime ?? Number.POSITIVE_INFINITY,
    /** The blocks that are left of the chunk. */
    rest: cut.rest,
  };
}

/** The datapoints of blocks before a time, and blocks of the others. */
function cutBlocks(blocks: readonly Block[], time: number) {
  const taken: Columns[] = [];
  const rest: Block[] = [];
  let isDamaged = false;
  for (const block of blocks) {
    if (block.minTime >= time) {
      rest.push(block);
      continue;
    }
    const all = unlessDamaged(() => columnsOf(block));
    if (all === undefined) {
      isDamaged = true;
      continue;
    }
    const row = rowFrom(all.times, time);
    taken.push(sliceColumns(all, 0, row));
    if (row < all.count) rest.push(toBlock(sliceColumns(all, row, all.count)));
  }
  return { taken, rest, isDamaged };
}

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
interface WrittenDay extends DayRow {
  /** How many hours it has. */
  readonly hours: number;
}

/** The tables of retention, of one series inside a commit. */
export interface RetentionTables {
  /** Deletes the oldest days before this one, at most `daysPerStep`. */
  dropDays(before: number): Answered<{ readonly hours: number; readonly bytes: number }>;
  /** The hour that is still being filled. */
  openHour(): Answered<number | undefined>;
  /** The stored days from the first to the last of these, in their order. */
  days(first: number, last: number): Answered<readonly DayRow[]>;
  writeDays(days: readonly WrittenDay[]): Answered<void>;
  /** Shows datapoints as corrections show them; undefined: there are none. */
  shown(): Answered<((columns: DatapointColumns) => DatapointColumns) | undefined>;
  dropCorrections(before: number): Answered<unknown>;
  /** Adds taken datapoints to those of before, and keeps how far retention has come. */
  putState(datapoints: number, state: RetainedState): Answered<unknown>;
  addBytes(bytes: number): Answered<unknown>;
}

/** Takes one step: hours that are too old, or else the oldest datapoints that are. */
export function* takeOld(
  store: RetentionTables & { readonly chunks: ChunkStore },
  { rawBefore, hourlyBefore }: RetentionLimits,
): EngineWork<RetentionReport> {
  if (hourlyBefore !== undefined) {
    const gone = yield* answerOf(store.dropDays(hourlyBefore));
    if (gone.hours > 0) {
      yield* answerOf(store.addBytes(-gone.bytes));
      return { ...nothingTaken, ...gone, state: 'more' };
    }
  }
  const taken =
    rawBefore === undefined ? undefined : yield* takeBefore(store.chunks, rawBefore, daysPerStep);
  if (rawBefore === undefined || taken === undefined) return { ...nothingTaken, state: 'done' };
  return yield* keepHours(store, taken, { rawBefore, keptFrom: hourlyBefore });
}

/** Keeps hours of datapoints that were taken out of a chunk, in the same commit. */
function* keepHours(
  store: RetentionTables,
  taken: Taken,
  options: { readonly rawBefore: number; readonly keptFrom: number | undefined },
): EngineWork<RetentionReport> {
  const { rawBefore, keptFrom = Number.NEGATIVE_INFINITY } = options;
  const open = yield* answerOf(store.openHour());
  const [firstDay, lastDay] = [startOfDay(taken.firstTime), startOfDay(taken.lastTime)];
  const days = yield* answerOf(store.days(firstDay, lastDay));
  const shown = yield* answerOf(store.shown());
  const there = new Map(
    days.flatMap(({ summary }) => readHours(summary)).map((hour) => [hour.begin, hour]),
  );
  // The hours that the datapoints were added to.
  const made = new Map<number, HourTally>();
  for (const columns of taken.columns) {
    const pushed = toDatapointColumns(columns);
    addToHours(shown?.(pushed) ?? pushed, { there, open, made });
  }
  const kept = [...made.values()].filter(({ begin }) => begin >= keptFrom);
  const written = withHours(days, kept);
  yield* answerOf(store.writeDays(written.days));
  const isDone = taken.nextTime >= rawBefore;
  const lastHour = startOfHour(taken.lastTime);
  // An hour that was closed stays so, also if the next chunk has more of what came late for it.
  const isOpen = !isDone && made.has(lastHour) && startOfHour(taken.nextTime) === lastHour;
  yield* answerOf(
    store.putState(taken.count, {
      rawBefore: isDone ? rawBefore : taken.nextTime,
      ...(isOpen && { openHour: lastHour }),
    }),
  );
  const bytes = bytesPerWeight * taken.weight - written.bytes;
  yield* answerOf(store.addBytes(-bytes));
  if (isDone) yield* answerOf(store.dropCorrections(rawBefore));
  return {
    ...{ datapoints: taken.count, hours: 0, bytes, damaged: taken.damaged },
    hoursKept: kept.filter(({ begin }) => !there.has(begin)).length,
    isCorrected: shown !== undefined,
    state: isDone ? 'done' : 'more',
  };
}

/** Adds hours to a series that they were summed up of elsewhere. */
export function* restoreHours(
  store: RetentionTables,
  state: RetainedState,
  given: readonly HourTally[],
): EngineWork<void> {
  yield* answerOf(store.putState(0, state));
  const touched = given.map(({ begin }) => startOfDay(begin));
  if (touched.length === 0) return;
  const first = touched.reduce((a, b) => Math.min(a, b));
  const last = touched.reduce((a, b) => Math.max(a, b));
  const { days, bytes } = withHours(yield* answerOf(store.days(first, last)), given);
  yield* answerOf(store.writeDays(days));
  yield* answerOf(store.addBytes(bytes));
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
export const readHours = (summary: Uint8Array): readonly HourTally[] =>
  unlessDamaged(() => hoursOf(decodeSummary(summary).stretches)) ?? [];

/** The hours of these days that begin in the range, oldest first: at most so many. */
export function hoursAmong(
  days: Iterable<{ readonly summary: Uint8Array }>,
  { from, to }: Required<Range>,
  max: number,
): Stretches {
  const found: HourTally[] = [];
  for (const { summary } of days) {
    if (found.length >= max) break;
    found.push(...readHours(summary).filter(({ begin }) => begin >= from && begin <= to));
  }
  return stretchesOf(found.slice(0, max));
}
