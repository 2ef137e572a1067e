import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  createPrivately,
  databasePath,
  openConnection,
} from '../../../../src/storage/sqlite/connection.ts';
import { lockDirectory } from '../../../../src/storage/sqlite/directory-lock.ts';
import {
  makeDirectory,
  syncFile,
  writePrivately,
} from '../../../../src/storage/sqlite/durable-file.ts';
import { migrate } from '../../../../src/storage/sqlite/migrate.ts';
import { dataFiles, replaceData } from '../../../../src/storage/sqlite/replacement.ts';
import { createSession } from '../../../../src/storage/sqlite/session.ts';
import { UnusableStorageError } from '../../../../src/storage/unusable-storage-error.ts';
import { createMoveProgress, type MoveTarget } from '../../move/move.ts';
import type { MovedRow } from '../../move/tables.ts';
import { insertingInto, readingPages } from './move-tables.ts';

/**
 * Opens a directory that an installation is moved to. It is put together in the folder `moving`
 * there, and takes its place as a whole. Throws UnusableStorageError when there is data already, or
 * a move from another place that broke off.
 */
export async function openMoveTarget(directory: string, sourceName: string): Promise<MoveTarget> {
  makeDirectory(directory);
  await using opened = new AsyncDisposableStack();
  const lock = lockDirectory(directory);
  opened.defer(() => lock.release());
  if (dataFiles(directory).length > 0) {
    throw new UnusableStorageError(`${directory} holds data already: move to an empty directory`);
  }
  const folder = join(directory, 'moving');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = databasePath(folder);
  createPrivately(path);
  const database = openConnection(path, { role: 'write' });
  opened.defer(() => {
    if (database.isOpen) database.close();
  });
  migrate(database, path);
  const { begin, requireSource, progress, note } = createMoveProgress(createSession(database));
  await begin(sourceName);
  const end = `end that one, or delete ${folder}`;
  await requireSource(sourceName, `a move from another place to ${directory} broke off: ${end}`);
  const inserters = new Map<string, (row: MovedRow) => void>();
  const open = opened.move();

  return {
    ...readingPages(database),
    progress,
    async put(table, page) {
      const insert = inserters.get(table.name) ?? insertingInto(database, table);
      inserters.set(table.name, insert);
      database.exec('begin immediate');
      try {
        for (const row of page.rows) insert(row);
        await note(table, page);
        database.exec('commit');
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
    async finish(secret) {
      const orphans = database.prepare('pragma foreign_key_check').all();
      if (orphans.length > 0)
        throw new Error(`${orphans.length} rows belong to none that is there`);
      database.exec('pragma wal_checkpoint(truncate)');
      database.close();
      writePrivately(join(folder, 'secret'), `${secret}\n`);
      syncFile(join(folder, 'secret'));
      replaceData(directory, 'before-move', () => {
        for (const name of dataFiles(folder)) renameSync(join(folder, name), join(directory, name));
      });
      rmSync(folder, { recursive: true, force: true });
      // Now, as a move that breaks off before it would begin with rows and without their marks.
      using moved = openConnection(databasePath(directory), { role: 'write' });
      moved.exec('drop table move_progress; drop table move_from');
    },
    close: () => open.disposeAsync(),
  };
}
