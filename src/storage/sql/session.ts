/** A parameter of a statement. A list of texts is bound as one parameter; `each($1)` reads it. */
export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly (string | null)[]
  | readonly (number | null)[]
  | readonly boolean[];

/**
 * Runs statements that both engines understand. Parameters are `$1`, `$2`. Two functions differ by
 * engine: `nocase(name)` compares names as accounts are compared, `each($1)` stands in a from
 * clause for the elements of a list, with the columns `value` and `key` (its place).
 */
export interface SqlSession {
  /** All rows; their fields are the columns of the statement. */
  all<Row>(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  /** The first row, if there is any. */
  first<Row>(sql: string, ...values: readonly Value[]): Promise<Row | undefined>;
  /** Answers how many rows it changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
}

/** The session of a change, inside the transaction of its group commit. */
export interface ChangeSession extends SqlSession {
  /** Runs this before the commit, once for all calls that share it: what tidies up behind them. */
  atEnd(sql: string, ...values: readonly Value[]): void;
  /** Runs a statement without waiting for it; when it fails, nothing of the change is kept. */
  send(sql: string, ...values: readonly Value[]): void;
}

/** A session for reads. Throws DomainError unavailable when the database cannot be read. */
export interface SqlReader extends SqlSession {
  /** Runs several reads so that they see the same commit. */
  inSnapshot<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer>;
}

/** A row of `select count(*) as n`. */
export interface Count {
  readonly n: number;
}

/** Applies `read` to a row that a select found; undefined where it found none. */
export function found<Row, Found>(
  row: Row | undefined,
  read: (row: Row) => Found,
): Found | undefined {
  return row === undefined ? undefined : read(row);
}

/** Inserts the fields of a row that are named like these columns. Answers how many rows it made. */
export function insertRow(
  session: SqlSession,
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

const listPattern = /each\((\$\d+)\)/g;
const namePattern = /nocase\(([\w.$]+)\)/g;

/** Writes a statement for PostgreSQL. */
export const forPostgres = (sql: string): string =>
  sql.replaceAll(
    listPattern,
    '(select value, key from unnest($1::text[]) with ordinality as listed (value, key)) as given',
  );

/** Writes a statement for SQLite, whose columns of names have the collation nocase. */
export const forSqlite = (sql: string): string =>
  sql
    .replaceAll(namePattern, '$1')
    .replaceAll(listPattern, 'json_each($1) as given')
    .replaceAll(/\$(\d+)/g, '?$1');
