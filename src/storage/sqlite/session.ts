import { statfsSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { DomainError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { type ChangeSession, listPattern, type SqlReader, type Value } from '../sql/session.ts';

// https://sqlite.org/rescode.html: what the machine refuses, not what our statements did wrong.
const sentences = new Map<number, string>([
  [3, 'the database file may not be opened: check its permissions'],
  [5, 'the database is busy: another process holds it'],
  [6, 'the database is locked'],
  [7, 'the machine has no memory left for the database'],
  [8, 'the database file cannot be written: check its permissions and the file system'],
  [10, 'the disk failed while the database used it'],
  [11, 'the database file is damaged: restore a backup'],
  [13, 'the disk is full'],
  [14, 'the database file cannot be opened'],
  [15, 'the database is locked'],
  [26, 'the database file is not a SQLite database'],
]);

/** The primary result code of an error that SQLite raised; undefined for any other error. */
export function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** The fault of the machine, as a sentence; undefined when the error is a bug of ours. */
export function describeFailure(error: unknown): string | undefined {
  const code = resultCodeOf(error);
  return code === undefined ? undefined : sentences.get(code);
}

/** Full disk: SQLite says so, or an operation failed on a disk that has no space left. */
const fullCode = 13;
const inputOutputCode = 10;
const fullSentence =
  'the disk is full: what is stored stays readable; an administrator must make room';
/** A disk with less cannot hold a commit and the shared memory of the log. */
const roomBytesMin = 131_072;

/**
 * How a write is refused that the machine did not carry out [contract 14]; undefined when the error
 * is a bug of ours. `hasRoom` is asked after a failed operation of the disk alone.
 */
export function refusalOfWrite(error: unknown, hasRoom: () => boolean): WriteRefusal | undefined {
  const code = resultCodeOf(error);
  if (code === fullCode || (code === inputOutputCode && !hasRoom())) {
    return { code: 'storage_full', message: fullSentence };
  }
  const sentence = describeFailure(error);
  return sentence === undefined ? undefined : { code: 'unavailable', message: sentence };
}

/** Whether the disk of the directory has space for a commit; true where that is unknown. */
export function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= roomBytesMin;
  } catch {
    return true;
  }
}

/** A refusal as the caller of a write receives it. */
export interface WriteRefusal {
  readonly code: 'storage_full' | 'unavailable';
  readonly message: string;
}

/** Turns what the machine refuses a read into DomainError unavailable; leaves other errors. */
export function asRefusal(error: unknown): unknown {
  const sentence = describeFailure(error);
  return sentence === undefined
    ? error
    : new DomainError('unavailable', sentence, { cause: error, retryAfterSeconds: 5 });
}

/** Runs one read; a failing disk becomes a rejection with DomainError unavailable. */
export async function readSafely<Answer>(read: () => Answer): Promise<Answer> {
  try {
    return read();
  } catch (error) {
    throw asRefusal(error);
  }
}

/** There are few texts of statements: one for each where clause that the code can make. */
const statementsMax = 1_000;

/** Statements of a connection, prepared once. */
function statementsOn(database: DatabaseSync) {
  const statements = new Map<string, StatementSync>();
  function prepared(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (statements.size >= statementsMax) statements.clear();
    const statement = database.prepare(forSqlite(sql));
    statements.set(sql, statement);
    return statement;
  }
  return {
    // The statement names exactly the columns that Row has.
    all: <Row>(sql: string, values: readonly Value[]) =>
      prepared(sql).all(...values.map(bound)) as readonly unknown[] as readonly Row[],
    first: <Row>(sql: string, values: readonly Value[]) =>
      prepared(sql).get(...values.map(bound)) as Row | undefined,
    run: (sql: string, values: readonly Value[]) =>
      Number(prepared(sql).run(...values.map(bound)).changes),
  };
}

/**
 * Runs statements on a connection. They run at once: what is awaited waits for no input or output,
 * so that no event comes between the statements of one transaction.
 */
export function createSession(
  database: DatabaseSync,
  statements = statementsOn(database),
): Omit<ChangeSession, 'atEnd'> {
  const { all, first, run } = statements;
  return {
    all: async <Row>(sql: string, ...values: readonly Value[]) => all<Row>(sql, values),
    first: async <Row>(sql: string, ...values: readonly Value[]) => first<Row>(sql, values),
    run: async (sql, ...values) => run(sql, values),
    send: (sql, ...values) => void run(sql, values),
  };
}

/**
 * The same for reads of a service, all on one connection. While changes are written, lists leave
 * four fifths of the time to those who make them.
 */
export function createReader(database: DatabaseSync, restsWhile?: () => boolean): SqlReader {
  const statements = statementsOn(database);
  const session = createSession(database, statements);
  let snapshots = 0;
  return {
    turns: createFairSlices({ turnMs: limits.turnMs, ...(restsWhile && { restsWhile }) }),
    all: (sql, ...values) => readSafely(() => statements.all(sql, values)),
    first: (sql, ...values) => readSafely(() => statements.first(sql, values)),
    run: (sql, ...values) => readSafely(() => statements.run(sql, values)),
    async inSnapshot(work) {
      try {
        // Snapshots that overlap see the same commit: they are over before the next event comes.
        if (snapshots === 0) database.exec('begin');
        snapshots += 1;
        try {
          return await work(session);
        } finally {
          snapshots -= 1;
          if (snapshots === 0 && database.isTransaction) database.exec('commit');
        }
      } catch (error) {
        throw asRefusal(error);
      }
    },
  };
}

/** Lists that are bound again and again, such as the ids that a user may see, as JSON text. */
const lists = new WeakMap<readonly unknown[], string>();

function bound(value: Value): SQLInputValue {
  if (typeof value === 'boolean') return Number(value);
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  const known = lists.get(value) ?? JSON.stringify(value);
  lists.set(value, known);
  return known;
}

const namePattern = /nocase\(([\w.$]+)\)/g;
const bucketPattern = /\b(?:\w+\.)?bucket(?:, | = \$1 and )/g;

/** Writes a statement for SQLite, whose columns of names have the collation nocase. */
export const forSqlite = (sql: string): string =>
  sql
    .replaceAll(namePattern, '$1')
    .replaceAll(bucketPattern, '')
    .replaceAll(' collate "C"', '')
    .replaceAll(listPattern, (_, places: string) => {
      const [first = '', ...others] = places.split(', ');
      if (others.length === 0) return `json_each(${first}) as given`;
      const values = others.map((place, at) => `${place} ->> key as value${at + 2}`);
      return `(select value, key, ${values.join(', ')} from json_each(${first})) as given`;
    })
    .replaceAll(/\$(\d+)/g, '?$1');
