import type { Instant } from './clock.ts';
import type { TimeZone } from './time-zone.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** 1970-01-01 was a Thursday; weeks begin on Mondays. */
const firstMonday = -3;
const clockUnits = { s: second, m: minute, h: hour } as const;
/** A hundred years each: no series is longer than a few such buckets. */
const clockLengthMax = 36_525 * day;
const calendarCountsMax = { d: 36_525, w: 5_218, mo: 1_200, y: 100 } as const;
type CalendarUnit = keyof typeof calendarCountsMax;

/** How time is cut into buckets: by the clock, a number of milliseconds; or by the calendar. */
export type Interval =
  | { readonly kind: 'clock'; readonly lengthMs: number }
  | { readonly kind: 'calendar'; readonly unit: CalendarUnit; readonly count: number };

/** A stretch of time that begins with `start` and ends before `end`. */
export interface TimeBucket {
  readonly start: Instant;
  readonly end: Instant;
}

/** The bucket that an instant falls into. */
export type BucketOf = (instant: Instant) => TimeBucket;

/** The interval of a text such as 15m, 1h, 1d or 3mo, up to a hundred years; else undefined. */
export function parseInterval(text: string): Interval | undefined {
  const [, digits, unit] = /^([1-9]\d{0,9})(s|m|h|d|w|mo|y)$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const count = Number(digits);
  if (isClockUnit(unit)) {
    const lengthMs = count * clockUnits[unit];
    return lengthMs <= clockLengthMax ? { kind: 'clock', lengthMs } : undefined;
  }
  if (!isCalendarUnit(unit) || count > calendarCountsMax[unit]) return undefined;
  return { kind: 'calendar', unit, count };
}

const isClockUnit = (unit: string): unit is keyof typeof clockUnits =>
  Object.hasOwn(clockUnits, unit);
const isCalendarUnit = (unit: string): unit is CalendarUnit =>
  Object.hasOwn(calendarCountsMax, unit);

/**
 * Cuts time into buckets as a clock and a calendar on the wall of that zone would. A clock interval
 * that divides a day begins anew whenever the clock shows a multiple of it, or jumps over one; any
 * other one counts from 1970-01-01T00:00Z, whatever the zone. Days, weeks, months and years begin
 * at the first instant of their first date, which midnight need not be.
 */
export function createBuckets(interval: Interval, zone: TimeZone): BucketOf {
  if (interval.kind === 'calendar') return calendarBuckets(interval, zone);
  const { lengthMs } = interval;
  if (lengthMs < day && day % lengthMs === 0) return clockBuckets(lengthMs, zone);
  return (instant) => {
    const start = Math.floor(instant / lengthMs) * lengthMs;
    return { start, end: start + lengthMs };
  };
}

function clockBuckets(lengthMs: number, zone: TimeZone): BucketOf {
  /** Whether the clock shows a multiple at this end of a span, or jumps over one there. */
  function isBorder(change: Instant): boolean {
    const before = change + zone.spanAt(change - 1).offset;
    const after = change + zone.spanAt(change).offset;
    if (after % lengthMs === 0) return true;
    return Math.ceil(before / lengthMs) * lengthMs < after;
  }
  function startOf(instant: Instant): Instant {
    const { from, offset } = zone.spanAt(instant);
    const start = Math.floor((instant + offset) / lengthMs) * lengthMs - offset;
    if (start >= from) return start;
    return isBorder(from) ? from : startOf(from - 1);
  }
  function endOf(instant: Instant): Instant {
    const { to, offset } = zone.spanAt(instant);
    const end = (Math.floor((instant + offset) / lengthMs) + 1) * lengthMs - offset;
    if (end < to) return end;
    return isBorder(to) ? to : endOf(to);
  }
  return (instant) => {
    const { from, to, offset } = zone.spanAt(instant);
    const start = Math.floor((instant + offset) / lengthMs) * lengthMs - offset;
    const end = start + lengthMs;
    // Nearly always all of it lies between two changes of the clock.
    if (start >= from && end < to) return { start, end };
    return { start: startOf(instant), end: endOf(instant) };
  };
}

function calendarBuckets(
  { unit, count }: Extract<Interval, { kind: 'calendar' }>,
  zone: TimeZone,
): BucketOf {
  const startOf = (number: number): Instant => zone.firstAt(localStartOf(unit, number * count));
  return (instant) => {
    const localTime = instant + zone.spanAt(instant).offset;
    let number = Math.floor(unitsUntil(unit, localTime) / count);
    let start = startOf(number);
    let end = startOf(number + 1);
    // Clocks that were put back over midnight show the old date again: the new one has begun.
    while (end <= instant) {
      number += 1;
      start = end;
      end = startOf(number + 1);
    }
    return { start, end };
  };
}

/** Whole units from the first one, in or near 1970, to the local time. */
function unitsUntil(unit: CalendarUnit, localTime: number): number {
  const days = Math.floor(localTime / day);
  if (unit === 'd') return days;
  if (unit === 'w') return Math.floor((days - firstMonday) / 7);
  const date = new Date(localTime);
  const year = date.getUTCFullYear();
  return unit === 'y' ? year : year * 12 + date.getUTCMonth();
}

/** The local midnight with which a unit begins. */
function localStartOf(unit: CalendarUnit, number: number): number {
  if (unit === 'd') return number * day;
  if (unit === 'w') return (number * 7 + firstMonday) * day;
  // Not Date.UTC: it takes the years 0 to 99 for those after 1900.
  return unit === 'y'
    ? new Date(0).setUTCFullYear(number, 0, 1)
    : new Date(0).setUTCFullYear(0, number, 1);
}
