import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../bench/temporary-directory.ts';
import { readTextFile } from './user.ts';

const text = '[{"username":"efua","firstName":"Éfua"}]';
const encodings: Readonly<Record<string, Buffer>> = {
  'UTF-8': Buffer.from(text),
  'UTF-8 with a byte order mark': Buffer.from(`\uFEFF${text}`),
  'UTF-16': Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'Windows-1252': Buffer.from(text, 'latin1'),
};

test('a file is read in the encodings that spreadsheets and editors write', async () => {
  using home = temporaryDirectory();
  const file = join(home.path, 'file');
  for (const [name, bytes] of Object.entries(encodings)) {
    writeFileSync(file, bytes);
    assert.equal(await readTextFile(file, 1_000), text, name);
  }
});

test('a file that is too large, or never ends, is refused when so much was read', async () => {
  using home = temporaryDirectory();
  const file = join(home.path, 'file');
  writeFileSync(file, 'x'.repeat(1_001));
  await assert.rejects(readTextFile(file, 1_000), /file has more than 1000 bytes: import it in/);
  await assert.rejects(readTextFile('/dev/zero', 1_000), /\/dev\/zero has more than 1000 bytes/);
  assert.equal((await readTextFile(file, 1_001)).length, 1_001);
});
