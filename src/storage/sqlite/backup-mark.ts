import { utimesSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instant } from '../../lib/clock.ts';
import { writePrivately } from './durable-file.ts';

/** Empty; its time of change says when a backup was last finished. */
const markOf = (directory: string): string => join(directory, 'last-backup');

/** Marks a backup as finished. A directory that takes no file has its backup all the same. */
export function markBackup(directory: string): void {
  const now = new Date();
  try {
    writePrivately(markOf(directory), '');
    utimesSync(markOf(directory), now, now);
  } catch {
    // The backup itself is written; only its time is not known to the service.
  }
}

/** When a backup of the directory was last finished; undefined: never. */
export async function lastBackupOf(directory: string): Promise<Instant | undefined> {
  const found = await stat(markOf(directory)).catch(() => undefined);
  return found === undefined ? undefined : Math.round(found.mtimeMs);
}
