// Makes a small database of another version, to be read by all that follow:
// npm exec -- node test/old-databases/make.ts <checkout of that version> <version>
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { passwordOf } from '../service.ts';
import { startProcess } from '../service-process.ts';
import { fill, readWorld } from './world.ts';

const [checkout, version] = process.argv.slice(2);
if (checkout === undefined || version === undefined) {
  throw new Error('usage: node test/old-databases/make.ts <checkout> <version>');
}
const target = (name: string) => join(import.meta.dirname, `${version}.${name}`);
// A file that was released with is never made again: whoever makes it before the tag removes it.
for (const name of ['json', 'sqlite.br']) {
  if (existsSync(target(name))) throw new Error(`${target(name)} exists: it is a witness`);
}

/** Waits until the service has flushed: it begins when nothing arrived for some seconds. */
async function chunksIn(file: string): Promise<number> {
  for (let tries = 0; tries < 120; tries += 1) {
    const database = new DatabaseSync(file, { readOnly: true });
    const chunks = Number(database.prepare('select count(*) as n from chunks').get()?.['n']);
    database.close();
    if (chunks > 0) return chunks;
    await wait(500);
  }
  throw new Error('no datapoints were flushed into chunks');
}

const directory = mkdtempSync(join(tmpdir(), 'kipimo-old-'));
try {
  await using service = await startProcess({
    directory,
    program: join(resolve(checkout), 'src', 'main.ts'),
    environment: {
      KIPIMO_ADMIN_PASSWORD: passwordOf('admin'),
      KIPIMO_SMS_URL: 'log:',
      // As in the tests that read it: nobody there could answer a code.
      KIPIMO_PROVE_ADDRESSES: 'off',
    },
  });
  // The port of HTTP speaks MQTT, too.
  const urls = { url: service.url, mqttUrl: service.url.replace('http:', 'mqtt:') };
  const kept = await fill(urls);
  // What is on its way to the channels arrives.
  await wait(3_000);
  const chunks = await chunksIn(join(directory, 'kipimo.db'));
  const answers = await readWorld(urls);
  const madeAt = new Date().toISOString();
  service.kill('SIGTERM');
  assert.equal((await service.exited).code, 0);
  const database = new DatabaseSync(join(directory, 'kipimo.db'));
  database.exec('pragma journal_mode = delete; vacuum');
  database.close();
  const secret = readFileSync(join(directory, 'secret'), 'utf8').trim();
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  const packed = brotliCompressSync(readFileSync(join(directory, 'kipimo.db')), quality);
  writeFileSync(target('sqlite.br'), packed);
  const told = { madeAt, secret, ...kept, answers };
  writeFileSync(target('json'), `${JSON.stringify(told, undefined, 1)}\n`);
  process.stdout.write(`${target('sqlite.br')}: ${packed.length} bytes, ${chunks} chunks\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
