import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryDirectory } from '../contract/temporary-directory.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { openConnection } from './connection.ts';
import { type Migration, migrate, readMigrations, versionOf } from './migrate.ts';

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
