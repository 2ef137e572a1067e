import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { silentReporter } from '../src/domain/reporter.ts';
import { silentLog } from '../src/lib/log.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { putMadeDatabase } from './made-database.ts';
import { quickFolder } from './quick-folder.ts';

/**
 * Opens an empty storage on SQLite. Its directory is in memory where there is room, so that no
 * commit waits for a disk. Storage and directory end with the test or suite that asks for them.
 */
export async function temporaryStorage(): Promise<Storage> {
  const directory = mkdtempSync(join(quickFolder() ?? tmpdir(), 'kipimo-storage-'));
  putMadeDatabase(directory);
  const opening = openStorage({
    ...{ kind: 'sqlite', directory },
    ...{ log: silentLog, reporter: silentReporter },
  });
  // Before anything is awaited: the hook is of the test that asks.
  after(async () => {
    const storage = await opening;
    await storage.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return opening;
}
