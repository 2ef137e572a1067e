import { accessSync, constants, existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { dataNames, restNames } from './replacement.ts';

const { R_OK, W_OK, X_OK } = constants;

/** Written and deleted here, by names that are known. */
const sideNames = ['replacing.json.partial', 'secret.new', 'last-backup'];
/** Read at a start: an account that may not do so needs another owner of the files. */
const readNames = (directory: string): readonly string[] => [
  ...dataNames(directory),
  ...['kipimo.lock', 'replacing.json'],
];

/**
 * Throws UnusableStorageError, with its name, for a file of a data directory that is none: what is
 * written, replaced or deleted in place of a link would be somewhere else, and a named pipe is
 * waited for without end. Where it is to be written, this account must be allowed to, too.
 */
export function requireOrdinaryFiles(
  directory: string,
  { isWritten }: { readonly isWritten: boolean },
): void {
  const refuse = (what: string, sentence: string): never => {
    throw new UnusableStorageError(`${what} cannot be ${sentence}`);
  };
  const read = readNames(directory);
  for (const name of [...read, ...restNames(directory), ...sideNames]) {
    const path = join(directory, name);
    const found = lstatIfReachable(path);
    if (found === undefined) continue;
    if (!found.isFile()) refuse(path, `opened: it is ${kindOf(found)}`);
    if (isWritten && read.includes(name) && !isAllowed(path, R_OK | W_OK)) {
      refuse(path, `opened: this user may not read and write it: ${ownership}`);
    }
  }
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) {
    refuse(`the data directory ${directory}`, 'used: it is a file: name a directory');
  }
  if (isWritten && existsSync(directory) && !isAllowed(directory, R_OK | W_OK | X_OK)) {
    refuse(`the data directory ${directory}`, `used: this user may not write there: ${ownership}`);
  }
}

const ownership = 'run this as the user of the service, or give this user the directory (chown -R)';

/** Undefined also where the directory may not be entered, which is reported for itself. */
function lstatIfReachable(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function kindOf(found: Stats): string {
  if (found.isSymbolicLink()) {
    return 'a link: put the file that it leads to in its place, or remove it';
  }
  const kind = found.isDirectory() ? 'a directory' : found.isFIFO() ? 'a named pipe' : 'no file';
  return `${kind}: move it away, and restore a backup if it took the place of a file`;
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
