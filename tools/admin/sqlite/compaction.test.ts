import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { databasePath } from '../../../src/storage/sqlite/connection.ts';
import { lockDirectory } from '../../../src/storage/sqlite/directory-lock.ts';
import { prepareForService } from '../../../src/storage/sqlite/opening.ts';
import { UnusableStorageError } from '../../../src/storage/unusable-storage-error.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { prepareForCommand } from './accounts.ts';
import { compact } from './compaction.ts';

interface Context {
  after(end: () => void): void;
}

const rows = 300;

/** A data directory as a version without auto_vacuum left it, most of its pages free. */
function oldDirectory(context: Context): string {
  const directory = temporaryDirectory(context);
  const path = databasePath(directory);
  writeFileSync(path, '');
  using early = new DatabaseSync(path);
  early.exec('pragma auto_vacuum = none; create table early (x); drop table early');
  early.close();
  prepareForService(directory).lock.release();
  using database = new DatabaseSync(path);
  database.exec('create table things (id integer primary key autoincrement, thing text)');
  const insert = database.prepare('insert into things (thing) values (?)');
  database.exec('begin');
  for (let n = 0; n < rows * 10; n += 1) insert.run('x'.repeat(500));
  database.exec(`commit; delete from things where id > ${rows}`);
  return directory;
}

const openRead = (directory: string) => new DatabaseSync(databasePath(directory));

function assertWhole(directory: string): void {
  using database = openRead(directory);
  const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
  assert.equal(one('pragma integrity_check'), 'ok');
  assert.equal(one('select count(*) from things'), rows);
  // Ids are never used again.
  database.exec('begin');
  database.exec("insert into things (thing) values ('next')");
  assert.equal(one('select max(id) from things'), rows * 10 + 1);
  database.exec('rollback');
}

test('a file of before becomes small, and gives space back from then on', (context) => {
  const directory = oldDirectory(context);
  writeFileSync(`${databasePath(directory)}.compact`, 'of one that was killed');
  const { bytesBefore, bytesAfter, freeBefore } = compact(directory);
  assert.ok(bytesBefore > 1_500_000 && bytesAfter < 700_000, `${bytesBefore} ${bytesAfter}`);
  assert.ok(freeBefore > 1_000_000 && freeBefore < bytesBefore);
  assert.equal(statSync(databasePath(directory)).size, bytesAfter);
  assert.equal(statSync(databasePath(directory)).mode & 0o777, 0o600);
  assertWhole(directory);
  const { lock } = prepareForService(directory);
  lock.release();
  assert.deepEqual(leavingsIn(directory), []);
  using database = openRead(directory);
  assert.equal(database.prepare('pragma auto_vacuum').get()?.['auto_vacuum'], 2);
});

const leavingsIn = (directory: string): readonly string[] =>
  readdirSync(directory).filter((name) => /compact|-wal|-journal|-shm/.test(name));

test('it is refused beside a service, beside a command, and for what is no database', (context) => {
  const directory = oldDirectory(context);
  const before = readFileSync(databasePath(directory));
  const refused = (pattern: RegExp) =>
    assert.throws(
      () => compact(directory),
      (error) => error instanceof UnusableStorageError && pattern.test(error.message),
    );
  const lock = lockDirectory(directory);
  refused(/in use by another kipimo/);
  lock.release();
  {
    using command = new DatabaseSync(prepareForCommand(directory), { readOnly: true });
    command.exec('begin; select count(*) from things');
    refused(/cannot be compacted: (another command uses it|the database is busy)/);
  }
  assertWhole(directory);
  // A page of the middle.
  const damaged = Buffer.from(before).fill(0xff, 40 * 4_096, 41 * 4_096);
  writeFileSync(databasePath(directory), damaged);
  refused(/nothing was changed: .*damaged/);
  assert.deepEqual(readFileSync(databasePath(directory)).subarray(100), damaged.subarray(100));
  writeFileSync(databasePath(directory), 'something else'.repeat(1_000));
  refused(/not a SQLite database/);
  assert.deepEqual(leavingsIn(directory), []);
  assert.throws(() => compact(join(directory, 'nowhere')), /there is no database/);
});

test('a command that waits for the old file finds no database in it', (context) => {
  const directory = oldDirectory(context);
  // As long as it is open, its i-node is there.
  using waiting = new DatabaseSync(databasePath(directory), { timeout: 0 });
  compact(directory);
  assert.throws(() => waiting.exec('create table late (x)'), /not a database/);
  assert.deepEqual(leavingsIn(directory), []);
  assertWhole(directory);
});

test('killed at any moment, what was there or what was made is whole', (context) => {
  const from = oldDirectory(context);
  const outcomes = new Set<string>();
  for (let step = 0; ; step += 1) {
    const directory = temporaryDirectory(context);
    cpSync(from, directory, { recursive: true });
    const big = statSync(databasePath(directory)).size;
    const { signal, status, stderr } = runKilledAt(directory, step);
    lockDirectory(directory).release();
    assert.ok(!existsSync(`${databasePath(directory)}.compact`));
    assertWhole(directory);
    outcomes.add(statSync(databasePath(directory)).size < big ? 'new' : 'old');
    if (signal === null) {
      assert.equal(status, 0, stderr);
      assert.ok(step > 10, `${step} steps`);
      break;
    }
    assert.equal(signal, 'SIGKILL');
  }
  assert.deepEqual([...outcomes].toSorted(), ['new', 'old']);
});

/** Compacts in a process that ends when it calls the system or SQLite the n-th time. */
function runKilledAt(directory: string, step: number) {
  const module = JSON.stringify(join(import.meta.dirname, 'compaction.ts'));
  const program = `
    const fs = require('node:fs');
    const { DatabaseSync, StatementSync } = require('node:sqlite');
    let left = ${step};
    const patch = (object, name) => {
      const call = object[name];
      object[name] = function (...given) {
        left -= 1;
        if (left < 0) process.kill(process.pid, 'SIGKILL');
        return Reflect.apply(call, this, given);
      };
    };
    import(${module}).then(({ compact }) => {
      for (const name of ['open', 'fsync', 'rename', 'write', 'close', 'rm'])
        patch(fs, name + 'Sync');
      patch(DatabaseSync.prototype, 'exec');
      patch(StatementSync.prototype, 'run');
      require('node:module').syncBuiltinESMExports();
      compact(${JSON.stringify(directory)});
    });`;
  return spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
}
