import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Mark, MoveTarget } from '../../move/move-end.ts';
import type { MovedRow } from '../../move/tables.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { createPrivately, databasePath, openConnection } from '../connection.ts';
import { lockDirectory } from '../directory-lock.ts';
import { syncFile, writePrivately } from '../durable-file.ts';
import { makeDirectory } from '../make-directory.ts';
import { migrate } from '../migrate.ts';
import { dataFiles, replaceData } from '../replacement.ts';
import { createSelection } from '../selection.ts';
import { insertingInto, readingPages } from './move-tables.ts';

/** The progress of a move under way, beside the moved tables; dropped at the end. */
const progressTables = `
  create table if not exists move_from (name text not null) strict;
  create table if not exists move_progress (
    moved text primary key, mark text) strict, without rowid`;
const findProgress = 'select mark from move_progress where moved = ?';
const putProgress = `
  insert into move_progress (moved, mark) values (?, ?)
  on conflict (moved) do update set mark = excluded.mark`;

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
  database.exec(progressTables);
  claim(database, { sourceName, directory, folder });
  const progress = createSelection<{ mark: string | null }>(database, findProgress);
  const put = database.prepare(putProgress);
  const inserters = new Map<string, (row: MovedRow) => void>();
  const open = opened.move();

  return {
    ...readingPages(database),
    async progress(table) {
      const row = progress.first(table.name);
      if (row === undefined) return 'none';
      return row.mark === null ? 'done' : (JSON.parse(row.mark) as Mark);
    },
    async put(table, { rows, next }) {
      const insert = inserters.get(table.name) ?? insertingInto(database, table);
      inserters.set(table.name, insert);
      database.exec('begin immediate');
      try {
        for (const row of rows) insert(row);
        put.run(table.name, next === undefined ? null : JSON.stringify(next));
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

/** Claims the target for a source; throws where a move from another source broke off. */
function claim(
  database: DatabaseSync,
  names: { readonly sourceName: string; readonly directory: string; readonly folder: string },
): void {
  const { sourceName, directory, folder } = names;
  const from = createSelection<{ name: string }>(database, 'select name from move_from').first();
  if (from === undefined) database.prepare('insert into move_from values (?)').run(sourceName);
  else if (from.name !== sourceName) {
    throw new UnusableStorageError(
      `a move from another place to ${directory} broke off: end that one, or delete ${folder}`,
    );
  }
}
