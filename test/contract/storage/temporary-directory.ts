import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory of a test's own, deleted when the test has ended. */
export function temporaryDirectory(context: { after(end: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
