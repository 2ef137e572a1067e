import { type Columns, firstAtOrAfter, gapAfterMs, gapMsOf, type Step } from './columns.ts';

/** The value of a sensor at the instant of the cursor. */
export interface Reading {
  readonly at: number;
  readonly value: unknown;
  /** Where the point stands for several datapoints. */
  readonly spread?: { readonly low: number; readonly high: number };
}

/** The value nearest to an instant; undefined in a gap and outside of the line. */
export function readingAt(columns: Columns, at: number): Reading | undefined {
  const { times, values, lows, highs, counts } = columns;
  if (times.length === 0) return stepAt(columns.steps, at);
  const after = firstAtOrAfter(times, at);
  const index = isNearer(times, after - 1, after, at) ? after - 1 : after;
  const time = times[index];
  const value = values[index];
  if (time === undefined || value === undefined) return undefined;
  const gapMs = gapAfterMs(columns, Math.min(index, times.length - 2), gapMsOf(columns));
  const reachMs = Math.min(gapMs / 2, reachOfAll(times));
  if (Math.abs(time - at) > reachMs) return undefined;
  const [low, high] = [lows[index] ?? value, highs[index] ?? value];
  return (counts[index] ?? 1) > 1
    ? { at: time, value, spread: { low, high } }
    : { at: time, value };
}

/** What a sensor said at an instant of its own. */
export function readingAtExactly(columns: Columns, at: number): Reading | undefined {
  const index = firstAtOrAfter(columns.times, at);
  const value = columns.values[index];
  if (columns.times[index] === at && value !== undefined) return { at, value };
  return columns.steps.find((step) => step.at === at);
}

/** With so few points that no pause is usual, each is found from anywhere near it. */
const reachOfAll = (times: readonly number[]): number =>
  times.length < 2 ? Number.POSITIVE_INFINITY : (times.at(-1) ?? 0) - (times[0] ?? 0);

function isNearer(times: readonly number[], one: number, other: number, at: number): boolean {
  const left = times[one];
  const right = times[other];
  if (left === undefined) return false;
  return right === undefined || at - left <= right - at;
}

function stepAt(steps: readonly Step[], at: number): Reading | undefined {
  const step = steps.filter((candidate) => candidate.at <= at).at(-1);
  return step === undefined ? undefined : { at: step.at, value: step.value };
}

/** All instants at which any sensor has a value, ascending, each once; for the keyboard. */
export function instantsOf(all: readonly Columns[]): readonly number[] {
  const instants = new Set<number>();
  for (const { times, steps } of all) {
    for (const time of times) instants.add(time);
    for (const { at } of steps) instants.add(at);
  }
  return [...instants].sort((a, b) => a - b);
}

/** Where the cursor goes from an instant: by a number of instants, or to an end. */
export function movedCursor(
  instants: readonly number[],
  at: number | undefined,
  by: number | 'first' | 'last',
): number | undefined {
  const last = instants.length - 1;
  if (by === 'first') return instants[0];
  if (by === 'last' || at === undefined) return instants[last];
  const here = firstAtOrAfter(instants, at);
  return instants[Math.min(last, Math.max(0, here + by))];
}
