import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  type AnswerOf,
  type ChangeSession,
  forSqlite,
  type SqlContext,
  type SqlReader,
  type Value,
} from '../sql/session.ts';
import type { SqlWrites } from '../sql/writes.ts';
import { asRefusal } from './failures.ts';
import type { Writer } from './writer.ts';

/** There are few texts of statements: one for each where clause that the code can make. */
const statementsMax = 1_000;

/**
 * Runs statements on a connection. They run at once: what is awaited waits for no input or output,
 * so that no event comes between the statements of one transaction.
 */
export function createSession(database: DatabaseSync): Omit<ChangeSession, 'atEnd'> {
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
    all: async <Row>(sql: string, ...values: readonly Value[]) =>
      prepared(sql).all(...values.map(bound)) as readonly unknown[] as readonly Row[],
    first: async <Row>(sql: string, ...values: readonly Value[]) =>
      prepared(sql).get(...values.map(bound)) as Row | undefined,
    run: async (sql, ...values) => Number(prepared(sql).run(...values.map(bound)).changes),
    send: (sql, ...values) => void prepared(sql).run(...values.map(bound)),
  };
}

/** The same for reads of a service, all on one connection. */
export function createReader(database: DatabaseSync): SqlReader {
  const session = createSession(database);
  let snapshots = 0;
  return {
    all: (sql, ...values) => safely(() => session.all(sql, ...values)),
    first: (sql, ...values) => safely(() => session.first(sql, ...values)),
    run: (sql, ...values) => safely(() => session.run(sql, ...values)),
    inSnapshot: (work) =>
      safely(async () => {
        // Snapshots that overlap see the same commit: they are over before the next event comes.
        if (snapshots === 0) database.exec('begin');
        snapshots += 1;
        try {
          return await work(session);
        } finally {
          snapshots -= 1;
          if (snapshots === 0 && database.isTransaction) database.exec('commit');
        }
      }),
  };
}

async function safely<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    throw asRefusal(error);
  }
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

/** The parts that every store of the engine is made of. */
export interface StoreContext {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}

/** The parts of stores that both engines have. */
export const sharedContext = ({
  reader,
  writer,
  damaged,
}: StoreContext): SqlContext<SqlWrites> => ({
  reader: createReader(reader),
  // The thread answers what the change of this name answers.
  write: (name, ...args) =>
    writer.call('runShared', name, args) as Promise<AnswerOf<SqlWrites, typeof name>>,
  damaged,
});
