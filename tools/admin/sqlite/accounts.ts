import { silentReporter } from '../../../src/domain/reporter.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createDamagedRows } from '../../../src/storage/faults.ts';
import { createCredentialStore } from '../../../src/storage/sql/credentials.ts';
import { createUserStore } from '../../../src/storage/sql/users.ts';
import {
  databasePath,
  openConnection,
  prepareDirectory,
} from '../../../src/storage/sqlite/connection.ts';
import { requireOrdinaryFiles } from '../../../src/storage/sqlite/data-files.ts';
import { lockDirectory } from '../../../src/storage/sqlite/directory-lock.ts';
import { readMigrations, versionOf } from '../../../src/storage/sqlite/migrate.ts';
import { migrateTo } from '../../../src/storage/sqlite/opening.ts';
import { createWriter, sharedContext } from '../../../src/storage/sqlite/writer.ts';
import type { AccountStorage } from '../../../src/storage/storage.ts';

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
