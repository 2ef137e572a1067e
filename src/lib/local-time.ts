import type { Instant } from './clock.ts';
import type { TimeZone } from './time-zone.ts';
import { formatTimestamp, noTimestamp, parseTimestamp } from './timestamp.ts';

const offsetAtEnd = /[zZ]$|[+-]\d\d(?::?\d\d)?$| \d\d:?\d\d$/;
const utcAtEnd = /(?:UTC|GMT)$/i;
/** A date has no offset, nor has a time after a space, though they end as one does. */
const dateCharacters = '2016-06-08 '.length;

/**
 * An instant as people write it: `UTC` at its end is an offset too, and without any offset it is
 * the time on the clocks of the zone [contract 15]. Of a time that came twice it is the earlier
 * one. Answers the reason of a refusal otherwise, also of a time that the clocks left out.
 */
export function parseLocalTime(text: string, field: string, zone?: TimeZone): Instant | string {
  const given = text.trim();
  const trimmed = utcAtEnd.test(given) ? `${given.slice(0, -'UTC'.length).trimEnd()}Z` : given;
  const read = parseTimestamp(trimmed);
  if (read === undefined) return noTimestamp(trimmed, field);
  if (zone === undefined || offsetAtEnd.test(trimmed.slice(dateCharacters))) return read;
  const instant = zone.firstAt(read);
  if (instant + zone.spanAt(instant).offset === read) return instant;
  const meant = formatTimestamp(read - zone.spanAt(instant - 1).offset);
  return `${field} ${trimmed} was left out by the clocks of the timezone: did you mean ${meant}`;
}
