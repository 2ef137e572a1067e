import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { markBackup } from '../../../src/storage/sqlite/backup-mark.ts';
import { createPrivately, databasePath } from '../../../src/storage/sqlite/connection.ts';
import { makeCopyDirectory } from '../../../src/storage/sqlite/data-copies.ts';
import { requireOrdinaryFiles } from '../../../src/storage/sqlite/data-files.ts';
import { lockDirectory } from '../../../src/storage/sqlite/directory-lock.ts';
import {
  makeDirectory,
  putDurably,
  syncFile,
  writePrivately,
} from '../../../src/storage/sqlite/durable-file.ts';
import { readMigrations, refuseUnknown, versionOf } from '../../../src/storage/sqlite/migrate.ts';
import { dataFiles, otherFiles, replaceData } from '../../../src/storage/sqlite/replacement.ts';
import { sqliteLimits } from '../../../src/storage/sqlite/sqlite-limits.ts';
import { UnusableStorageError } from '../../../src/storage/unusable-storage-error.ts';
import { presentDatabase } from './present-database.ts';

/** Called after every part: pages of 4 KiB. What it throws ends the copy. */
type CopyProgress = (done: number, total: number) => void;

const secretTable = 'create table backup_files (name text primary key, content blob not null)';
const keepFile = 'insert into backup_files (name, content) values (?, ?)';
const findFile = 'select content from backup_files where name = ?';
const dropFiles = 'drop table backup_files';
/** Backups of earlier versions have none. */
const findWills = `select 1 from sqlite_schema where name = 'mqtt_wills'`;
const isBackup = `select count(*) as n from sqlite_schema where name = 'backup_files'`;

/**
 * Copies a data directory into one file, mode 0600, synced to disk; a service may run on it. The
 * copy holds everything that was acknowledged before it began. Throws UnusableStorageError.
 */
export async function backUp(options: {
  readonly directory: string;
  readonly file: string;
  readonly onProgress: CopyProgress;
}): Promise<void> {
  const { directory, file, onProgress } = options;
  requireOrdinaryFiles(directory, { isWritten: false });
  const source = presentDatabase(directory);
  if (existsSync(file)) {
    throw new UnusableStorageError(`${file} exists: choose another name, or delete it`);
  }
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    await copyDatabase(source, partial, onProgress);
    keepFiles(partial, directory);
    putDurably(partial, file);
    markBackup(directory);
  } finally {
    rmSync(partial, { force: true });
  }
}

/**
 * Puts what backUp wrote into a data directory without data. Data that is there is moved into a
 * directory beside, whose name is answered, when `isForced`; else it throws UnusableStorageError,
 * as it does when a service runs there, or the file is no backup that this version understands.
 */
export async function restoreBackup(options: {
  readonly file: string;
  readonly directory: string;
  readonly isForced: boolean;
  /** Names the directory for what was there. */
  readonly label: string;
  readonly onProgress: CopyProgress;
}): Promise<{ readonly movedTo?: string }> {
  const { file, directory, isForced, label, onProgress } = options;
  checkBackup(file);
  makeDirectory(directory);
  const lock = lockDirectory(directory);
  const partial = `${databasePath(directory)}.partial`;
  try {
    const present = dataFiles(directory);
    if (present.length > 0 && !isForced) {
      throw new UnusableStorageError(
        `there is data in ${directory}: choose an empty KIPIMO_DATA_DIR, ` +
          'or move it aside with --force',
      );
    }
    rmSync(partial, { force: true });
    await copyDatabase(file, partial, onProgress);
    const files = takeFiles(partial);
    const movedTo = replaceData(directory, label, () => {
      for (const [name, content] of files) {
        writePrivately(join(directory, name), content);
        syncFile(join(directory, name));
      }
      putDurably(partial, databasePath(directory));
    });
    return movedTo === undefined ? {} : { movedTo };
  } finally {
    rmSync(partial, { force: true });
    lock.release();
  }
}

/** A database of its own with all that a data directory has, made for some work. */
interface DataCopy {
  readonly directory: string;
  /** Puts the copy into the place of the data; answers where what was there is now. */
  replace(label: string): string | undefined;
  [Symbol.dispose](): void;
}

/**
 * Copies a data directory to a place inside of it, also while a service runs there. With a lock no
 * service can, and the copy may replace the data. Throws UnusableStorageError.
 */
