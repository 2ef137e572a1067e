import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { silentLog } from '../../../src/lib/log.ts';
import { lockDirectory } from '../../../src/storage/sqlite/directory-lock.ts';
import { openSqlite } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { aUser } from '../../../test/contract/storage/builders.ts';
import { temporaryDirectory } from '../../bench/temporary-directory.ts';
import { backUp, copyData, restoreBackup } from './backup.ts';

const onProgress = () => undefined;

/** A backup of a data directory with an account. */
async function backupIn(root: string): Promise<string> {
  const directory = join(root, 'from');
  mkdirSync(directory);
  const storage = await openSqlite({ directory, log: silentLog });
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.close();
  const file = join(root, 'file.backup');
  await backUp({ directory, file, onProgress });
  return file;
}

const restore = (root: string, file: string) =>
  restoreBackup({ file, directory: join(root, 'to'), isForced: false, label: 'aside', onProgress });

for (const [what, sql, sentence] of [
  [
    'a trigger',
    'create trigger rise after insert on users begin update users set is_admin = 1; end',
    /has the trigger "rise", which kipimo does not have: choose another backup/,
  ],
  ['a view', 'create view all_users as select * from users', /the view "all_users"/],
  ['a table', 'create table evil (a)', /the table "evil"/],
  ['an index', 'create index evil on users (upper(username))', /the index "evil"/],
  ['a virtual table', 'create virtual table evil using fts5(a)', /the table "evil/],
  [
    'a trigger of ours in other words',
    `drop trigger notifications_of_user;
     create trigger notifications_of_user after insert on users
     begin update users set is_admin = 1; end`,
    /the trigger "notifications_of_user", which kipimo has in other words/,
  ],
  ['a version below zero', 'pragma user_version = -5', /has user_version -5/],
] as const) {
  test(`a backup with ${what} is refused by name, and nothing is restored`, async () => {
    using root = temporaryDirectory();
    const file = await backupIn(root.path);
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    await assert.rejects(restore(root.path, file), sentence);
    assert.deepEqual(readdirSync(root.path).toSorted(), ['file.backup', 'from']);
  });
}

test('a backup as it was written is restored', async () => {
  using root = temporaryDirectory();
  await restore(root.path, await backupIn(root.path));
  const storage = await openSqlite({ directory: join(root.path, 'to'), log: silentLog });
  assert.notEqual(await storage.users.findByUsername('alice'), undefined);
  await storage.close();
});

test('the copy of a killed command is removed by the next, that of a living is not', async () => {
  using root = temporaryDirectory();
  await backupIn(root.path);
  const directory = join(root.path, 'from');
  const copies = () => readdirSync(directory).filter((name) => name.startsWith('copy-'));
  mkdirSync(join(directory, 'copy-aaaaaa'));
  writeFileSync(join(directory, 'copy-aaaaaa', 'kipimo.db'), 'of an older version');
  utimesSync(join(directory, 'copy-aaaaaa'), 1, 1);
  mkdirSync(join(directory, 'copy-bbbbbb'));
  writeFileSync(join(directory, 'copy-bbbbbb', 'copy.lock'), '');
  mkdirSync(join(directory, 'copy-of-mine'));
  {
    using copy = await copyData(directory, { isLocked: false, onProgress });
    lockDirectory(directory).release();
    assert.deepEqual(
      copies()
        .map((name) => join(directory, name))
        .toSorted(),
      [copy.directory, join(directory, 'copy-of-mine')].toSorted(),
    );
  }
  assert.deepEqual(copies(), ['copy-of-mine']);
});
