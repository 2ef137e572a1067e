import assert from 'node:assert/strict';
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createManualClock } from '../../test/manual-clock.ts';
import { temporaryDirectory } from '../bench/temporary-directory.ts';
import { openProgressFile } from './progress-file.ts';

test('a link under the name of the file, or of its partial one, is not followed', async () => {
  using home = temporaryDirectory();
  const [file, target] = [join(home.path, 'progress.json'), join(home.path, 'target')];
  writeFileSync(target, 'of somebody else');
  symlinkSync(target, file);
  symlinkSync(target, `${file}.new`);
  const options = { file, about: 'here there', clock: createManualClock(0) };
  const progress = await openProgressFile(options);
  await progress.set('d/s', { skip: 3, seen: 'now' });
  await progress.save();
  assert.equal(readFileSync(target, 'utf8'), 'of somebody else');
  assert.ok(lstatSync(file).isFile());
  assert.deepEqual((await openProgressFile(options)).find('d/s'), { skip: 3, seen: 'now' });
  await progress.remove();
  assert.equal(readFileSync(target, 'utf8'), 'of somebody else');
});
