import { DomainError, invalid } from '../domain/errors.ts';
import type { Instant } from '../lib/clock.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import type { TimeZone } from '../lib/time-zone.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { readTimeZone } from './local-time.ts';
import {
  given,
  parametersOf,
  readForm,
  readJsonObject,
  type UpdateParameters,
} from './thing-speak.ts';

/** Many updates of one device in one body. */
export interface BulkUpdate {
  /** Parameters beside the updates, the key among them. */
  readonly parameters: UpdateParameters;
  /** In their order; each has its `created_at`, where a time is known, or why it is none. */
  readonly updates: readonly (UpdateParameters | DomainError)[];
  readonly zone: TimeZone | undefined;
}

/** The meanings of the cells of a row. */
const columns: readonly string[] = [
  'time',
  ...Array.from({ length: 8 }, (_, index) => `field${index + 1}`),
  ...['latitude', 'longitude', 'elevation', 'status'],
];

/** Reads a body of bulk_update.json, or a form of bulk_update.csv. Throws DomainError invalid. */
export function readBulkUpdate(bytes: Buffer, isJson: boolean, now: Instant): BulkUpdate {
  const read = isJson ? ofObject(bytes) : ofForm(bytes);
  const zone = read.parameters.get('timezone');
  return {
    parameters: read.parameters,
    updates: timed(read.updates, now),
    zone: zone === undefined ? undefined : readTimeZone(zone),
  };
}

type Read = Pick<BulkUpdate, 'parameters' | 'updates'>;

function ofObject(bytes: Buffer): Read {
  const { updates, ...others } = readJsonObject(bytes);
  if (!Array.isArray(updates)) throw invalid('updates must be an array of objects');
  const elements: readonly JsonValue[] = updates;
  return {
    parameters: parametersOf(others),
    updates: elements.map((element) => {
      if (isJsonObject(element)) return parametersOf(element);
      return invalid('an update must be an object such as {"field1": 21.5}');
    }),
  };
}

function ofForm(bytes: Buffer): Read {
  const parameters = readForm(bytes);
  const time = parameters.get('time_format') === 'relative' ? 'delta_t' : 'created_at';
  const rows = (parameters.get('updates') ?? '').split('|').filter((row) => row.trim() !== '');
  if (rows.length === 0) throw invalid('updates must hold rows such as 2026-03-01T08:00:00Z,21.5');
  return {
    parameters,
    updates: rows.map((row) => {
      const cells = row.split(',');
      if (cells.length > columns.length) {
        return invalid(`the row has ${cells.length} cells, expected ${columns.length}`);
      }
      const named = cells.map((cell, at) => [columns[at] ?? '', cell.trim()] as const);
      return given(named.map(([name, cell]) => [name === 'time' ? time : name, cell]));
    }),
  };
}

/**
 * With the times of those that say how long after the one before they were made [decision 0024]:
 * the last one was made now. Before one that cannot be read, no time is known.
 */
function timed(updates: Read['updates'], now: Instant): Read['updates'] {
  if (!updates.some((update) => !isRefused(update) && update.has('delta_t'))) return updates;
  let at: Instant | DomainError = now;
  return updates.toReversed().map(withTime).toReversed();

  function withTime(update: UpdateParameters | DomainError): UpdateParameters | DomainError {
    const own = at;
    at = isRefused(update) ? update : theOneBefore(own, update);
    if (isRefused(update)) return update;
    if (isRefused(at) && at !== own) return at;
    if (update.has('created_at')) return update;
    return isRefused(own) ? own : new Map([...update, ['created_at', formatTimestamp(own)]]);
  }
}

const isRefused = (value: unknown): value is DomainError => value instanceof DomainError;

/** When the update before it was made, or why that is not known. */
function theOneBefore(at: Instant | DomainError, update: UpdateParameters): Instant | DomainError {
  const seconds = Number(update.get('delta_t') ?? 0);
  if (!(seconds >= 0 && seconds <= deltaMax)) {
    return invalid('delta_t must be the seconds since the update before');
  }
  return isRefused(at) ? at : at - Math.round(seconds * 1_000);
}

/** A year. */
const deltaMax = 31_536_000;
