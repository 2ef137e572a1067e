import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import type { Instant } from '../lib/clock.ts';
import { isBareText, isStructured, looksLikeFormula } from '../lib/csv-cell.ts';
import { isBigNumber, type JsonValue } from '../lib/json.ts';
import { LongJson, type LongText, sliceCharacters, slicesOf } from '../lib/long-json.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

/** The first line of a CSV answer [contract 6]. */
export const csvHeader = ({ deviceId, sensorId }: Spelling = v2Spelling): string =>
  `${deviceId},${sensorId},value,timestamp,date_received\r\n`;

/** The first line where a version leaves the ids out [contract 9]. */
export const csvHeaderWithoutIds = 'timestamp, date_received, value\r\n';

/** How each line of a sensor begins. */
export const csvIds = ({ deviceId, sensorId }: SensorRef): string =>
  `${textCell(deviceId)},${textCell(sensorId)},`;

/** Writes a line of a CSV answer behind its ids; an absent timestamp is an empty cell. */
export function csvRowBehind(ids: string, datapoint: Datapoint): string | LongText {
  const { value, timestamp, receivedAt } = datapoint;
  return rowOf(ids, value, `,${timeCell(timestamp)},${formatTimestamp(receivedAt)}\r\n`);
}

/** Writes a line without the ids. */
export const csvRowWithoutIds = ({ value, timestamp, receivedAt }: Datapoint): string | LongText =>
  rowOf(`${timeCell(timestamp)},${formatTimestamp(receivedAt)},`, value, '\r\n');

const timeCell = (timestamp: Instant | undefined): string =>
  timestamp === undefined ? '' : formatTimestamp(timestamp);

/** A row of a long value is made while it is written. */
function rowOf(before: string, value: JsonValue, after: string): string | LongText {
  if (!(value instanceof LongJson)) return before + valueCell(value) + after;
  return {
    length: before.length + value.text.length + after.length,
    *[Symbol.iterator]() {
      yield before;
      yield* longCell(value);
      yield after;
    },
  };
}

/**
 * A datapoint's value as a cell from which cellJson restores it. Numbers, booleans and null
 * stand bare; the same words as text stand in quotes. Objects and arrays are JSON in quotes; text
 * that would be taken for those, or for a JSON string, is written as a JSON string.
 */
export function valueCell(value: JsonValue): string {
  if (value instanceof LongJson) return [...longCell(value)].join('');
  if (typeof value !== 'string') {
    const json = JSON.stringify(value);
    // Without the sign it would be read as a text.
    return isBare(value) ? json.replace(/^(\d+[eE])(\d)/, '$1+$2') : inQuotes(json);
  }
  // Half a surrogate pair survives UTF-8 only as an escape.
  if (!value.isWellFormed()) return inQuotes(JSON.stringify(value));
  if (looksLikeFormula(value)) return textCell(value);
  if (isStructured(value)) return inQuotes(JSON.stringify(value));
  return isBareText(value) ? textCell(value) : inQuotes(value);
}

/** Half of a surrogate pair is written so; what only looks like it is written as JSON as well. */
const halfPair = /\\ud/i;
/** A long text between these may be JSON; a long number is none. */
const jsonEnds: readonly string[] = ['""', '[]', '{}'];

/** The cell of a long value, slice by slice: always in quotes, and nothing of it is read twice. */
export function* longCell(value: LongJson): Generator<string> {
  yield '"';
  const isPlain = value.isString && !halfPair.test(value.text);
  const beginning = isPlain ? value.beginning(sliceCharacters) : '';
  if (!isPlain || mayBeJson(beginning, value)) {
    for (const slice of slicesOf(value.text, sliceCharacters)) yield slice.replaceAll('"', '""');
  } else {
    if (looksLikeFormula(beginning)) yield "'";
    for (const slice of value.characters()) yield slice.replaceAll('"', '""');
  }
  yield '"';
}

function mayBeJson(beginning: string, value: LongJson): boolean {
  if (looksLikeFormula(beginning)) return false;
  // White space at the ends may be of any length: nothing follows from it.
  const start = beginning.trimStart()[0] ?? '';
  const end = value.ending(sliceCharacters).trimEnd().at(-1) ?? '';
  return start === '' || end === '' || jsonEnds.includes(start + end);
}

/** Text as a cell, safe against spreadsheets that would take it for a formula. */
export function textCell(text: string): string {
  const safe = looksLikeFormula(text) ? `'${text}` : text;
  return needsQuotes.test(safe) || safe === '' ? inQuotes(safe) : safe;
}

// Beyond RFC 4180, white space at the ends: some readers drop it from bare cells.
const needsQuotes = /[",\r\n]|^\s|[\s\0]$/;

const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Numbers, booleans and null stand without quotes. */
function isBare(value: JsonValue): boolean {
  if (typeof value === 'string') return false;
  return typeof value !== 'object' || value === null || isBigNumber(value);
}
