import Type from 'typebox';
import { type Retention, retentionLimits } from '../domain/datapoints/retention/retention.ts';
import type { RetentionState } from '../domain/datapoints/retention/retentions.ts';
import { invalid } from '../domain/errors.ts';
import { defined, ifDefined, isRecord } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { DateText, Message, Whole, type Wire, Word } from './fields.ts';

const Days = (description: string) =>
  Type.Integer({ minimum: 1, maximum: retentionLimits.retentionDaysMax, description });

const rawDays = Days('For how many days datapoints are kept; null: for ever.');
const hourlyDays = Days('For how many days what they came to by the hour is kept; null: for ever.');

/** A retention as it is set: a number that is absent or null is for ever. */
export const NewRetentionMessage = Message('NewRetention', {
  raw_days: Type.Optional(rawDays),
  hourly_days: Type.Optional(hourlyDays),
});

/** A retention, where it comes from, and what it does next. */
export const RetentionMessage = Message('Retention', {
  raw_days: Type.Union([rawDays, Type.Null()]),
  hourly_days: Type.Union([hourlyDays, Type.Null()]),
  source: Word('Where it is set: sensor, device, user, or service: by configuration, or nowhere.'),
  next: Type.Object({
    datapoints: Whole('How many go next.'),
    before: Type.Optional(DateText('All of them are earlier. Absent: none ever goes.')),
  }),
});

/** Reads what is to be set. */
export function readRetention(body: unknown): Retention {
  if (!isRecord(body))
    throw invalid('send an object such as {"raw_days": 90, "hourly_days": 3650}');
  const rawDays = readDays(body, 'raw_days');
  return defined({ rawDays, hourlyDays: readDays(body, 'hourly_days') });
}

function readDays(body: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const days = Object.hasOwn(body, name) ? body[name] : undefined;
  if (days === undefined || days === null) return undefined;
  const max = retentionLimits.retentionDaysMax;
  if (typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= max) return days;
  throw invalid(`${name} must be a whole number of days, 1 to ${max}, or null: for ever`);
}

export function retentionToWire(state: RetentionState): Wire<typeof RetentionMessage> {
  const { retention, source, next } = state;
  return {
    raw_days: retention.rawDays ?? null,
    hourly_days: retention.hourlyDays ?? null,
    source,
    next: defined({ datapoints: next.datapoints, before: ifDefined(next.before, formatTimestamp) }),
  };
}
