import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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
