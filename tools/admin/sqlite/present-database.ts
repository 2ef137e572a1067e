import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { databasePath } from '../../../src/storage/sqlite/connection.ts';
import { UnusableStorageError } from '../../../src/storage/unusable-storage-error.ts';

/** The path of the database in a directory. Throws UnusableStorageError where it has none. */
export function presentDatabase(directory: string): string {
  const path = databasePath(directory);
  if (existsSync(path)) return path;
  throw new UnusableStorageError(`there is no database in ${directory}: set KIPIMO_DATA_DIR`);
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
