import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { makeDirectory } from './durable-file.ts';
import { describeFailure } from './session.ts';
import { sqliteLimits } from './sqlite-limits.ts';

interface ConnectionOptions {
  /** read: sees every commit, cannot write. write: there is one in a process. */
  readonly role: 'read' | 'write';
  /** The file may not grow beyond this many pages of 4 KiB; absent: no limit. */
  readonly pagesMax?: number;
}

/** Where the database of a data directory is. */
export const databasePath = (directory: string): string => join(directory, 'kipimo.db');

/** The number that a pragma answers. */
export const pragmaNumber = (database: DatabaseSync, name: string): number =>
  Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]);

/** Makes the data directory and an empty database file that only this account may read. */
export function prepareDirectory(directory: string): void {
  const isThere = existsSync(directory);
  if (isThere && !statSync(directory).isDirectory()) {
    throw new UnusableStorageError(
      `the data directory ${directory} cannot be used: there is a file of that name`,
    );
  }
  try {
    if (!isThere) makeDirectory(directory);
    createPrivately(databasePath(directory));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnusableStorageError(
      `the data directory ${directory} cannot be used (${reason}): make it writable`,
      error,
    );
  }
}

/** Makes an empty file with mode 0600, unless it exists. */
export function createPrivately(path: string): void {
  // Never opened when it exists: closing any handle of a file ends SQLite's locks on it (POSIX).
  if (existsSync(path)) return;
  closeSync(openSync(path, 'wx', 0o600));
  chmodSync(path, 0o600);
}

/** Opens the database; every commit of a write connection is synced to disk when it returns. */
export function openConnection(path: string, options: ConnectionOptions): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, {
      timeout: sqliteLimits.busyTimeoutMs,
      readOnly: options.role === 'read',
      enableForeignKeyConstraints: true,
    });
    configure(database, options);
    return database;
  } catch (error) {
    database?.close();
    throw new UnusableStorageError(
      `${path} cannot be opened: ${describeFailure(error) ?? error}`,
      error,
    );
  }
}

function configure(database: DatabaseSync, options: ConnectionOptions): void {
  const isReader = options.role === 'read';
  const kibibytes = isReader ? sqliteLimits.readCacheKibibytes : sqliteLimits.writeCacheKibibytes;
  database.exec(`pragma cache_size = -${kibibytes}; pragma temp_store = memory;`);
  if (isReader) {
    database.exec(`pragma mmap_size = ${sqliteLimits.readMapBytes};`);
    return;
  }
  // Means something for a file that is still empty alone: it is in the head of the first page.
  database.exec(`
    pragma auto_vacuum = incremental;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma wal_autocheckpoint = ${sqliteLimits.checkpointPages};
    pragma journal_size_limit = ${sqliteLimits.walBytesMax};
  `);
  if (options.pagesMax !== undefined) {
    database.exec(`pragma max_page_count = ${options.pagesMax};`);
  }
}

/**
 * Does what can wait for another time on the connection of the writer: where another process writes
 * it throws at once. `synced later`: commits of it are safe, and durable with the next one that is.
 */
export function withoutWaiting<Result>(
  database: DatabaseSync,
  how: 'synced' | 'synced later',
  work: () => Result,
): Result {
  const isLater = how === 'synced later';
  database.exec(`pragma busy_timeout = 0; ${isLater ? 'pragma synchronous = normal' : ''}`);
  try {
    return work();
  } finally {
    database.exec(
      `${isLater ? 'pragma synchronous = full;' : ''}
       pragma busy_timeout = ${sqliteLimits.busyTimeoutMs}`,
    );
  }
}

/** Prepares a select once; the statement must name exactly the columns that Row has. */
export function createSelection<Row>(database: DatabaseSync, sql: string) {
  const statement = database.prepare(sql);
  return {
    first: (...parameters: readonly SQLInputValue[]) =>
      statement.get(...parameters) as Row | undefined,
    all: (...parameters: readonly SQLInputValue[]) =>
      statement.all(...parameters) as readonly unknown[] as readonly Row[],
  };
}
