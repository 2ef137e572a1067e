import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareForCommand } from '../../../tools/admin/sqlite/accounts.ts';
import { temporaryDirectory } from '../../../tools/bench/temporary-directory.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { markBackup } from './backup-mark.ts';
import { removeCopyRests } from './data-copies.ts';
import { requireOrdinaryFiles } from './data-files.ts';
import { lockDirectory } from './directory-lock.ts';
import { writePrivately } from './durable-file.ts';
import { prepareForService } from './opening.ts';
import { replaceData } from './replacement.ts';

const names = [
  ...['kipimo.db', 'kipimo.db-wal', 'kipimo.db-shm', 'secret', 'secret.new', 'kipimo.lock'],
  ...['last-backup', 'replacing.json', 'replacing.json.partial', 'kipimo.db.compact'],
  ...['kipimo.db.partial', 'kipimo.db.compact-wal', 'kipimo.db.partial-journal'],
];

/** Things in the place of a file, beside a directory of another account. */
const kinds: Readonly<Record<string, (path: string, outside: string) => void>> = {
  'a link': (path, outside) => symlinkSync(join(outside, 'precious'), path),
  'a link: put the file': (path, outside) => symlinkSync(join(outside, 'missing'), path),
  'a directory': (path) => mkdirSync(path),
  'a named pipe': (path) => void spawnSync('mkfifo', [path]),
};

for (const [kind, plant] of Object.entries(kinds)) {
  test(`${kind} in place of any file of a data directory is named, and left alone`, () => {
    for (const name of names) {
      using home = temporaryDirectory();
      const [directory, outside] = [join(home.path, 'data'), join(home.path, 'outside')];
      for (const made of [directory, outside]) mkdirSync(made);
      writeFileSync(join(outside, 'precious'), 'of somebody else');
      plant(join(directory, name), outside);
      const isNamed = (error: unknown) =>
        error instanceof UnusableStorageError &&
        error.message.startsWith(`${join(directory, name)} cannot be opened: it is ${kind}`);
      for (const open of [prepareForService, prepareForCommand, lockDirectory]) {
        assert.throws(() => open(directory), isNamed, `${name} ${open.name}`);
      }
      assert.deepEqual(readdirSync(directory), [name]);
      assert.deepEqual(readdirSync(outside), ['precious']);
      assert.equal(readFileSync(join(outside, 'precious'), 'utf8'), 'of somebody else');
    }
  });
}

test('what is written under a name replaces a link there, and does not follow it', () => {
  using home = temporaryDirectory();
  const path = join(home.path, 'last-backup');
  const target = join(home.path, 'target');
  writeFileSync(target, 'of somebody else');
  for (const write of [() => writePrivately(path, 'ours'), () => markBackup(home.path)]) {
    rmSync(path, { force: true });
    symlinkSync(target, path);
    write();
    assert.equal(readFileSync(target, 'utf8'), 'of somebody else');
    assert.notEqual(readFileSync(path, 'utf8'), 'of somebody else');
  }
  const record = join(home.path, 'replacing.json.partial');
  symlinkSync(target, record);
  replaceData(home.path, 'before', () => undefined);
  assert.equal(readFileSync(target, 'utf8'), 'of somebody else');
});

test('the record of a replacement leads nowhere outside of the data directory', () => {
  const records: readonly string[] = [
    JSON.stringify({ label: '../outside', names: ['secret'] }),
    JSON.stringify({ label: '..', names: [] }),
    JSON.stringify({ label: 'link', names: ['secret'] }),
    ...['{}', 'null', '"', '{"label":"a","names":5}'],
  ];
  for (const record of records) {
    using home = temporaryDirectory();
    const [directory, outside] = [join(home.path, 'data'), join(home.path, 'outside')];
    for (const made of [directory, outside]) mkdirSync(made);
    writeFileSync(join(outside, 'secret'), 'of somebody else');
    writeFileSync(join(directory, 'secret'), 'ours');
    symlinkSync(outside, join(directory, 'link'));
    writeFileSync(join(directory, 'replacing.json'), record);
    assert.throws(() => lockDirectory(directory), /replacing\.json is damaged: look for/, record);
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'of somebody else');
    assert.equal(readFileSync(join(directory, 'secret'), 'utf8'), 'ours');
  }
});

test('a link called as a copy of the data is left alone, with what it leads to', () => {
  using home = temporaryDirectory();
  const [directory, outside] = [join(home.path, 'data'), join(home.path, 'outside')];
  for (const made of [directory, outside]) mkdirSync(made);
  writeFileSync(join(outside, 'copy.lock'), '');
  symlinkSync(outside, join(directory, 'copy-abcdef'));
  removeCopyRests(directory);
  assert.ok(existsSync(join(outside, 'copy.lock')));
});

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

test('rights that are missing are told with the file, before anything is made', () => {
  using home = temporaryDirectory();
  const directory = join(home.path, 'data');
  chmodSync(home.path, 0o755);
  const rights: readonly (readonly [name: string, directoryMode: number, sentence: RegExp])[] = [
    ...['kipimo.db', 'kipimo.db-wal', 'secret', 'kipimo.lock', 'replacing.json'].map(
      (name) =>
        [
          name,
          0o777,
          new RegExp(`${name} cannot be opened: this user may not read .*chown`),
        ] as const,
    ),
    ['', 0o555, /^the data directory \S+ cannot be used: this user may not write there: .*chown/],
    ['', 0o000, /^the data directory \S+ cannot be used: this user may not write there: .*chown/],
  ];
  for (const [name, mode, sentence] of rights) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    if (name !== '') writeFileSync(join(directory, name), '', { mode: 0 });
    chmodSync(directory, mode);
    const said = refusalFor(directory);
    chmodSync(directory, 0o700);
    assert.match(said, sentence);
    assert.deepEqual(readdirSync(directory), name === '' ? [] : [name]);
  }
});

test('a file in place of the data directory is told as such', () => {
  using home = temporaryDirectory();
  const path = join(home.path, 'data');
  writeFileSync(path, '');
  assert.throws(
    () => requireOrdinaryFiles(path, { isWritten: true }),
    /^UnusableStorageError: the data directory \S+ cannot be used: it is a file: name a directory$/,
  );
});

/** What an account says that is no administrator of the machine. */
function refusalFor(directory: string): string {
  const program = join(import.meta.dirname, 'data-files.ts');
  const work = `
    const { requireOrdinaryFiles } = await import(${JSON.stringify(program)});
    if (${isRoot}) for (const set of ['setgid', 'setuid']) process[set](${nobody});
    try { requireOrdinaryFiles(${JSON.stringify(directory)}, { isWritten: true }); }
    catch (error) { process.stdout.write(error.message); }`;
  const words = ['--input-type=module', '-e', work];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', cwd: '/' });
  assert.equal(stderr, '');
  return stdout;
}
