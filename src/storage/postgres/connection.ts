import pg from 'pg';
import { escapeText, unescapeText } from './text.ts';

/** What a statement may be given for its parameters. */
export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly (string | null)[]
  | readonly (number | null)[]
  | readonly boolean[];

/** Where statements run: one connection, or whichever is free. */
export interface Session {
  /** All rows; their fields are the columns of the statement. */
  all<Row>(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  /** The first row, if there is any. */
  first<Row>(sql: string, ...values: readonly Value[]): Promise<Row | undefined>;
  /** Answers how many rows it changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
}

const int8 = 20;
const text = 25;
const numeric = 1700;
const defaultParser = pg.types.getTypeParser;

/** Numbers are numbers, whatever their width, and texts are as they were given. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (oid === int8 || oid === numeric) return Number;
    if (oid === text) return unescapeText;
    return defaultParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

/** There are few texts of statements; each is prepared once by a connection, under its name. */
const names = new Map<string, string>();
const namesMax = 1_000;

function nameOf(sql: string): string | undefined {
  const known = names.get(sql);
  if (known !== undefined || names.size >= namesMax) return known;
  const name = `s${names.size}`;
  names.set(sql, name);
  return name;
}

/** What can run one statement. */
type Queryable = Pick<pg.ClientBase | pg.Pool, 'query'>;

/** A session on this connection. */
export function sessionOn(client: Queryable): Session {
  async function query(sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
    const name = nameOf(sql);
    return client.query({
      text: sql,
      values: values.map(bound),
      ...(name !== undefined && { name }),
    });
  }
  return {
    // The statement names exactly the columns that Row has.
    all: async <Row>(sql: string, ...values: readonly Value[]) =>
      (await query(sql, values)).rows as Row[],
    first: async <Row>(sql: string, ...values: readonly Value[]) =>
      (await query(sql, values)).rows[0] as Row | undefined,
    run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
  };
}

/** Statements that nobody waits for before the end of their transaction. */
export interface Sender {
  /** Runs a statement behind those before; answers at once. */
  send(sql: string, ...values: readonly Value[]): void;
  /** Rejects with what the first of them failed with that did; waits for all of them otherwise. */
  arrived(): Promise<unknown>;
}

/** Sends on the connection of this session, behind what it was asked before. */
export function createSender(session: Session): Sender {
  const sent: Promise<unknown>[] = [];
  return {
    send(sql, ...values) {
      const running = session.run(sql, ...values);
      // `arrived` tells it.
      running.catch(() => undefined);
      sent.push(running);
    },
    arrived: () => Promise.all(sent),
  };
}

function bound(value: Value): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return boundArray(value);
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return value;
}

/** Arrays of numbers and of true and false as PostgreSQL writes them: nothing in them is quoted. */
function boundArray(elements: readonly unknown[]): unknown {
  if (elements.some((element) => typeof element === 'string')) return elements.map(boundElement);
  return `{${elements.map((element) => element ?? 'NULL').join(',')}}`;
}

const boundElement = (element: unknown): unknown =>
  typeof element === 'string' ? escapeText(element) : element;

/** What is read of a row that a select found; undefined where it found none. */
export function found<Row, Found>(
  row: Row | undefined,
  read: (row: Row) => Found,
): Found | undefined {
  return row === undefined ? undefined : read(row);
}

/** Inserts the fields of a row that are named like these columns. Answers how many rows it made. */
export function insertRow(
  session: Session,
  table: string,
  columns: string,
  row: Readonly<Record<string, Value>>,
  suffix = '',
): Promise<number> {
  const names = columns.split(',').map((name) => name.trim());
  const places = names.map((_, at) => `$${at + 1}`).join(', ');
  const sql = `insert into ${table} (${columns}) values (${places}) ${suffix}`;
  const values = new Map(Object.entries(row));
  return session.run(sql, ...names.map((name) => values.get(name) ?? null));
}
