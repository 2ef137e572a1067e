import type { Instant } from './clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** No zone was ever further from UTC than this; Manila in 1844 comes closest. */
const offsetMaxMs = 16 * hourMs;
/** Days of one zone that are remembered: a reader walks along time and seldom goes back. */
const daysRememberedMax = 64;
/** The longest name of a zone has 32 characters. */
const nameCharactersMax = 64;

/** A stretch of time during which the clocks of a zone were not changed, so far as it says. */
export interface ZoneSpan {
  readonly from: Instant;
  /** Not included. */
  readonly to: Instant;
  /** Local time minus UTC, in milliseconds. */
  readonly offset: number;
}

/**
 * The clocks of one place. A local time is written as the milliseconds that a clock without a zone
 * would count since 1970-01-01T00:00.
 */
export interface TimeZone {
  /** A span around the instant; those before and after it may have the same offset. */
  spanAt(instant: Instant): ZoneSpan;
  /** The first instant at which the local time is this or later: clocks may jump over it. */
  firstAt(localTime: number): Instant;
}

const always: ZoneSpan = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  offset: 0,
};

/** UTC, whose clocks are never changed. */
export const utc: TimeZone = {
  spanAt: () => always,
  firstAt: (localTime) => localTime,
};

/** The zone of an IANA name such as Africa/Dakar, or undefined. */
export function findTimeZone(name: string): TimeZone | undefined {
  if (name.length > nameCharactersMax) return undefined;
  if (name.toUpperCase() === 'UTC') return utc;
  const offsetAt = createOffsets(name);
  return offsetAt === undefined ? undefined : createZone(offsetAt);
}

type OffsetAt = (instant: Instant) => number;

function createOffsets(timeZone: string): OffsetAt | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      timeZoneName: 'longOffset',
      minute: 'numeric',
    });
  } catch (reason) {
    if (reason instanceof RangeError) return undefined;
    throw reason;
  }
  return (instant) => readOffset(format.format(instant));
}

const offsetAtEnd = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** "30 GMT-00:44:30" → -2 670 000 */
function readOffset(text: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = offsetAtEnd.exec(text) ?? [];
  const size = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds) * 1_000;
  return sign === '-' ? -size : size;
}

function createZone(offsetAt: OffsetAt): TimeZone {
  const days = new Map<number, readonly ZoneSpan[]>();

  function spansOf(day: number): readonly ZoneSpan[] {
    const known = days.get(day);
    if (known !== undefined) return known;
    const spans = findSpans(offsetAt, day * dayMs, (day + 1) * dayMs);
    if (days.size === daysRememberedMax) days.clear();
    days.set(day, spans);
    return spans;
  }

  function spanAt(instant: Instant): ZoneSpan {
    const spans = spansOf(Math.floor(instant / dayMs));
    for (const span of spans) if (instant < span.to) return span;
    throw new RangeError(`no span of the zone holds ${instant}`);
  }

  return {
    spanAt,
    firstAt(localTime) {
      // Before this the local time was earlier, whatever the offset; a few spans on it is reached.
      let span = spanAt(localTime - offsetMaxMs);
      while (span.to + span.offset <= localTime) span = spanAt(span.to);
      return Math.max(span.from, localTime - span.offset);
    },
  };
}

/**
 * Finds the change between two instants that are at most a day apart. There is one at most: the
 * shortest time between two changes of one place, Boa Vista in 2000, was a week.
 */
function findSpans(offsetAt: OffsetAt, start: Instant, end: Instant): readonly ZoneSpan[] {
  const offset = offsetAt(start);
  const offsetAfter = offsetAt(end);
  if (offset === offsetAfter) return [{ from: start, to: end, offset }];
  let low = start;
  let high = end;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === offset) low = middle;
    else high = middle;
  }
  const first = { from: start, to: high, offset };
  if (high === end) return [first];
  return [first, { from: high, to: end, offset: offsetAfter }];
}
