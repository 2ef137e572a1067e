import { databasePath, openConnection, prepareDirectory } from './connection.ts';
import { requireOrdinaryFiles } from './data-files.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { migrate, readMigrations, versionOf } from './migrate.ts';

/** Prepares a data directory for the service: its own lock, and tables of the newest version. */
export function prepareForService(directory: string): { path: string; lock: DirectoryLock } {
  requireOrdinaryFiles(directory, { isWritten: true });
  prepareDirectory(directory);
  const path = databasePath(directory);
  const lock = lockDirectory(directory);
  try {
    migrateTo(path);
    return { path, lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Prepares a data directory for a command that may run beside the service: takes the lock only if
 * the tables have to change, and then refuses while a service of an older version runs.
 */
export function prepareForCommand(directory: string): string {
  requireOrdinaryFiles(directory, { isWritten: true });
  prepareDirectory(directory);
  const path = databasePath(directory);
  const database = openConnection(path, { role: 'write' });
  const isOlder = versionOf(database) < readMigrations().length;
  database.close();
  const lock = isOlder ? lockDirectory(directory) : undefined;
  try {
    migrateTo(path);
  } finally {
    lock?.release();
  }
  return path;
}

function migrateTo(path: string): void {
  const database = openConnection(path, { role: 'write' });
  try {
    // Synced once, when it is closed: a step that a power cut takes back is made again.
    database.exec('pragma synchronous = normal');
    migrate(database, path);
  } finally {
    database.close();
  }
}
