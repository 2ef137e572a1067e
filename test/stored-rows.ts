import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { engine, engineEnvironment } from './engine.ts';
import { onServer } from './postgres-server.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Runs SQL that both durable engines know in the database of a data directory that no service has
 * open; answers the rows of a single statement.
 */
export async function inStored(directory: string, sql: string): Promise<readonly Row[]> {
  const { KIPIMO_DATABASE_URL: url } = engineEnvironment(directory);
  if (engine === 'postgres' && url !== undefined) return (await onServer(url, sql)).rows;
  using database = new DatabaseSync(join(directory, 'kipimo.db'));
  if (sql.trimStart().startsWith('select')) return database.prepare(sql).all();
  database.exec(sql);
  return [];
}
