import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import type { Migration } from '../migrations.ts';
import { parseProofs } from '../sql/users.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { openConnection } from './connection.ts';
import { migrate, readMigrations, versionOf } from './migrate.ts';

const one: Migration = { version: 1, name: '0001-one.sql', sql: 'create table one (x)' };
const two: Migration = { version: 2, name: '0002-two.sql', sql: 'create table two (x)' };
const broken: Migration = {
  version: 2,
  name: '0002-broken.sql',
  sql: 'create table half (x); insert into missing values (1)',
};

const path = '/data/kipimo.db';

/** That the error is one for people, and says this. */
function refusal(words: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof UnusableStorageError && words.test(error.message);
}

function tablesOf(database: DatabaseSync): unknown[] {
  return database
    .prepare('select name from sqlite_schema')
    .all()
    .map((row) => row['name']);
}

test('the migrations of this program are numbered from 1 without a gap', () => {
  const migrations = readMigrations();
  assert.equal(migrations[0]?.name, '0001-accounts-and-devices.sql');
  assert.deepEqual(
    migrations.map(({ version }) => version),
    migrations.map((_, index) => index + 1),
  );
});

test('a gap or a name without a number is refused', (context) => {
  const directory = temporaryDirectory(context);
  writeFileSync(`${directory}/0001-one.sql`, one.sql);
  assert.deepEqual(readMigrations(directory), [one]);
  writeFileSync(`${directory}/0003-three.sql`, two.sql);
  assert.throws(() => readMigrations(directory), /0003-three\.sql must have number 2/);
});

test('a database with chunks of format 1 is refused, and the sentence says what to do', () => {
  const first = readMigrations().slice(0, 6);
  for (const [format, isRefused] of [
    [1, true],
    [2, false],
  ] as const) {
    const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false });
    migrate(database, path, first);
    const insert = 'insert into chunks (series, min_time, max_time, count, datapoints)';
    database.prepare(`${insert} values (1, 0, 0, 1, ?)`).run(Uint8Array.of(format, 0));
    const start = () => migrate(database, path);
    if (isRefused) assert.throws(start, refusal(/^\/data\/kipimo\.db has .*format 1.*compact/));
    else start();
    assert.equal(versionOf(database), isRefused ? first.length : readMigrations().length);
  }
});

test('each migration is run once, in order', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database, path, [one]);
  assert.equal(versionOf(database), 1);
  assert.deepEqual(tablesOf(database), ['one']);
  migrate(database, path, [one, two]);
  migrate(database, path, [one, two]);
  assert.equal(versionOf(database), 2);
  assert.deepEqual(tablesOf(database), ['one', 'two']);
});

test('a migration that fails changes nothing and says which it was', () => {
  const database = new DatabaseSync(':memory:');
  const words = /\/data\/kipimo\.db could not be brought to version 2 \(0002-broken\.sql\)/;
  assert.throws(() => migrate(database, path, [one, broken]), refusal(words));
  assert.equal(versionOf(database), 1);
  assert.deepEqual(tablesOf(database), ['one']);
  migrate(database, path, [one, two]);
  assert.equal(versionOf(database), 2);
});

test('a database of a newer kipimo is refused by both versions and left as it is', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database, path, [one, two]);
  const words = /has version 2, and this kipimo knows versions up to 1: install the newer/;
  assert.throws(() => migrate(database, path, [one]), refusal(words));
  assert.equal(versionOf(database), 2);
});

test('a database of another program is refused and left as it is', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('create table photos (x)');
  assert.throws(() => migrate(database, path, [one]), refusal(/another program/));
  assert.deepEqual(tablesOf(database), ['photos']);
});

test('a file that is no database is refused with a sentence', (context) => {
  const file = `${temporaryDirectory(context)}/kipimo.db`;
  writeFileSync(file, 'these are not the bytes of a database, '.repeat(100));
  const words = /kipimo\.db cannot be opened: the database file is not a SQLite database/;
  assert.throws(() => openConnection(file, { role: 'write' }), refusal(words));
});

test('accounts older than stored webhook secrets have none', () => {
  const database = new DatabaseSync(':memory:');
  const migrations = readMigrations();
  const before = migrations.findIndex(({ name }) => name.endsWith('webhook-secrets.sql'));
  migrate(database, path, migrations.slice(0, before));
  database.exec(
    `insert into users (id, username, password_hash, created_at, is_admin, is_disabled, profile)
     values ('1', 'ana', 'hash', 0, 0, 0, '{}')`,
  );
  migrate(database, path, migrations);
  const rows = database.prepare('select webhook_secret as secret from users').all();
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ secret: null }],
  );
});

test('accounts older than proofs keep their addresses as proven then', () => {
  const database = new DatabaseSync(':memory:');
  const migrations = readMigrations();
  const before = migrations.findIndex(({ name }) => name.endsWith('address-proofs.sql'));
  migrate(database, path, migrations.slice(0, before));
  const insert = database.prepare(
    `insert into users (id, username, email_key, password_hash, created_at, is_admin, is_disabled,
       profile) values (?, ?, ?, 'hash', 0, 0, 0, ?)`,
  );
  const profile = { email: 'Ärzte@x.org', phone: ['+1 2', "'; \ud800 \u0000"], address: ['a'] };
  insert.run('1', 'ana', 'ärzte@x.org', JSON.stringify(profile));
  insert.run('2', 'bob', null, '{"firstName":"\\ud800"}');
  insert.run('3', 'damaged', '', 'no JSON');
  insert.run('4', 'odd', null, '{"phone":5}');
  migrate(database, path, migrations);
  const rows = database.prepare('select id, proofs, email_proof as proof from users').all();
  const [ana, ...others] = rows.map((row) => ({ ...row, proofs: parseProofs(`${row['proofs']}`) }));
  assert.deepEqual(
    ana?.proofs.map(({ channel, address, by }) => [channel, address, by]).slice(0, 2),
    [
      ['email', 'ärzte@x.org', 'earlier'],
      ['phone', '+1 2', 'earlier'],
    ],
  );
  assert.ok((ana?.proofs[0]?.provenAt ?? 0) > Date.UTC(2026, 0), 'the time of the migration');
  assert.deepEqual(
    others.map(({ proofs }) => proofs),
    [[], [], []],
  );
});
