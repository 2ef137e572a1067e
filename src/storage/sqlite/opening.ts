import { silentReporter } from '../../domain/reporter.ts';
import { silentLog } from '../../lib/log.ts';
import { createDamagedRows } from '../faults.ts';
import { createCredentialStore } from '../sql/credentials.ts';
import { createUserStore } from '../sql/users.ts';
import type { AccountStorage } from '../storage.ts';
import { databasePath, openConnection, prepareDirectory } from './connection.ts';
import { requireOrdinaryFiles } from './data-files.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { migrate, readMigrations, versionOf } from './migrate.ts';
import { createWriter, sharedContext } from './writer.ts';

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

/** Opens users and credentials of the data directory, and makes its database if there is none. */
export async function openAccounts(directory: string): Promise<AccountStorage> {
  const path = prepareForCommand(directory);
  // First, as nothing would end the thread of the writer if this one failed.
  const reader = openConnection(path, { role: 'read' });
  const writer = await createWriter({ path, log: silentLog });
  const damaged = createDamagedRows({ log: silentLog, reporter: silentReporter });
  const context = sharedContext({ reader, writer, damaged });
  return {
    // A running service notices the end of an account by itself: it asks for each credential anew.
    users: createUserStore(context, () => undefined),
    credentials: createCredentialStore(context),
    async close() {
      reader.close();
      await writer.close();
    },
  };
}
