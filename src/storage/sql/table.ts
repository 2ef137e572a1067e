import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import type { DamagedRows } from '../faults.ts';
import type { Value } from './session.ts';

/** A row of a table, by the names of its columns. */
export type Row = Readonly<Record<string, Value>>;

type Fields<Thing> = readonly (keyof Thing & string)[];

/** Fields that have a column. All others are in the column `details`, as JSON text. */
interface Columns<Thing> {
  /** Kept as they are; null represents an absent one. */
  readonly plain: Fields<Thing>;
  /** Kept as JSON text, which escapes what the text of a database cannot hold. */
  readonly json?: Fields<Thing>;
  /** Kept as 0 or 1. */
  readonly flags?: Fields<Thing>;
  /** Kept as 0 or 1; true or absent. */
  readonly marks?: Fields<Thing>;
  /** Columns that are not named like their field in snake case. */
  readonly names?: Readonly<Partial<Record<keyof Thing, string>>>;
  /** Whether there is a column `details`; by default there is. */
  readonly hasDetails?: boolean;
}

/** How the things of a table are written to rows and read from them. */
export interface Table<Thing> {
  readonly name: string;
  readonly columns: string;
  /** The columns after the name of the table, for statements that join others. */
  readonly qualified: string;
  toRow(thing: Thing): Row;
  /** Throws when the row cannot be understood. */
  fromRow(row: Row): Thing;
}

/** Describes a table. Rows hold what parsed ids and checked enums were written from. */
export function createTable<Thing extends object>(
  name: string,
  { plain, json = [], flags = [], marks = [], names, hasDetails = true }: Columns<Thing>,
): Table<Thing> {
  const columnOf = (field: keyof Thing & string): string =>
    names?.[field] ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const fields = [...plain, ...json, ...flags, ...marks];
  const own = new Map<string, string>(fields.map((field) => [field, columnOf(field)]));
  const columns = [...own.values(), ...(hasDetails ? ['details'] : [])];
  const pairs = (list: Fields<Thing>) => list.map((field) => [field, columnOf(field)] as const);
  const [asTexts, asFlags, asMarks] = [pairs(json), pairs(flags), pairs(marks)];
  const asTheyAre = pairs(plain);
  return {
    name,
    columns: columns.join(', '),
    qualified: columns.map((column) => `${name}.${column}`).join(', '),
    toRow(thing) {
      const row: Record<string, Value> = {};
      for (const [field, column] of asTheyAre) row[column] = (thing[field] as Value) ?? null;
      for (const [field, column] of asTexts) {
        row[column] = thing[field] === undefined ? null : JSON.stringify(thing[field]);
      }
      for (const [field, column] of [...asFlags, ...asMarks]) {
        row[column] = Number(thing[field] ?? false);
      }
      const others = Object.entries(thing).filter(([field]) => !own.has(field));
      return hasDetails ? { ...row, details: JSON.stringify(Object.fromEntries(others)) } : row;
    },
    fromRow(row) {
      const thing: Record<string, unknown> = hasDetails
        ? { ...detailsFrom<object>(String(row['details'])) }
        : {};
      for (const [field, column] of asTheyAre) if (row[column] !== null) thing[field] = row[column];
      for (const [field, column] of asTexts) {
        if (row[column] !== null) thing[field] = parseJson(String(row[column]));
      }
      for (const [field, column] of asFlags) thing[field] = row[column] !== 0;
      for (const [field, column] of asMarks) if (row[column] !== 0) thing[field] = true;
      // The row was written from such a thing.
      return thing as Thing;
    },
  };
}

/** Reads rows of a table; answers undefined for those that are set aside. */
export const reading =
  <Thing>(damaged: DamagedRows, { name, fromRow }: Table<Thing>) =>
  (row: Row): Thing | undefined =>
    damaged.read(name, String(row['id']), () => fromRow(row));

/** Applies `read` to a row that a select found; undefined where it found none. */
export function found<Row, Found>(
  row: Row | undefined,
  read: (row: Row) => Found,
): Found | undefined {
  return row === undefined ? undefined : read(row);
}

/** A row holds something that this program did not write. */
export class DamagedRowError extends Error {
  override readonly name = 'DamagedRowError';
}

/** The object that a JSON text holds; throws where it holds none. */
export function detailsFrom<Details>(text: string): Details {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new DamagedRowError('the details are no JSON object');
  // The text was written from such an object.
  return value as Details;
}

/** The texts of an array that a JSON text holds; throws where it holds none. */
export function textsFrom(text: string): readonly string[] {
  const value = parseJson(text);
  if (!areTexts(value)) throw new DamagedRowError('expected a JSON array of texts');
  return value;
}

/** The numbers of an array that a JSON text holds; throws where it holds none. */
export function numbersFrom(text: string): readonly number[] {
  const value = parseJson(text);
  if (Array.isArray(value) && value.every((element) => typeof element === 'number')) return value;
  throw new DamagedRowError('expected a JSON array of numbers');
}

export function areTexts(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}
