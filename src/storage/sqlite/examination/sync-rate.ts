import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { measureWrites, type SyncRate } from '../../examination/examination.ts';

const writeBytes = 4_096;

/** Writes so many pages to a file of its own there, each synced alone. Throws what fs throws. */
export async function measureSyncs(directory: string, writesMax: number): Promise<SyncRate> {
  const path = join(directory, `doctor-${process.pid}.tmp`);
  const file = openSync(path, 'wx', 0o600);
  try {
    // Gone from the directory at once, where the system can: nothing is left by one that is killed.
    rmSync(path, { force: true });
    const page = Buffer.alloc(writeBytes, 1);
    return await measureWrites(async () => {
      writeSync(file, page);
      fdatasyncSync(file);
    }, writesMax);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}
