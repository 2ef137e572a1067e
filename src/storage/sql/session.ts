import type { FairSlices } from '../../lib/scheduling/fair-slices.ts';
import type { DamagedRows } from '../faults.ts';

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
 * engine: `nocase(name)` compares names as accounts are compared, `each($1)` represents in a from
 * clause the elements of a list, with the columns `value` and `key` (its place); `each($1, $2)`
 * those of several lists of one length, with `value2` and so on.
 * SQLite has no statistics: `cross join … on` and `indexed by` give it the order and the index. It
 * has no buckets either: a column `bucket` is left out with the comma after it, and so is
 * `bucket = $1 and`; nor `collate "C"`, which is how it compares texts anyway.
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
  /** Runs this before the commit, once for all calls in it: what tidies up behind them. */
  atEnd(sql: string, ...values: readonly Value[]): void;
  /** Runs a statement without waiting for it; when it fails, nothing of the change is kept. */
  send(sql: string, ...values: readonly Value[]): void;
}

/** A session for reads. Throws DomainError unavailable when the database cannot be read. */
export interface SqlReader extends SqlSession {
  /** Slices of the thread that reads, where that is the service's own. */
  readonly turns?: FairSlices;
  /** Runs several reads so that they see the same commit. */
  inSnapshot<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer>;
}

/**
 * Changes of what a store holds, by their names. One runs in the transaction of a group commit: it
 * throws to undo its own changes, and never begins or commits. Its arguments and its answer can be
 * sent to another thread.
 */
export type Writes = Readonly<
  Record<string, (session: ChangeSession, ...args: never[]) => Promise<unknown>>
>;

type ArgumentsOf<Changes, Name extends keyof Changes> = Changes[Name] extends (
  session: ChangeSession,
  ...args: infer Arguments
) => Promise<unknown>
  ? Arguments
  : never;

/** The answer of a change. */
export type AnswerOf<Changes, Name extends keyof Changes> = Changes[Name] extends (
  ...args: never[]
) => Promise<infer Answer>
  ? Answer
  : never;

/** Everything that a store of both engines is made of. */
export interface SqlContext<Changes extends Writes> {
  readonly reader: SqlReader;
  /** Carries a change out; resolves when its commit is synced to disk. */
  write<Name extends keyof Changes>(
    name: Name,
    ...args: ArgumentsOf<Changes, Name>
  ): Promise<AnswerOf<Changes, Name>>;
  readonly damaged: DamagedRows;
}

/** A row of `select count(*) as n`. */
export interface Count {
  readonly n: number;
}

/** Inserts a row, with columns that the database computes. Answers how many rows it made. */
export function insertRow(
  session: SqlSession,
  table: string,
  row: Readonly<Record<string, Value>>,
  suffix = '',
  computed: Readonly<Record<string, string>> = {},
): Promise<number> {
  const given = Object.keys(row);
  const columns = [...given, ...Object.keys(computed)].join(', ');
  const places = [...given.map((_, at) => `$${at + 1}`), ...Object.values(computed)].join(', ');
  const sql = `insert into ${table} (${columns}) values (${places}) ${suffix}`;
  return session.run(sql, ...Object.values(row));
}

/** A change that deletes or revokes rows by their key; the last statement says if one was there. */
export const deletion =
  (...statements: readonly string[]) =>
  async (session: ChangeSession, ...key: string[]): Promise<'removed' | 'missing'> => {
    let count = 0;
    for (const sql of statements) count = await session.run(sql, ...key);
    return count === 0 ? 'missing' : 'removed';
  };

/** Counts the rows of a from clause. */
export async function countRows(
  session: SqlSession,
  from: string,
  ...values: readonly Value[]
): Promise<number> {
  return (await session.first<Count>(`select count(*) as n from ${from}`, ...values))?.n ?? 0;
}

const selectKept = `
  select cast(coalesce(sum(things), 0) as bigint) as n from list_counts
  where kind = $1 and part = $2`;

/** A list, and the part of `list_counts` that holds its length; absent: its rows are counted. */
interface PagedList {
  readonly columns: string;
  readonly from: string;
  readonly order?: string;
  readonly kept?: { readonly kind: string; readonly part: string };
}

/** Reads a page of the rows of a from clause, and how many there are in all. */
export async function readPage<Row>(
  session: SqlSession,
  { columns, from, order = 'position', kept }: PagedList,
  values: readonly Value[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const places = `limit $${values.length + 1} offset $${values.length + 2}`;
  const select = `select ${columns} from ${from} order by ${order} ${places}`;
  const rows = await session.all<Row>(select, ...values, limit, offset);
  if (kept === undefined) return { rows, total: await countRows(session, from, ...values) };
  return { rows, total: (await session.first<Count>(selectKept, kept.kind, kept.part))?.n ?? 0 };
}

/** The lists that a statement reads. */
export const listPattern = /\beach\((\$\d+(?:, \$\d+)*)\)/g;
const hintPattern = /\bcross (?=join (?!lateral))| indexed by \w+/g;

/** Writes a statement for PostgreSQL. */
export const forPostgres = (sql: string): string =>
  sql.replaceAll(hintPattern, '').replaceAll(listPattern, (_, places: string) => {
    const lists = places.split(', ').map((place) => `${place}::text[]`);
    const values = lists.map((_, at) => (at === 0 ? 'value' : `value${at + 1}`)).join(', ');
    return `(select * from unnest(${lists.join(', ')}) with ordinality
        as listed (${values}, key)) as given`;
  });

/** A condition of a where clause, with one `?` for each of its values, in their order. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The condition that holds where all of these do. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: ['true', ...conditions.map(({ sql }) => sql)].join(' and '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The statement with its question marks numbered. */
export function numbered(sql: string): string {
  let last = 0;
  return sql.replaceAll('?', () => {
    last += 1;
    return `$${last}`;
  });
}
