import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../tools/bench/temporary-directory.ts';
import { lockDirectory } from './directory-lock.ts';
import { replaceData } from './replacement.ts';

const before = { 'kipimo.db': 'old', 'kipimo.db-wal': 'log', secret: 'old secret' };

function fill(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

const contentOf = (directory: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => name !== 'kipimo.lock')
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );

test('data is replaced as a whole, and what was there is beside', () => {
  using directory = temporaryDirectory();
  fill(directory.path, before);
  const aside = replaceData(directory.path, 'before', () =>
    fill(directory.path, { secret: 'new' }),
  );
  assert.equal(aside, join(directory.path, 'before'));
  assert.deepEqual(contentOf(aside), before);
  assert.deepEqual(readdirSync(directory.path).toSorted(), ['before', 'secret']);
});

test('a replacement that fails leaves what was there', () => {
  using directory = temporaryDirectory();
  fill(directory.path, before);
  const put = () => {
    fill(directory.path, { 'kipimo.db': 'new' });
    throw new Error('no room');
  };
  assert.throws(() => replaceData(directory.path, 'before', put), /no room/);
  assert.deepEqual(contentOf(directory.path), before);
});

for (const [moment, calls] of [
  ['while the old data is moved', 2],
  ['before anything new is there', 4],
  ['when some of the new data is there', 5],
] as const) {
  test(`a process that is killed ${moment} is undone by the next that takes the lock`, () => {
    using directory = temporaryDirectory();
    fill(directory.path, before);
    // Names are moved one by one: the process ends at the one of that number.
    const module = JSON.stringify(join(import.meta.dirname, 'replacement.ts'));
    const place = JSON.stringify(directory.path);
    const program = `
      const fs = require('node:fs');
      let left = ${calls};
      const rename = fs.renameSync;
      fs.renameSync = (...names) => {
        left -= 1;
        if (left < 0) process.kill(process.pid, 'SIGKILL');
        rename(...names);
      };
      require('node:module').syncBuiltinESMExports();
      const put = () => {
        for (const name of ['kipimo.db', 'secret']) {
          fs.writeFileSync(${place} + '/new', 'new');
          fs.renameSync(${place} + '/new', ${place} + '/' + name);
        }
      };
      import(${module}).then(({ replaceData }) => replaceData(${place}, 'before', put));`;
    const { signal } = spawnSync(process.execPath, ['-e', program]);
    assert.equal(signal, 'SIGKILL');
    assert.notDeepEqual(namesIn(directory.path), Object.keys(before).toSorted());
    lockDirectory(directory.path).release();
    const { new: _, ...left } = contentOf(directory.path);
    assert.deepEqual(left, before);
  });
}

const namesIn = (directory: string): readonly string[] => readdirSync(directory).toSorted();
