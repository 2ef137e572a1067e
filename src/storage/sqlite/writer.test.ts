import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { DomainError } from '../../domain/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { databasePath, openConnection, prepareDirectory } from './connection.ts';
import { migrate } from './migrate.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import { createWriter } from './writer.ts';
import { createRunBatch, createWrites } from './writes.ts';

function migratedDatabase(context: { after(end: () => void): void }): string {
  const directory = temporaryDirectory(context);
  prepareDirectory(directory);
  const path = databasePath(directory);
  const database = openConnection(path, { role: 'write' });
  migrate(database, path);
  database.close();
  return path;
}

/** A thread's program: `answer` sends one, `given` is the request. */
const programOf = (onRequest: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from 'node:worker_threads';
      const answer = (id) => parentPort.postMessage([{ id, kind: 'done' }]);
      parentPort.on('message', (given) => {
        if (given === null) process.exit();
        ${onRequest}
      });
      parentPort.postMessage('ready');`)}`,
  );

const isUnavailable = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'unavailable';

test('a call resolves after its commit, so another connection sees it', async (context) => {
  const path = migratedDatabase(context);
  const writer = await createWriter({ path, log: silentLog });
  const reader = openConnection(path, { role: 'read' });
  context.after(() => reader.close());
  const checks = reader.prepare('select checks from health');
  await Promise.all([writer.call('ping'), writer.call('ping'), writer.call('ping')]);
  assert.equal(checks.get()?.['checks'], 3);
  await writer.close();
});

test('closing answers the calls that wait, and refuses later ones', async (context) => {
  const path = migratedDatabase(context);
  const writer = await createWriter({ path, log: silentLog });
  const early = writer.call('ping');
  const closed = writer.close();
  await assert.rejects(writer.call('ping'), isUnavailable);
  await early;
  await closed;
  const reader = openConnection(path, { role: 'read' });
  context.after(() => reader.close());
  assert.equal(reader.prepare('select checks from health').get()?.['checks'], 1);
});

test('calls beyond the waiting room are refused, and those in it are kept', async (context) => {
  const path = migratedDatabase(context);
  const writer = await createWriter({ path, log: silentLog });
  const waiting = Array.from({ length: sqliteLimits.callsWaitingMax }, () => writer.call('ping'));
  await assert.rejects(writer.call('ping'), isUnavailable);
  await Promise.all(waiting);
  await writer.call('ping');
  await writer.close();
});

test('when the thread dies, calls that wait and later ones are refused', async (context) => {
  const path = migratedDatabase(context);
  const entry = programOf('process.exit(1);');
  const writer = await createWriter({ path, log: silentLog, entry });
  await assert.rejects(writer.call('ping'), isUnavailable);
  await assert.rejects(writer.call('ping'), isUnavailable);
  await writer.close();
});

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('answers that come while others are acted on leave turns to others', async (context) => {
  const entry = programOf('answer(given.id);');
  const writer = await createWriter({ path: migratedDatabase(context), log: silentLog, entry });
  let [inTurn, most] = [0, 0];
  let isOver = false;
  const watch = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (!isOver) setImmediate(watch);
  };
  watch();
  for (let calls = 0; calls < 40; calls += 1) {
    const answer = writer.call('ping');
    // Meanwhile the thread answers.
    work(3);
    await answer;
    inTurn += 1;
  }
  isOver = true;
  most = Math.max(most, inTurn);
  assert.ok(most <= 6, `${most} answers in one turn`);
  await writer.close();
});

test('answers that wait for a slice are told before the thread ends', async (context) => {
  for (const end of ['process.exit();', 'throw new Error("the end");']) {
    const entry = programOf(`
      if (given.id === 5) {
        for (const id of [1, 2, 3, 4, 5]) answer(id);
        ${end}
      }`);
    const writer = await createWriter({ path: migratedDatabase(context), log: silentLog, entry });
    const seen: string[] = [];
    const calls = Array.from({ length: 5 }, async () => {
      await writer.call('ping');
      work(10);
      await Promise.resolve();
      seen.push('answered');
    });
    const closed = writer.close().then(() => seen.push('closed'));
    await Promise.all([...calls, closed]);
    assert.deepEqual(seen, [...Array(5).fill('answered'), 'closed'], end);
    await assert.rejects(writer.call('ping'), isUnavailable);
  }
});

test('a database that cannot be opened refuses the start', async (context) => {
  const path = `${temporaryDirectory(context)}/missing/kipimo.db`;
  await assert.rejects(createWriter({ path, log: silentLog }), UnusableStorageError);
});

test('a failing call undoes itself and leaves the other calls of its commit', async (context) => {
  const path = migratedDatabase(context);
  const database = openConnection(path, { role: 'write' });
  context.after(() => database.close());
  const writes = createWrites(database);
  const count = database.prepare('select checks from health');
  let calls = 0;
  const broken = {
    ...writes,
    ping: () => {
      writes.ping();
      calls += 1;
      if (calls === 2) throw new Error('broken');
    },
  };
  const runBatch = createRunBatch(database, broken, () => true);
  const answers = await runBatch([1, 2, 3].map((id) => ({ id, name: 'ping', args: [] })));
  assert.deepEqual(
    answers.map((answer) => answer.kind),
    ['done', 'bug', 'done'],
  );
  assert.equal(count.get()?.['checks'], 2);
  calls = 1;
  assert.equal((await runBatch([{ id: 4, name: 'ping', args: [] }]))[0]?.kind, 'bug');
  assert.equal(count.get()?.['checks'], 2);
  assert.equal((await runBatch([{ id: 5, name: 'ping', args: [] }]))[0]?.kind, 'done');
  assert.equal(count.get()?.['checks'], 3);
});

test('the bytes of datapoints are freed once they are on disk', async (context) => {
  const writer = await createWriter({ path: migratedDatabase(context), log: silentLog });
  const mebibyte = 2 ** 20;
  const before = (await writer.memory())?.external ?? 0;
  for (let call = 0; call < 24; call += 1) {
    const bytes = new Uint8Array(mebibyte);
    await writer.callTransfer('appendDatapoints', [bytes.buffer], bytes);
  }
  const grown = ((await writer.memory())?.external ?? 0) - before;
  await writer.close();
  assert.ok(grown < 4 * mebibyte, `${grown} bytes are held`);
});
