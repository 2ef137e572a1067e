import type { Instant } from '../../../lib/clock.ts';
import { type DatapointColumns, numberIn, timeIn } from '../datapoint-columns.ts';
import { addToKinds, type StretchKinds } from '../stretch-kinds.ts';
import type { Stretches } from '../stretches.ts';
import { hourMs } from './retention.ts';

/** What the datapoints of one hour come to. */
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
  };
}

/** The hours that `stretchesOf` made stretches of. */
export function hoursOf(stretches: Stretches): readonly HourTally[] {
  return Array.from({ length: stretches.count }, (_, at): HourTally => {
    const of = (column: Float64Array): number => column[at] ?? 0;
    const kinds = stretches.kinds?.[at];
    return {
      begin: startOfHour(of(stretches.starts)),
      ...{ count: of(stretches.counts), numbers: of(stretches.numbers) },
      ...{ textNumbers: of(stretches.textNumbers), min: of(stretches.min) },
      ...{ max: of(stretches.max), sum: of(stretches.sum), first: of(stretches.first) },
      ...{ last: of(stretches.last), rise: of(stretches.rise), fall: of(stretches.fall) },
      ...(kinds !== undefined && { kinds }),
    };
  });
}
