import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { databasePath } from './connection.ts';
import { putDurably, syncFile, writePrivately } from './durable-file.ts';

/** The files of a data directory besides the database. */
export const otherFiles: readonly string[] = ['secret'];

/** A replacement of files, for as long as it is under way. */
interface Replacement {
  /** The directory that takes what was there. */
  readonly label: string;
  /** The files that were there. */
  readonly names: readonly string[];
}

const recordPath = (directory: string): string => join(directory, 'replacing.json');

/** The names of what a service left in the directory; an empty database is nothing. */
export function dataFiles(directory: string): readonly string[] {
  return dataNames(directory).filter((name) => {
    const path = join(directory, name);
    return existsSync(path) && statSync(path).size > 0;
  });
}

/** The files that hold data. */
export function dataNames(directory: string): readonly string[] {
  const database = basename(databasePath(directory));
  return [database, `${database}-wal`, `${database}-shm`, ...otherFiles];
}

/**
 * Puts other data into a locked data directory with `put`, as a whole: what breaks off, the process
 * included, is undone by `undoReplacement`. Answers the directory, named `label`, that has what was
 * there; undefined when nothing was.
 */
export function replaceData(directory: string, label: string, put: () => void): string | undefined {
  const names = dataFiles(directory);
  const aside = join(directory, label);
  const record = recordPath(directory);
  const replacement: Replacement = { label, names };
  writePrivately(`${record}.partial`, JSON.stringify(replacement));
  putDurably(`${record}.partial`, record);
  try {
    if (names.length > 0) mkdirSync(aside, { mode: 0o700 });
    for (const name of names) renameSync(join(directory, name), join(aside, name));
    put();
  } catch (error) {
    undoReplacement(directory);
    throw error;
  }
  rmSync(record);
  syncFile(directory);
  return names.length > 0 ? aside : undefined;
}

/** The file that a compaction writes, until it takes the place of the database. */
export const unfinishedCompaction = (directory: string): string =>
  `${databasePath(directory)}.compact`;

/** Names of the files that a compaction or restore leaves when it breaks off. */
export function restNames(directory: string): readonly string[] {
  const made = [unfinishedCompaction(directory), `${databasePath(directory)}.partial`];
  return made.flatMap((path) =>
    ['', '-journal', '-wal', '-shm'].map((end) => `${basename(path)}${end}`),
  );
}

/** Removes these files from a locked data directory. */
export function removeCompactionRest(directory: string): void {
  for (const name of restNames(directory)) rmSync(join(directory, name), { force: true });
}

/** Puts back what was in a locked data directory before a replacement that was broken off. */
export function undoReplacement(directory: string): void {
  const record = recordPath(directory);
  if (!existsSync(record)) return;
  const { label, names } = readReplacement(record);
  const aside = join(directory, label);
  if (lstatSync(aside, { throwIfNoEntry: false })?.isDirectory() === false) throw damaged(record);
  for (const name of dataNames(directory)) {
    const path = join(directory, name);
    const before = join(aside, name);
    if (existsSync(before)) renameSync(before, path);
    else if (!names.includes(name)) rmSync(path, { force: true });
  }
  syncFile(directory);
  rmSync(aside, { recursive: true, force: true });
  rmSync(record);
}

/** Throws UnusableStorageError for what replaceData did not write: a label may lead elsewhere. */
function readReplacement(record: string): Replacement {
  try {
    const { label, names } = JSON.parse(readFileSync(record, 'utf8')) as Replacement;
    if (/^[\w-]+$/.test(label) && Array.isArray(names)) return { label, names };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw damaged(record);
}

const damaged = (record: string): UnusableStorageError =>
  new UnusableStorageError(
    `${record} is damaged: look for what was there in a directory before-… beside it, move that ` +
      'back or restore a backup, and delete the file',
  );
