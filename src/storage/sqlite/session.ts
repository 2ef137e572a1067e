import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { type ChangeSession, forSqlite, type SqlReader, type Value } from '../sql/session.ts';
import { asRefusal, readSafely } from './failures.ts';

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

/** The same for reads of a service, all on one connection. */
export function createReader(database: DatabaseSync): SqlReader {
  const statements = statementsOn(database);
  const session = createSession(database, statements);
  let snapshots = 0;
  return {
    turns: createFairSlices({ turnMs: limits.turnMs }),
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
