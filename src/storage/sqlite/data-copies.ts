import { lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../lib/clock.ts';
import { createPrivately } from './connection.ts';

const prefix = 'copy-';
const lockName = 'copy.lock';
/** A directory without a lock may be one that is being made. */
const unlockedMs = 60_000;

/**
 * Makes a directory for a copy of the data inside of a data directory, which is its maker's until
 * it is removed; first removes those that killed commands left.
 */
export function makeCopyDirectory(directory: string) {
  removeCopyRests(directory);
  const path = mkdtempSync(join(directory, prefix));
  createPrivately(join(path, lockName));
  const lock = new DatabaseSync(join(path, lockName), { timeout: 0 });
  lock.exec('begin exclusive');
  return {
    path,
    remove(): void {
      if (lock.isOpen) lock.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Removes copies of the data whose command was killed. */
export function removeCopyRests(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory() || !/^copy-[A-Za-z0-9]{6}$/.test(entry.name) || isInUse(path))
      continue;
    rmSync(path, { recursive: true, force: true });
  }
}

function isInUse(path: string): boolean {
  const lock = join(path, lockName);
  try {
    const found = lstatSync(lock, { throwIfNoEntry: false });
    // A lock that is no file, or a link, is none of ours.
    if (found?.isFile() !== true) return systemClock.now() - statSync(path).mtimeMs < unlockedMs;
    using database = new DatabaseSync(lock, { timeout: 0 });
    database.exec('begin exclusive');
    return false;
  } catch {
    // Locked, or removed by another command meanwhile.
    return true;
  }
}
