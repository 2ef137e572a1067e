import type { StretchEdges, Stretches } from './stretches.ts';

/** Growth of a counter in a bucket. */
export interface Grown {
  /** The sum of all steps upwards, and what rounding took from it. */
  rise: number;
  riseLost: number;
  /** How many decimals the numbers have between which the steps are; more than 15: any. */
  decimals: number;
}

/**
 * Follows the numbers of one counter in the order of time [contract 15]. A number below both its
 * neighbours, or above both, is a glitch where the later neighbour is not below the earlier one; it
 * is passed over. Any other fall is a restart, after which the counter counts from zero.
 */
export type Growth = ReturnType<typeof createGrowth>;
/** The bits of `texts`. */
export const textBits = { second: 1, penult: 2, from: 4, to: 8 } as const;
export const noGrowth = (): Grown => ({ rise: 0, riseLost: 0, decimals: 0 });

/** Whether a number between two others is passed over; NaN: there is no such neighbour. */
export const isGlitch = (before: number, number: number, next: number): boolean =>
  before <= next && (number < before || number > next);

export function createGrowth() {
  // The last number that is no glitch, and the one before `pending`, which is not judged yet.
  let [base, before, last] = [Number.NaN, Number.NaN, Number.NaN];
  let pending: { readonly number: number; readonly into: Grown } | undefined;
  let isSure = false;

  function take(number: number, into: Grown): void {
    if (number >= base) addStep(into, base, number);
    else if (number > 0 && number < base) addStep(into, 0, number);
    base = number;
  }

  function settle(next: number): void {
    if (pending === undefined) return;
    const { number, into } = pending;
    pending = undefined;
    if (isGlitch(before, number, next)) return;
    isSure ||= !Number.isNaN(before);
    take(number, into);
  }

  function add(number: number, into: Grown): void {
    settle(number);
    before = last;
    last = number;
    pending = { number, into };
  }

  /** Adds the numbers between the first and the last one of a stretch. */
  function addInner({ from, to, up, restarts, restartSum }: StretchEdges, into: Grown): void {
    if (Number.isNaN(from)) return;
    isSure = true;
    take(from, into);
    if (restarts === 0) {
      take(to, into);
      return;
    }
    addStep(into, 0, significant(up));
    addStep(into, 0, significant(Math.max(0, restartSum)));
    base = to;
  }

  return {
    /** The last number; NaN: none yet. */
    get last() {
      return last;
    },
    /** Whether a number was taken of which it was known that it is no glitch. */
    get isSure() {
      return isSure;
    },
    /** Record that the last number's growth is added to when the next number is known. */
    get waitsFor() {
      return pending?.into;
    },
    add,
    addStretch(stretches: Stretches, at: number, into: Grown) {
      const count = (stretches.numbers[at] ?? 0) + (stretches.textNumbers[at] ?? 0);
      const [first, final] = [stretches.first[at] ?? 0, stretches.last[at] ?? 0];
      const edges = stretches.edges?.[at];
      if (count === 0) return;
      add(first, into);
      if (count === 1) return;
      if (count === 2) return add(final, into);
      if (edges !== undefined) {
        settle(edges.second);
        addInner(edges, into);
        last = edges.penult;
        return add(final, into);
      }
      // The stretch goes up all the time, or it is unknown what was in it.
      settle(Number.NaN);
      isSure = true;
      if (stretches.fall[at] === 0) take(final, into);
      else addRise(into, stretches.rise[at] ?? 0);
      [base, last] = [final, final];
    },
    /** No number comes any more. */
    end: () => settle(Number.NaN),
  };
}

function addStep(into: Grown, from: number, to: number): void {
  into.decimals = decimalsOf(from, decimalsOf(to, into.decimals));
  addRise(into, to - from);
}

/** Neumaier's summation. */
function addRise(into: Grown, step: number): void {
  const next = into.rise + step;
  into.riseLost += into.rise >= step ? into.rise - next + step : step - next + into.rise;
  into.rise = next;
}

/** Adds what another counter grew by. */
export function addGrown(into: Grown, other: Grown): void {
  addRise(into, other.rise);
  into.riseLost += other.riseLost;
  into.decimals = Math.max(into.decimals, other.decimals);
}

const decimalsMax = 15;
const powersOfTen = Float64Array.from({ length: 23 }, (_, digits) => Number(`1e${digits}`));

/** How many decimals a number has, `least` or more; one more than the most: any. */
function decimalsOf(number: number, least: number): number {
  let decimals = least;
  for (; decimals <= decimalsMax; decimals += 1) {
    const scale = powersOfTen[decimals] ?? 1;
    if (Math.round(number * scale) / scale === number) break;
  }
  return decimals;
}

/** The edges of an hour as one list: as they are stored and exported. */
export const listOfEdges = (edges: StretchEdges): readonly number[] => {
  const { second, penult, from, to, up, restarts, restartSum, texts } = edges;
  return [second, penult, from, to, up, restarts, restartSum, texts];
};

/** How long the list is. */
export const edgesCount = 8;

/** Reads what `listOfEdges` made. */
export function edgesOfList(list: readonly number[]): StretchEdges {
  const of = (at: number): number => list[at] ?? Number.NaN;
  return {
    ...{ second: of(0), penult: of(1), from: of(2), to: of(3) },
    ...{ up: of(4), restarts: of(5), restartSum: of(6), texts: of(7) },
  };
}

/** Growth of a counter, with its values' decimals; undefined: more than a double holds. */
export function increaseOf({ rise, riseLost, decimals }: Grown): number | undefined {
  const sum = rise + riseLost;
  if (!Number.isFinite(sum)) return undefined;
  if (decimals === 0 && Number.isSafeInteger(sum)) return sum;
  return significant(decimals > decimalsMax ? sum : Number(sum.toFixed(decimals)));
}

const significantDigits = 15;
/**
 * Nearer to the middle between two decimals a product with a power of ten does not decide: below
 * 1e15 it is off by half of 0.125 at most.
 */
const nearMiddle = 0.07;

/** The number with the digits that a double has for sure: 54.42999999999999 is 54.43. */
export function significant(number: number): number {
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return number;
  const digits = significantDigits - 1 - Math.floor(Math.log10(Math.abs(number)));
  const scale = powersOfTen[digits];
  if (scale === undefined) return rounded(number);
  const scaled = number * scale;
  const whole = Math.round(scaled);
  return Math.abs(scaled - whole) > 0.5 - nearMiddle ? rounded(number) : whole / scale;
}

/** A part of the last of fifteen digits. */
const restMax = 0.25;

/** The sum of so many numbers up to `largest`, without what these leave where they cancel out. */
export function withoutRest(sum: number, largest: number, count: number): number {
  if (largest <= Math.abs(sum)) return sum;
  const scale = powersOfTen[significantDigits - 1 - Math.floor(Math.log10(largest))];
  if (scale === undefined) return sum;
  const near = Math.round(sum * scale) / scale;
  // A rest that is large beside the last digit may be what the numbers come to.
  const rest = Math.min(count * largest * Number.EPSILON, restMax / scale);
  return Math.abs(near - sum) <= rest ? near + 0 : sum;
}

/** The largest numbers have no such neighbour. */
function rounded(number: number): number {
  const near = Number(number.toPrecision(significantDigits));
  return Number.isFinite(near) ? near : number;
}
