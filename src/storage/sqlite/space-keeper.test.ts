import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { databasePath, openConnection, prepareDirectory } from './connection.ts';
import { createSpaceKeeper, type SpaceLimits } from './space-keeper.ts';
import { sqliteLimits } from './sqlite-limits.ts';

const fast: SpaceLimits = {
  ...sqliteLimits.space,
  quietMs: 1,
  pauseMs: 1,
  walQuietMs: 2,
  retryMs: 5,
};
const kilobyte = 'x'.repeat(1_000);

interface Context {
  after(end: () => void): void;
}

/** A database whose rows of a few megabytes were just deleted. */
function emptied(context: Context): { path: string; database: DatabaseSync } {
  const directory = temporaryDirectory(context);
  prepareDirectory(directory);
  const path = databasePath(directory);
  const database = openConnection(path, { role: 'write' });
  context.after(() => database.close());
  database.exec('create table things (thing text not null)');
  const insert = database.prepare('insert into things values (?)');
  database.exec('begin');
  for (let n = 0; n < 4_000; n += 1) insert.run(kilobyte);
  database.exec('commit; delete from things where rowid <> 4000');
  database.exec('pragma wal_checkpoint(passive)');
  return { path, database };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'it never came about');
    await wait(2);
  }
}

const sizeOf = (path: string): number => statSync(path).size;

test('what is free at rest goes back to the disk, and so does the log', async (context) => {
  const { path, database } = emptied(context);
  assert.ok(sizeOf(path) > 4_000_000, `${sizeOf(path)}`);
  const keeper = createSpaceKeeper(database, path, fast);
  await until(() => sizeOf(path) < 100_000 && sizeOf(`${path}-wal`) === 0);
  keeper.stop();
  assert.equal(database.prepare('select count(*) as n from things').get()?.['n'], 1);
  assert.equal(database.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok');
  assert.equal(database.prepare('pragma synchronous').get()?.['synchronous'], 2);
  const { timeout } = database.prepare('pragma busy_timeout').get() ?? {};
  assert.equal(timeout, sqliteLimits.busyTimeoutMs);
});

test('a long read keeps its picture, and the log as long as it needs it', async (context) => {
  const { path, database } = emptied(context);
  using reader = openConnection(path, { role: 'read' });
  reader.exec('begin');
  assert.equal(reader.prepare('select count(*) as n from things').get()?.['n'], 1);
  const keeper = createSpaceKeeper(database, path, fast);
  await until(() => database.prepare('pragma freelist_count').get()?.['freelist_count'] === 0);
  await wait(20);
  assert.ok(sizeOf(`${path}-wal`) > 0);
  assert.ok(sizeOf(path) > 4_000_000);
  assert.equal(reader.prepare('select length(thing) as n from things').get()?.['n'], 1_000);
  reader.exec('commit');
  await until(() => sizeOf(path) < 100_000 && sizeOf(`${path}-wal`) === 0);
  keeper.stop();
});

test('another process that writes is waited for, without keeping the writer', async (context) => {
  const { path, database } = emptied(context);
  using other = new DatabaseSync(path, { timeout: 0 });
  other.exec('begin immediate');
  const keeper = createSpaceKeeper(database, path, fast);
  const startedAt = performance.now();
  await wait(50);
  assert.ok(performance.now() - startedAt < sqliteLimits.busyTimeoutMs / 2);
  assert.ok(sizeOf(path) > 4_000_000);
  other.exec('commit');
  await until(() => sizeOf(path) < 100_000);
  keeper.stop();
});

test('a writer that never rests gives back when very much is free', async (context) => {
  const { path, database } = emptied(context);
  const keeper = createSpaceKeeper(database, path, {
    ...fast,
    quietMs: 40,
    freePagesWhileBusy: 100,
    pauseWhileBusyMs: 1,
    // The last step of a busy writer leaves any number, and the rest shall give back all of them.
    freePagesMin: 1,
  });
  const busy = setInterval(keeper.touch, 1);
  const free = () => Number(database.prepare('pragma freelist_count').get()?.['freelist_count']);
  // Below a quarter of the file it waits for a rest, which does not come.
  await until(() => free() < 100);
  clearInterval(busy);
  await until(() => sizeOf(path) < 100_000);
  keeper.stop();
});
