import { looksLikeFormula } from '../../../src/lib/csv-cell.ts';
import { type CsvCell, type CsvRecord, createCsvReader } from '../../../src/lib/csv-reader.ts';
import { findTimeZone, type TimeZone, utc } from '../../../src/lib/time-zone.ts';
import { formatTimestamp } from '../../../src/lib/timestamp.ts';

/** How a download is to look, and be read again. */
export interface TableForm {
  /** Whether there is a column for each sensor, instead of a row for each value. */
  readonly isWide: boolean;
  /** Times are those of its clocks; absent: of UTC, as the service writes them. */
  readonly zone?: string;
  /** As spreadsheets read it where people write 21,5: semicolons, and decimal commas. */
  readonly isSemicolon?: boolean;
  /** Columns of a wide table, by the names `device/sensor`. */
  readonly sensors: readonly string[];
}

/** Turns the CSV of a read, that arrives in pieces, into a CSV of another form. */
export interface CsvTable {
  push(text: string): string;
  end(): string;
}

const lineEnd = '\r\n';
/** The cell of the value in a record of a read; ids that look like numbers stay as they are. */
const valueAt = 2;
/** Records of a read have one value of at most a mebibyte. */
const recordCharactersMax = 4 * 1_048_576;

/** Makes tables that come back as they were: names of columns say the zone and the sensors. */
export function createCsvTable(form: TableForm): CsvTable {
  const { isWide, zone: name, sensors, isSemicolon = false } = form;
  const between = isSemicolon ? ';' : ',';
  const reader = createCsvReader({ recordCharactersMax });
  const zone = name === undefined ? undefined : findTimeZone(name);
  const named = (column: string): string => (zone === undefined ? column : `${column} (${name})`);
  const times = [named('timestamp'), named('date_received')];
  const head = isWide
    ? [times[0], ...sensors.map((sensor) => textCell(sensor, between))]
    : ['device_id', 'sensor_id', 'value', ...times];
  const row = createWideRow(sensors, between);
  let hasBegun = false;

  function lines(records: readonly CsvRecord[]): string {
    let text = hasBegun || records.length === 0 ? '' : `${head.join(between)}${lineEnd}`;
    for (const { cells } of hasBegun ? records : records.slice(1)) {
      const texts = cells.map((cell, at) => written(cell, isSemicolon, at === valueAt));
      const [device = '', sensor = '', value = '', timestamp = '', received = ''] = texts;
      const local = [timestamp, received].map((time) => localTime(time, zone));
      text += isWide
        ? row.put(local[0] || local[1] || '', textOf(cells, 0), textOf(cells, 1), value)
        : [device, sensor, value, ...local].join(between) + lineEnd;
    }
    hasBegun ||= records.length > 0;
    return text;
  }

  return {
    push: (text) => lines(reader.push(text)),
    end: () => lines(reader.end()) + row.end(),
  };
}

/** Ids without the guard of a formula, which none of them begins with. */
const textOf = (cells: readonly CsvCell[], at: number): string =>
  (cells[at]?.text ?? '').replace(/^'/, '');

/** Gathers the values of one time: one of each sensor makes a row. */
function createWideRow(sensors: readonly string[], between: string) {
  const places = new Map(sensors.map((sensor, place) => [sensor, place]));
  let time = '';
  let values = new Map<number, string>();

  function end(): string {
    if (values.size === 0) return '';
    const cells = sensors.map((_, place) => values.get(place) ?? '');
    values = new Map();
    return [time, ...cells].join(between) + lineEnd;
  }

  function put(at: string, device: string, sensor: string, value: string): string {
    const place = places.get(`${device}/${sensor}`);
    if (place === undefined) return '';
    const before = at !== time || values.has(place) ? end() : '';
    time = at;
    values.set(place, value);
    return before;
  }

  return { put, end };
}

const isNumber = (text: string): boolean => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

function written({ text, isQuoted }: CsvCell, isSemicolon: boolean, isValue: boolean): string {
  if (isQuoted || (isSemicolon && text.includes(';'))) return inQuotes(text);
  return isSemicolon && isValue && isNumber(text) ? text.replace('.', ',') : text;
}

const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`;

function textCell(text: string, between: string): string {
  const safe = looksLikeFormula(text) ? `'${text}` : text;
  return safe.includes(',') || safe.includes(between) ? inQuotes(safe) : safe;
}

/** As spreadsheets read it; the later one of a time that came twice says its offset. */
function localTime(text: string, zone: TimeZone | undefined): string {
  if (text === '' || zone === undefined || zone === utc) return text;
  const instant = Date.parse(text);
  const { offset } = zone.spanAt(instant);
  const local = instant + offset;
  const clock = formatTimestamp(local)
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '');
  return zone.firstAt(local) === instant ? clock : `${clock}${offsetText(offset)}`;
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset) / 60_000;
  const [hour, minute] = [minutes / 60, minutes % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  return `${offset < 0 ? '-' : '+'}${hour}:${minute}`;
}
