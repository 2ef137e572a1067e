import { chartLimits } from './chart-limits.ts';

/** A stretch of time, in ms since 1970; both ends belong to it. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The stretches offered, each ending now. */
export const presetSpans = {
  hour: hourMs,
  sixHours: 6 * hourMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
  year: 365 * dayMs,
} as const;

/** A stretch offered. */
export type Preset = keyof typeof presetSpans;

/** In the order of the buttons. */
export const presets: readonly Preset[] = ['hour', 'sixHours', 'day', 'week', 'month', 'year'];

/** The last hour, six hours, day, week, month or year. */
export function presetRange(preset: Preset, now: number): TimeRange {
  return { from: now - presetSpans[preset], to: now };
}

/** How long it is. */
export const spanOf = ({ from, to }: TimeRange): number => to - from;

/** The stretch of the same length that ends where this one begins. */
export function rangeBefore(range: TimeRange): TimeRange {
  return { from: range.from - spanOf(range), to: range.from };
}

/** Closer (factor below 1) or further out, keeping one instant where it is. */
export function zoomed(range: TimeRange, factor: number, around: number): TimeRange {
  const span = spanOf(range) * factor;
  const bounded = Math.min(Math.max(span, chartLimits.spanMsMin), chartLimits.spanMsMax);
  const share = spanOf(range) === 0 ? 0.5 : (around - range.from) / spanOf(range);
  const from = around - share * bounded;
  return { from, to: from + bounded };
}

/** Later (above 0) or earlier by a share of its length. */
export function panned(range: TimeRange, share: number): TimeRange {
  const byMs = spanOf(range) * share;
  return { from: range.from + byMs, to: range.to + byMs };
}

/** A range made of two instants in whatever order, never shorter than the eye can use. */
export function rangeBetween(one: number, other: number): TimeRange {
  const from = Math.min(one, other);
  return { from, to: Math.max(from + chartLimits.spanMsMin, one, other) };
}
