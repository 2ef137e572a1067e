import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProcess } from './service-process.ts';

/** Tells at its end which of Node's own modules the service has loaded. */
const teller = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => console.error(process.moduleLoadList.join()))",
)}`;

test('an idle service has loaded nothing large that it does not use', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-modules-'));
  try {
    await using service = await startProcess({ directory, nodeFlags: ['--import', teller] });
    service.kill('SIGTERM');
    await service.exited;
    const loaded = service.errors();
    assert.match(loaded, /NativeModule http,/);
    // A client of HTTP with web streams, which an import of all of node:http brings: 14 MB.
    assert.doesNotMatch(loaded, /undici|webstreams/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
