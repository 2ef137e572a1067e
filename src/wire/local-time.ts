import { invalid } from '../domain/errors.ts';
import type { Instant } from '../lib/clock.ts';
import { parseLocalTime } from '../lib/local-time.ts';
import { findTimeZone, type TimeZone } from '../lib/time-zone.ts';

/** The zone of a name that a client sent. Throws DomainError invalid. */
export function readTimeZone(name: string): TimeZone {
  const zone = findTimeZone(name.trim());
  if (zone !== undefined) return zone;
  const shown = JSON.stringify(name.slice(0, 60));
  throw invalid(`timezone must be a name such as Africa/Nairobi, got ${shown}`);
}

/** The instant that parseLocalTime reads. Throws DomainError invalid for its reasons. */
export function readLocalInstant(text: string, field: string, zone?: TimeZone): Instant {
  const read = parseLocalTime(text, field, zone);
  if (typeof read === 'string') throw invalid(read);
  return read;
}
