import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { aUser } from '../test/contract/storage/builders.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { packWriter } from './pack-writer.ts';

const preload = new URL('../test/packed-writer.ts', import.meta.url).href;
const sqlite = new URL('../src/storage/sqlite/sqlite-storage.ts', import.meta.url).href;

interface Outcome {
  readonly out: string;
  readonly failure: string;
}

const user = aUser('alice');

/** Opens storage, makes an account and reads it, as a test of a long run does, with this writer. */
const storeWith = (writer: string, directory: string): Outcome =>
  runWith(
    writer,
    directory,
    `const storage = await openSqlite({ directory, log });
    await storage.users.insert(${JSON.stringify(user)}, 'hash');
    console.log((await storage.users.find(${JSON.stringify(user.id)})).username);
    await storage.close();`,
  );

/** Runs these lines as a test of a long run with this writer, and with a directory to keep data. */
function runWith(writer: string, directory: string, lines: string): Outcome {
  const script = join(directory, 'store.mjs');
  writeFileSync(
    script,
    `import { openSqlite } from ${JSON.stringify(sqlite)};
    const silent = () => {};
    const log = { debug: silent, info: silent, warn: silent, error: silent };
    const directory = ${JSON.stringify(join(directory, 'data'))};
    ${lines}`,
  );
  const env = { ...process.env, TEST_WRITER: writer };
  const words = ['--import', preload, script];
  const { stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
  return { out: stdout.trim(), failure: stderr };
}

test('the writer that is packed for a run of tests writes as its sources do', async () => {
  using directory = temporaryDirectory();
  const packed = join(directory.path, 'writer.cjs');
  await packWriter(packed);
  const { out, failure } = storeWith(packed, directory.path);
  assert.equal(out, 'alice', failure);
});

test('what is packed is what threads are started from', () => {
  using directory = temporaryDirectory();
  const packed = join(directory.path, 'writer.cjs');
  writeFileSync(packed, `throw new Error('started from ${pathToFileURL(packed).pathname}');`);
  const { out, failure } = storeWith(packed, directory.path);
  assert.equal(out, '');
  assert.match(failure, /cannot be written: started from/);
});

/** Counts in its heap how many storages it was lent to, and tells the number. */
const countLoans = (directory: string): string => `
  globalThis.loans = (globalThis.loans ?? 0) + 1;
  require('node:fs').appendFileSync(${JSON.stringify(join(directory, 'loans'))}, loans + ' ');`;

const openAndClose = `for (let count = 0; count < 3; count += 1) {
  const storage = await openSqlite({ directory, log }).catch(() => undefined);
  await storage?.close();
}`;

test('a thread is lent to the next storage once it is closed', () => {
  using directory = temporaryDirectory();
  const packed = join(directory.path, 'writer.cjs');
  const program = `${countLoans(directory.path)}
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (message) => message === null && parentPort.close());
    parentPort.postMessage('ready');`;
  writeFileSync(packed, program);
  assert.equal(runWith(packed, directory.path, openAndClose).failure, '');
  assert.equal(readFileSync(join(directory.path, 'loans'), 'utf8'), '1 2 3 ');
});

test('a thread that failed is lent to nobody', () => {
  using directory = temporaryDirectory();
  const packed = join(directory.path, 'writer.cjs');
  writeFileSync(packed, `${countLoans(directory.path)}\nthrow new Error('broken');`);
  assert.equal(runWith(packed, directory.path, openAndClose).failure, '');
  assert.equal(readFileSync(join(directory.path, 'loans'), 'utf8'), '1 1 1 ');
});
