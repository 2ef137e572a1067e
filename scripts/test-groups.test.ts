import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, matchesGlob, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { entryText, groupTests, longest, waiting } from './test-groups.ts';

const root = resolve(import.meta.dirname, '..');
const all = globSync('{src,test,dashboard}/**/*.test.ts', { cwd: root }).map((path) =>
  join(root, path),
);

test('each file runs once, few of them together', () => {
  using directory = temporaryDirectory();
  const groups = groupTests(all, directory.path);
  assert.deepEqual(groups.flatMap(({ files }) => files).toSorted(), all.toSorted());
  assert.ok(groups.length < all.length / 2);
  assert.ok(Math.max(...groups.map(({ files }) => files.length)) > 5);
});

test('long files begin first, and what waits runs beside those that compute', () => {
  using directory = temporaryDirectory();
  const begun = groupTests(all, directory.path).map(({ files: [file = ''] }) =>
    relative(root, file),
  );
  const isWaiting = (path: string) => waiting.some((pattern) => matchesGlob(path, pattern));
  assert.deepEqual(begun.filter((path) => !isWaiting(path)).slice(0, longest.length), longest);
  for (const pattern of waiting) assert.ok(globSync(pattern, { cwd: root }).length > 0, pattern);
  const places = begun.flatMap((path, at) => (isWaiting(path) ? [at] : []));
  assert.ok(places.length > 10);
  assert.ok(places.every((at, index) => index === 0 || at > (places[index - 1] ?? 0) + 1));
  assert.ok((places.at(-1) ?? 0) < begun.length - 10);
});

test('what starts programs or keeps files has a process of its own', () => {
  using directory = temporaryDirectory();
  const together = groupTests(all, directory.path).filter(({ files }) => files.length > 1);
  const shared = together.flatMap(({ files }) => files.map((file) => file.slice(root.length + 1)));
  assert.ok(shared.includes('src/lib/json.test.ts'));
  assert.ok(!shared.includes('src/storage/sqlite/space-keeper.test.ts'));
  assert.ok(!shared.some((path) => path.startsWith('test/walks/')));
});

test('a file may ask for a process of its own', () => {
  using directory = temporaryDirectory();
  const lone = groupTests(all, directory.path).filter(({ files }) => files.length === 1);
  const asking = all.filter((file) =>
    readFileSync(file, 'utf8').startsWith('// In a process of its own: '),
  );
  assert.ok(asking.length > 0);
  for (const file of asking) assert.ok(lone.some(({ entry }) => entry === file));
});

test('files of one process keep their hooks apart, and one that breaks is a failure', () => {
  using directory = temporaryDirectory();
  const file = (name: string, text: string): string => {
    const path = join(directory.path, name);
    writeFileSync(path, `import { beforeEach, test } from 'node:test';\n${text}`);
    return path;
  };
  const hooked = file('hooked.mjs', "beforeEach(() => { throw new Error('x'); });");
  const good = file('good.mjs', "test('good', () => {});");
  const broken = file('broken.mjs', "throw new Error('broken');");
  const run = (files: readonly string[]) => {
    const folder = join(directory.path, 'entry');
    mkdirSync(folder, { recursive: true });
    const entry = join(folder, 'group.test.mjs');
    writeFileSync(entry, entryText(files));
    const { NODE_TEST_CONTEXT: _inside, ...env } = process.env;
    const words = ['--test', '--test-reporter=tap', entry];
    const { status, stdout } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    return { status, passed: Number(/^# pass (\d+)/m.exec(stdout)?.[1]) };
  };
  assert.deepEqual(run([hooked, good]), { status: 0, passed: 1 });
  assert.deepEqual(run([good, broken]), { status: 1, passed: 1 });
});
