import { InvalidArgumentError } from 'commander';
import { ownEntry } from '../src/lib/own-entry.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Milliseconds of a text such as 10s, 5m, 12h, 30d; throws a usage error for anything else. */
export function parseDuration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|[smhdw])$/.exec(text) ?? [];
  const durationMs = Math.round(Number(digits) * (ownEntry(units, unit) ?? Number.NaN));
  if (durationMs > 0) return durationMs;
  throw new InvalidArgumentError(
    'write a number above 0 and a unit, for instance 10s, 5m, 12h, 30d.',
  );
}

/** The same for what is waited for: Node's timers end after 24.8 days. */
export function parseWait(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs < 2 ** 31) return durationMs;
  throw new InvalidArgumentError('it must be at most 24d.');
}

/** A reader of whole numbers from `min` to `max`, for an option. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`it must be a whole number, ${min} to ${max}.`);
  };
}
