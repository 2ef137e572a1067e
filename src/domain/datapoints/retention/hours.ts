import type { Instant } from '../../../lib/clock.ts';
import { type DatapointColumns, numberIn, timeIn } from '../datapoint-columns.ts';
import { isGlitch, textBits } from '../growth.ts';
import { addToKinds, type StretchEdges, type Stretches, type StretchKinds } from '../stretches.ts';
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

/** Hours as stretches: each counts where it begins. */
export function stretchesOf(hours: readonly HourTally[]): Stretches {
  const column = (of: (hour: HourTally) => number) => Float64Array.from(hours, of);
  const starts = column(({ begin }) => begin);
  const hasKinds = hours.some(({ kinds }) => kinds !== undefined);
  return {
    ...{ count: hours.length, starts, ends: starts, counts: column(({ count }) => count) },
    numbers: column(({ numbers }) => numbers),
    textNumbers: column(({ textNumbers }) => textNumbers),
    ...{ min: column(({ min }) => min), max: column(({ max }) => max) },
    ...{ sum: column(({ sum }) => sum), first: column(({ first }) => first) },
    ...{ last: column(({ last }) => last), rise: column(({ rise }) => rise) },
    fall: column(({ fall }) => fall),
    hasNumbersAtEnds: Uint8Array.from(hours, ({ numbers }) => (numbers > 0 ? 1 : 0)),
    ...(hasKinds && { kinds: hours.map(({ kinds }) => kinds) }),
    edges: hours.map(({ edges }) => edges),
  };
}

/** The hours that `stretchesOf` made stretches of. */
export function hoursOf(stretches: Stretches): readonly HourTally[] {
  return Array.from({ length: stretches.count }, (_, at): HourTally => {
    const of = (column: Float64Array): number => column[at] ?? 0;
    const kinds = stretches.kinds?.[at];
    const edges = stretches.edges?.[at];
    return {
      begin: startOfHour(of(stretches.starts)),
      ...{ count: of(stretches.counts), numbers: of(stretches.numbers) },
      ...{ textNumbers: of(stretches.textNumbers), min: of(stretches.min) },
      ...{ max: of(stretches.max), sum: of(stretches.sum), first: of(stretches.first) },
      ...{ last: of(stretches.last), rise: of(stretches.rise), fall: of(stretches.fall) },
      ...(kinds !== undefined && { kinds }),
      ...(edges !== undefined && { edges }),
    };
  });
}
