import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startProcess } from './service-process.ts';
import { repositoryRoot } from './source-files.ts';

/** A module that tells at the end of the service what it has loaded. */
const teller = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

const ofNode = teller("process.on('exit', () => console.error(process.moduleLoadList.join()))");
const ofOurs = teller(`
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  process.on('exit', () => console.error(urls.join('\\n')));`);

/** What a service that has served nobody has loaded, as the module says it. */
async function loadedBy(module: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-modules-'));
  try {
    await using service = await startProcess({ directory, nodeFlags: ['--import', module] });
    service.kill('SIGTERM');
    await service.exited;
    return service.errors();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('an idle service has loaded nothing large that it does not use', async () => {
  const loaded = await loadedBy(ofNode);
  assert.match(loaded, /NativeModule http,/);
  // A client of HTTP with web streams, which an import of all of node:http brings: 14 MB.
  assert.doesNotMatch(loaded, /undici|webstreams/);
});

test('a service has loaded nothing of tools, from its start to its end', async () => {
  const loaded = await loadedBy(ofOurs);
  assert.match(loaded, /src\/app\/app\.ts/);
  assert.match(loaded, /src\/storage\/(sqlite|postgres)\/\w+-storage\.ts/);
  assert.ok(!loaded.includes(pathToFileURL(join(repositoryRoot, 'tools', '/')).href));
  assert.doesNotMatch(loaded, /cli-progress/);
});
