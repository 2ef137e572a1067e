import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { staleFiles } from '../scripts/generated-files.ts';
import { commandKeys } from '../src/config/command-keys.ts';
import { configKeys } from '../src/config/config-keys.ts';
import { errorCodes } from '../src/domain/errors.ts';
import { edgeErrorCodes } from '../src/http/errors.ts';
import { readSourceFiles, repositoryRoot } from './source-files.ts';

const documents = readSourceFiles(['*.md', 'docs/**/*.md']);

function read(path: string): string {
  const found = documents.find((document) => document.path === path);
  assert.ok(found !== undefined, `${path} is missing`);
  return found.text;
}

/** The names in back-ticks in one column of the tables of a page. */
function namesInColumn(path: string, column: number): readonly string[] {
  return read(path)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => /^`([^`]+)`$/.exec(line.split('|')[column]?.trim() ?? '')?.[1] ?? []);
}

test('docs/configuration.md lists exactly the keys the service and the commands read', () => {
  const keys = [...Object.keys(configKeys), ...Object.keys(commandKeys)];
  assert.deepEqual(namesInColumn('docs/configuration.md', 1), keys);
});

test('docs/errors.md lists exactly the codes the service answers', () => {
  const codes = [...Object.keys(errorCodes), ...Object.keys(edgeErrorCodes)];
  assert.deepEqual([...namesInColumn('docs/errors.md', 2)].sort(), codes.sort());
});

test('every generated file is as the source says', async () => {
  assert.deepEqual(await staleFiles(), []);
});

test('every folder of the sources has its place in ARCHITECTURE.md', () => {
  const folders = new Set(
    readSourceFiles(['src/**/*.ts', 'tools/**/*.ts'])
      .map(({ path }) => dirname(path))
      .filter((folder) => folder !== 'src'),
  );
  assert.ok(folders.size > 8, `only ${folders.size} folders were found`);
  const map = read('ARCHITECTURE.md');
  const absent = [...folders].filter((folder) => !map.includes(`\`${folder}\``));
  assert.deepEqual(absent, [], 'write each in back-ticks, from the root: `src/lib`');
});

test('links between documents lead to files that exist', () => {
  const broken = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(join(repositoryRoot, dirname(path), target)))
      .map((target) => `${path} → ${target}`),
  );
  assert.deepEqual(broken, []);
});
