import { databasePath, openConnection, prepareDirectory } from './connection.ts';
import { requireOrdinaryFiles } from './data-files.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { migrate } from './migrate.ts';

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

/** Brings tables to the newest version; whoever calls holds the lock where they change. */
export function migrateTo(path: string): void {
  const database = openConnection(path, { role: 'write' });
  try {
    // Synced once, when it is closed: a step that a power cut takes back is made again.
    database.exec('pragma synchronous = normal');
    migrate(database, path);
  } finally {
    database.close();
  }
}
