import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory } from './durable-file.ts';

test('a directory is made with those above it, for this account alone', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'kipimo-make-'));
  t.after(() => rmSync(root, { recursive: true }));
  const path = join(root, 'one', 'two');
  makeDirectory(path);
  makeDirectory(path);
  for (const made of [join(root, 'one'), path]) assert.equal(statSync(made).mode & 0o777, 0o700);
  writeFileSync(join(root, 'file'), '');
  assert.throws(() => makeDirectory(join(root, 'file', 'below')), /ENOTDIR/);
});

test('where none can be made it is refused, and nobody waits for ever', (t) => {
  if (!existsSync('/proc/self')) return t.skip('this system has no /proc');
  for (const path of ['/proc/kipimo', '/proc/self/kipimo/data']) {
    assert.throws(() => makeDirectory(path), /ENOENT|EACCES|EPERM/);
  }
});
