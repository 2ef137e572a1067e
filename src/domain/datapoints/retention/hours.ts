import type { Instant } from '../../../lib/clock.ts';
import { type DatapointColumns, numberIn, rowsOf, timeIn } from '../datapoint-columns.ts';
import type { Page, SummarisedStep } from '../datapoint-store.ts';
import { isGlitch, textBits } from '../growth.ts';
import {
  addToKinds,
  isStretchRun,
  type StretchEdges,
  type Stretches,
  type StretchKinds,
  type SummarisedPart,
} from '../stretches.ts';
import { hourMs } from './retention.ts';

/** Figures of the datapoints of one hour. */
export interface HourTally {
  readonly begin: Instant;
  count: number;
  /** JSON numbers; text that is a number. Without any the rest means nothing. */
  numbers: number;
  textNumbers: number;
  min: number;
  max: number;
  /** NaN: more than a double holds. */
  sum: number;
  first: number;
  last: number;
  rise: number;
  fall: number;
  /** Of an hour with both kinds of numbers; earlier versions left it out. */
  kinds?: StretchKinds;
  /** Of an hour with three numbers or more; earlier versions left it out. */
  edges?: StretchEdges;
}

/** The first instant of the hour. */
export const startOfHour = (at: Instant): Instant => Math.floor(at / hourMs) * hourMs;

/**
 * Adds datapoints, oldest first, to their hours. An hour that was there before is closed, but for
 * the one that is still being filled: whatever comes late or again changes it no more.
 */
export function addToHours(
  columns: DatapointColumns,
  hours: {
    readonly there: ReadonlyMap<Instant, HourTally>;
    readonly open: Instant | undefined;
    readonly made: Map<Instant, HourTally>;
  },
): void {
  const { there, open, made } = hours;
  let tally: HourTally | undefined;
  for (let row = 0; row < columns.count; row += 1) {
    const begin = startOfHour(timeIn(columns, row));
    if (tally?.begin !== begin) {
      const before = there.get(begin);
      tally = made.get(begin);
      if (tally === undefined && before !== undefined && begin !== open) continue;
      tally ??= before === undefined ? emptyHour(begin) : structuredClone(before);
      made.set(begin, tally);
    }
    addRow(tally, columns, row);
  }
}

function addRow(tally: HourTally, columns: DatapointColumns, row: number): void {
  tally.count += 1;
  const number = numberIn(columns, row);
  if (Number.isNaN(number)) return;
  const isFirst = tally.numbers + tally.textNumbers === 0;
  const isText = Number.isNaN(columns.numbers[row] ?? Number.NaN);
  addToEdges(tally, number);
  addToKinds(tally, number, isText);
  if (isText) tally.textNumbers += 1;
  else tally.numbers += 1;
  const sum = tally.sum + number;
  tally.sum = Number.isFinite(sum) ? sum : Number.NaN;
  tally.min = isFirst ? number : Math.min(tally.min, number);
  tally.max = isFirst ? number : Math.max(tally.max, number);
  if (isFirst) tally.first = number;
  else if (number > tally.last) tally.rise += number - tally.last;
  else tally.fall += tally.last - number;
  tally.last = number;
}

/** Adds a number to what is known of the ends, before it is added to all. */
function addToEdges(tally: HourTally, number: number): void {
  const count = tally.numbers + tally.textNumbers;
  const { first, last } = tally;
  if (count < 2 || (count > 2 && tally.edges === undefined)) return;
  const none = { from: Number.NaN, to: Number.NaN, up: 0, restarts: 0, restartSum: 0, texts: 0 };
  tally.edges ??= { second: last, penult: Number.NaN, ...none };
  const { edges } = tally;
  const isText = tally.kinds === undefined ? tally.textNumbers > 0 : tally.kinds.isLastText;
  const mark = (bit: number): void => {
    edges.texts = isText ? edges.texts | bit : edges.texts & ~bit;
  };
  if (count === 2) mark(textBits.second);
  if (!isGlitch(count === 2 ? first : edges.penult, last, number)) {
    if (Number.isNaN(edges.from)) {
      edges.from = last;
      mark(textBits.from);
    }
    takeInner(edges, last);
    mark(textBits.to);
  }
  edges.penult = last;
  mark(textBits.penult);
}

function takeInner(edges: StretchEdges, number: number): void {
  if (number >= edges.to) {
    edges.up += number - edges.to;
  } else if (number < edges.to) {
    edges.restarts += 1;
    edges.restartSum += Math.max(0, number);
  }
  edges.to = number;
}

function emptyHour(begin: Instant): HourTally {
  return {
    ...{ begin, count: 0, numbers: 0, textNumbers: 0, min: 0, max: 0, sum: 0 },
    ...{ first: 0, last: 0, rise: 0, fall: 0 },
  };
}

const figures = [
  ...(['numbers', 'textNumbers', 'min', 'max', 'sum', 'first', 'last', 'rise', 'fall'] as const),
] as const;
type Figures<Of> = Record<(typeof figures)[number], Of>;