export async function copyData(
  directory: string,
  { isLocked, onProgress }: { readonly isLocked: boolean; readonly onProgress: CopyProgress },
): Promise<DataCopy> {
  const lock = isLocked ? lockDirectory(directory) : undefined;
  requireOrdinaryFiles(directory, { isWritten: true });
  const { path: work, remove } = makeCopyDirectory(directory);
  try {
    const source = databasePath(directory);
    if (existsSync(source)) await copyDatabase(source, databasePath(work), onProgress);
    for (const name of otherFiles.filter((file) => existsSync(join(directory, file)))) {
      writePrivately(join(work, name), readFileSync(join(directory, name)));
    }
  } catch (error) {
    remove();
    lock?.release();
    throw error;
  }
  return {
    directory: work,
    replace: (label) =>
      replaceData(directory, label, () => {
        for (const name of dataFiles(work)) putDurably(join(work, name), join(directory, name));
      }),
    [Symbol.dispose]() {
      remove();
      lock?.release();
    },
  };
}

async function copyDatabase(from: string, to: string, onProgress: CopyProgress): Promise<void> {
  createPrivately(to);
  const source = new DatabaseSync(from, { readOnly: true, timeout: sqliteLimits.busyTimeoutMs });
  try {
    // Held open, a read sees one moment: without it each commit of a service restarts the copy.
    source.exec('begin; select count(*) from sqlite_schema');
    await backup(source, to, {
      rate: sqliteLimits.backupPagesPerStep,
      progress: ({ totalPages, remainingPages }) =>
        onProgress(totalPages - remainingPages, totalPages),
    });
  } finally {
    source.close();
  }
}

function keepFiles(path: string, directory: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma journal_mode = delete');
    database.exec(secretTable);
    for (const name of otherFiles) {
      const content = join(directory, name);
      if (existsSync(content)) database.prepare(keepFile).run(name, readFileSync(content));
    }
  } finally {
    database.close();
  }
}

function takeFiles(path: string): readonly (readonly [name: string, content: Uint8Array])[] {
  const database = new DatabaseSync(path);
  try {
    const files = otherFiles.flatMap((name) => {
      const content = database.prepare(findFile).get(name)?.['content'];
      return content instanceof Uint8Array ? [[name, content] as const] : [];
    });
    database.exec(dropFiles);
    // Clients that were connected then are long gone, or back.
    if (database.prepare(findWills).get() !== undefined) database.exec('delete from mqtt_wills');
    return files;
  } finally {
    database.close();
  }
}

function checkBackup(file: string): void {
  if (!existsSync(file)) throw new UnusableStorageError(`there is no file ${file}`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (database.prepare(isBackup).get()?.['n'] !== 1) throw new Error('made by something else');
    const [check] = database.prepare('pragma quick_check(1)').all();
    if (check?.['quick_check'] !== 'ok') throw new Error('damaged');
    refuseUnknown(database, file, readMigrations());
    refuseForeignObjects(database, file);
  } catch (error) {
    if (error instanceof UnusableStorageError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnusableStorageError(`${file} is not a backup that can be used (${reason})`, error);
  } finally {
    database?.close();
  }
}

/** Tables that commands make beside those of the migrations. */
const besides = new Set(['backup_files', 'move_from', 'move_progress']);
const listObjects = 'select type, name, sql from sqlite_schema order by type, name';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** Refuses a file with triggers, views, tables or indexes not ours: SQLite would run them. */
function refuseForeignObjects(database: DatabaseSync, file: string): void {
  const version = versionOf(database);
  if (version < 1) {
    throw new UnusableStorageError(
      `${file} has user_version ${version}, which kipimo never writes: choose another backup`,
    );
  }
  const known = schemaOf(version);
  for (const { type, name, sql } of objectsOf(database)) {
    const text = known.get(`${type} ${name}`);
    const isData = (type === 'table' && !isVirtual(sql)) || type === 'index';
    if (isData && (text !== undefined || besides.has(name) || name.startsWith('sqlite_'))) continue;
    if (text !== undefined && text === sql) continue;
    throw new UnusableStorageError(
      `${file} has the ${type} ${JSON.stringify(name)}, which kipimo ` +
        `${text === undefined ? 'does not have' : 'has in other words'}: choose another backup, ` +
        'one that nobody has changed',
    );
  }
}

const isVirtual = (sql: string | null): boolean => /^\s*create\s+virtual\b/i.test(sql ?? '');

const objectsOf = (database: DatabaseSync) =>
  database.prepare(listObjects).all() as unknown as readonly SchemaObject[];

/** The objects of the tables of a version, by type and name. */
function schemaOf(version: number): ReadonlyMap<string, string | null> {
  using model = new DatabaseSync(':memory:');
  for (const { sql } of readMigrations().slice(0, version)) model.exec(sql);
  return new Map(objectsOf(model).map(({ type, name, sql }) => [`${type} ${name}`, sql]));
}
