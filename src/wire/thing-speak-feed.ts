import { type Datapoint, orderTime } from '../domain/datapoints/datapoint.ts';
import type { Instant } from '../lib/clock.ts';
import type { JsonValue } from '../lib/json.ts';
import { LongJson } from '../lib/long-json.ts';
import type { TimeZone } from '../lib/time-zone.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { textCell } from './csv.ts';
import { xmlText } from './thing-speak.ts';

/** ThingSpeak's fields hold no more. */
const fieldCharactersMax = 255;

/** Values measured at one time, by the names of the fields. */
export interface FeedEntry {
  readonly at: Instant;
  readonly values: ReadonlyMap<string, string>;
}

/** The shapes that a feed is read in; txt is of one value. */
export type FeedShape = 'json' | 'csv' | 'xml' | 'txt';

/** Gathers the newest datapoints of fields into entries. */
export function createFeed() {
  const entries = new Map<Instant, Map<string, string>>();
  return {
    add(field: string, datapoint: Datapoint): void {
      const at = orderTime(datapoint);
      const values = entries.get(at) ?? new Map<string, string>();
      values.set(field, shown(datapoint.value));
      entries.set(at, values);
    },
    /** The newest so many, in the order of their times. */
    newest(count: number): readonly FeedEntry[] {
      const times = Float64Array.from(entries.keys()).sort();
      return [...times.subarray(Math.max(0, times.length - count))].map((at) => ({
        at,
        values: entries.get(at) ?? new Map(),
      }));
    },
  };
}

function shown(value: JsonValue): string {
  if (typeof value === 'string') return value.slice(0, fieldCharactersMax);
  if (value instanceof LongJson) return value.beginning(fieldCharactersMax);
  return JSON.stringify(value).slice(0, fieldCharactersMax);
}

/** The description of the channel of a feed. */
export interface FeedHead {
  readonly channelId: string;
  readonly fields: readonly string[];
  readonly zone: TimeZone | undefined;
}

/** The number of an entry, as an update is answered. */
const numberOf = ({ at }: FeedEntry): number => Math.floor(at / 1_000);

/** To the second, as ThingSpeak writes it; with the offset of a zone where one is asked for. */
function dated({ at }: FeedEntry, zone: TimeZone | undefined): string {
  if (zone === undefined) return `${formatTimestamp(at).slice(0, 19)}Z`;
  const { offset } = zone.spanAt(at);
  const minutes = Math.abs(Math.round(offset / 60_000));
  const digits = (count: number): string => String(count).padStart(2, '0');
  const sign = offset < 0 ? '-' : '+';
  const clock = `${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
  return `${formatTimestamp(at + offset).slice(0, 19)}${sign}${clock}`;
}

const entryObject = (head: FeedHead, entry: FeedEntry): object => ({
  created_at: dated(entry, head.zone),
  entry_id: numberOf(entry),
  ...Object.fromEntries(head.fields.map((field) => [field, entry.values.get(field) ?? null])),
});

const csvCells = (head: FeedHead, entry: FeedEntry): string =>
  [
    dated(entry, head.zone).replace('T', ' ').replace('Z', ' UTC'),
    numberOf(entry),
    ...head.fields.map((field) => {
      const value = entry.values.get(field) ?? '';
      return value === '' ? '' : textCell(value);
    }),
  ].join(',');

const csvNames = (head: FeedHead): string => `created_at,entry_id,${head.fields.join(',')}\n`;

const xmlEntry = (head: FeedHead, entry: FeedEntry, name: string): string => {
  const fields = head.fields.map((field) => {
    const value = entry.values.get(field);
    return value === undefined
      ? `<${field} nil="true"/>`
      : `<${field}>${xmlText(value)}</${field}>`;
  });
  const created = `<created-at type="dateTime">${dated(entry, head.zone)}</created-at>`;
  const id = `<entry-id type="integer">${numberOf(entry)}</entry-id>`;
  return `<${name}>${created}${id}${fields.join('')}</${name}>\n`;
};

const xmlHead = '<?xml version="1.0" encoding="UTF-8"?>\n';
/** Entries that are written at once. */
const entriesPerPiece = 500;

/** A feed as text, piece by piece. */
export async function* feedText(
  head: FeedHead,
  entries: readonly FeedEntry[],
  shape: FeedShape,
): AsyncGenerator<string> {
  const names = Object.fromEntries(head.fields.map((field) => [field, field]));
  const channel = { id: head.channelId, name: head.channelId, ...names };
  if (shape === 'csv') yield csvNames(head);
  else if (shape === 'xml') yield `${xmlHead}<channel><id>${xmlText(head.channelId)}</id><feeds>\n`;
  else yield `{"channel":${JSON.stringify(channel)},"feeds":[`;
  for (let start = 0; start < entries.length; start += entriesPerPiece) {
    const part = entries.slice(start, start + entriesPerPiece);
    if (shape === 'csv') yield part.map((entry) => `${csvCells(head, entry)}\n`).join('');
    else if (shape === 'xml') yield part.map((entry) => xmlEntry(head, entry, 'feed')).join('');
    else {
      const json = part.map((entry) => JSON.stringify(entryObject(head, entry))).join(',');
      yield start === 0 ? json : `,${json}`;
    }
  }
  if (shape === 'xml') yield '</feeds></channel>\n';
  else if (shape !== 'csv') yield ']}';
}

/** The newest entry as text; of none ThingSpeak says -1. */
export function lastText(head: FeedHead, entry: FeedEntry | undefined, shape: FeedShape): string {
  if (entry === undefined) return shape === 'json' ? '"-1"' : '-1';
  if (shape === 'csv') return `${csvNames(head)}${csvCells(head, entry)}\n`;
  if (shape === 'xml') return `${xmlHead}${xmlEntry(head, entry, 'feed')}`;
  if (shape === 'json') return JSON.stringify(entryObject(head, entry));
  return head.fields.map((field) => entry.values.get(field) ?? '').join(',');
}