/** Hours as stretches: each counts where it begins. */
export function stretchesOf(hours: readonly HourTally[]): Stretches {
  const column = (of: (hour: HourTally) => number) => Float64Array.from(hours, of);
  const starts = column(({ begin }) => begin);
  const columns = figures.map((name) => [name, column((hour) => hour[name])]);
  const hasKinds = hours.some(({ kinds }) => kinds !== undefined);
  return {
    ...{ count: hours.length, starts, ends: starts, counts: column(({ count }) => count) },
    ...(Object.fromEntries(columns) as Figures<Float64Array>),
    hasNumbersAtEnds: Uint8Array.from(hours, ({ numbers }) => (numbers > 0 ? 1 : 0)),
    ...(hasKinds && { kinds: hours.map(({ kinds }) => kinds) }),
    edges: hours.map(({ edges }) => edges),
  };
}

/** The hours that `stretchesOf` made stretches of. */
export function hoursOf(stretches: Stretches): readonly HourTally[] {
  return Array.from({ length: stretches.count }, (_, at): HourTally => {
    const kinds = stretches.kinds?.[at];
    const edges = stretches.edges?.[at];
    const values = figures.map((name) => [name, stretches[name][at] ?? 0]);
    return {
      ...{ begin: startOfHour(stretches.starts[at] ?? 0), count: stretches.counts[at] ?? 0 },
      ...(Object.fromEntries(values) as Figures<number>),
      ...(kinds !== undefined && { kinds }),
      ...(edges !== undefined && { edges }),
    };
  });
}

/** How far retention has come with a sensor. */
export interface RetainedState {
  /** Older datapoints were taken; there may be some that came later. */
  readonly rawBefore: Instant;
  /** The hour that some of its datapoints were taken of, and others not yet. */
  readonly openHour?: Instant;
}

export interface HourlyRead {
  readonly page: Page;
  readonly state: RetainedState | undefined;
  /** Hours that begin in the range, both ends included, oldest first: at most so many. */
  readonly hours: (from: Instant, to: Instant, max: number) => Stretches;
  /** A step of what is there as datapoints; without `mayStand` no stretch represents any. */
  readonly raw: (page: Page, mayStand: boolean) => SummarisedStep;
}

/** Hours that one step asks for at most. */
export const hoursPerStep = 2_048;

/**
 * A step of a summarised page: hours where datapoints were taken, and behind them datapoints. A
 * page that ends after so many datapoints has no hours: it is unknown what part of one is in it.
 */
export function summariseWithHours({ page, state, hours, raw }: HourlyRead): SummarisedStep {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = page;
  if (state === undefined || page.limit !== Number.POSITIVE_INFINITY || from >= state.rawBefore) {
    return raw(page, true);
  }
  const lastOfTaken = Math.min(to, state.rawBefore - 1);
  const found = hours(startOfHour(from), lastOfTaken, hoursPerStep);
  const lastHour = found.starts[found.count - 1] ?? 0;
  const isAll = found.count < hoursPerStep;
  const end = isAll ? lastOfTaken : Math.min(lastOfTaken, lastHour + hourMs - 1);
  const step = raw({ ...page, to: end }, false);
  const emit = {
    // Where datapoints of the page's first instant were seen, so was the hour that begins then.
    first: page.skip > 0 ? from + 1 : from,
    last: step.next === undefined ? end : endBefore(step.next),
  };
  const parts = merge(found, step.parts, { ...emit, openHour: state.openHour });
  const { to: _, ...open } = step.next ?? { ...page, from: end + 1, skip: 0 };
  if (step.next === undefined && end >= to) return { parts };
  return { parts, next: page.to === undefined ? open : { ...open, to: page.to } };
}

const endBefore = ({ from = Number.NEGATIVE_INFINITY, skip }: Page): Instant =>
  skip > 0 ? from : from - 1;

/** Hours that begin in the range, and between them the datapoints that none of them counts. */
function merge(
  hours: Stretches,
  parts: readonly SummarisedPart[],
  range: {
    readonly first: Instant;
    readonly last: Instant;
    readonly openHour: Instant | undefined;
  },
): readonly SummarisedPart[] {
  const merged: SummarisedPart[] = [];
  const closed = new Set(hours.starts);
  if (range.openHour !== undefined) closed.delete(range.openHour);
  let at = 0;
  while (at < hours.count && (hours.starts[at] ?? 0) < range.first) at += 1;

  function putHours(until: Instant): void {
    const from = at;
    while (at < hours.count && (hours.starts[at] ?? 0) <= Math.min(until, range.last)) at += 1;
    if (at > from) merged.push({ stretches: hours, from, to: at });
  }

  function putRows(columns: DatapointColumns): void {
    for (let row = 0; row < columns.count; ) {
      const hour = startOfHour(timeIn(columns, row));
      let end = row + 1;
      while (end < columns.count && timeIn(columns, end) < hour + hourMs) end += 1;
      if (!closed.has(hour)) {
        putHours(timeIn(columns, row));
        merged.push(rowsOf(columns, row, end));
      }
      row = end;
    }
  }

  for (const part of parts) if (!isStretchRun(part)) putRows(part);
  putHours(range.last);
  return merged;
}
