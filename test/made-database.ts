import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databasePath } from '../src/storage/sqlite/connection.ts';
import { prepareForService } from '../src/storage/sqlite/opening.ts';
import { quickFolder } from './quick-folder.ts';

let made: Buffer | undefined;

/**
 * Puts the database of a first start into an empty directory: a process of tests opens hundreds,
 * and runs the migrations once.
 */
export function putMadeDatabase(directory: string): void {
  made ??= makeDatabase();
  writeFileSync(databasePath(directory), made, { mode: 0o600, flag: 'wx' });
}

function makeDatabase(): Buffer {
  const directory = mkdtempSync(join(quickFolder() ?? tmpdir(), 'kipimo-made-'));
  try {
    prepareForService(directory).lock.release();
    return readFileSync(databasePath(directory));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
