import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { createPrivately } from './connection.ts';
import { removeCopyRests } from './data-copies.ts';
import { requireOrdinaryFiles } from './data-files.ts';
import { removeCompactionRest, undoReplacement } from './replacement.ts';
import { resultCodeOf } from './session.ts';

const busy = 5;

/** The right to be the only service on a data directory. The system takes it back after a crash. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the lock or refuses at once with a sentence that names the directory. A restore, import,
 * export or compaction that was broken off there is undone.
 */
export function lockDirectory(directory: string): DirectoryLock {
  requireOrdinaryFiles(directory, { isWritten: true });
  const path = join(directory, 'kipimo.lock');
  createPrivately(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // A file lock held by SQLite works alike on every system and ends with the process.
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if (resultCodeOf(error) !== busy) throw error;
    throw new UnusableStorageError(
      `the data directory ${directory} is in use by another kipimo: stop that one, ` +
        'or set KIPIMO_DATA_DIR to another directory',
    );
  }
  try {
    undoReplacement(directory);
    removeCompactionRest(directory);
    removeCopyRests(directory);
  } catch (error) {
    database.close();
    throw error;
  }
  return { release: () => database.close() };
}
