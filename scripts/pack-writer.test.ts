import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { aUser } from '../test/contract/storage/builders.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { packWriter } from './pack-writer.ts';

const preload = new URL('../test/packed-writer.ts', import.meta.url).href;
const sqlite = new URL('../src/storage/sqlite/sqlite-storage.ts', import.meta.url).href;

/** Opens storage, makes an account and reads it, as a test of a long run does, with this writer. */
function storeWith(writer: string, directory: string): { out: string; failure: string } {
  const script = join(directory, 'store.mjs');
  const user = aUser('alice');
  writeFileSync(
    script,
    `import { openSqlite } from ${JSON.stringify(sqlite)};
    const silent = () => {};
    const log = { debug: silent, info: silent, warn: silent, error: silent };
    const directory = ${JSON.stringify(join(directory, 'data'))};
    const storage = await openSqlite({ directory, log });
    await storage.users.insert(${JSON.stringify(user)}, 'hash');
    console.log((await storage.users.find(${JSON.stringify(user.id)})).username);
    await storage.close();`,
  );
  const env = { ...process.env, TEST_WRITER: writer };
  const words = ['--import', preload, script];
  const { stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
  return { out: stdout.trim(), failure: stderr };
}

test('the writer that is packed for a run of tests writes as its sources do', async () => {
  using directory = temporaryDirectory();
  const packed = join(directory.path, 'writer.mjs');
  await packWriter(packed);
  const { out, failure } = storeWith(packed, directory.path);
  assert.equal(out, 'alice', failure);
});

test('what is packed is what threads are started from', () => {
  using directory = temporaryDirectory();
  const packed = join(directory.path, 'writer.mjs');
  writeFileSync(packed, `throw new Error('started from ${pathToFileURL(packed).pathname}');`);
  const { out, failure } = storeWith(packed, directory.path);
  assert.equal(out, '');
  assert.match(failure, /cannot be written: started from/);
});
