import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Writes a file that only this account may read, in place of what has its name, also of a link. */
export function writePrivately(path: string, content: Uint8Array | string): void {
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  chmodSync(path, 0o600);
}

/** Renames a finished file, with everything on disk when it returns. */
export function putDurably(from: string, to: string): void {
  syncFile(from);
  renameSync(from, to);
  syncFile(dirname(to));
}

/** Returns when a file, or the names in a directory, are on disk. */
export function syncFile(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Makes a directory that only this account may enter, and those above it that are missing. Throws
 * what the system says. Node's own way never ends where mkdir says that the parent is missing
 * although it is there, as in /proc.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const directory of missing) mkdirSync(directory, { mode: 0o700 });
}
