import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** A prepared select whose columns are the fields of Row. */
export interface Selection<Row> {
  first(...parameters: readonly SQLInputValue[]): Row | undefined;
  all(...parameters: readonly SQLInputValue[]): readonly Row[];
}

/** Prepares a select once; the statement must name exactly the columns that Row has. */
export function createSelection<Row>(database: DatabaseSync, sql: string): Selection<Row> {
  const statement = database.prepare(sql);
  return {
    first: (...parameters) => statement.get(...parameters) as Row | undefined,
    all: (...parameters) => statement.all(...parameters) as readonly unknown[] as readonly Row[],
  };
}

/** Runs several reads so that they see the same commit. */
export function inSnapshot<Answer>(database: DatabaseSync, read: () => Answer): Answer {
  if (database.isTransaction) return read();
  database.exec('begin');
  try {
    return read();
  } finally {
    if (database.isTransaction) database.exec('commit');
  }
}
