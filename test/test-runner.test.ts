import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './source-files.ts';

/** Runs scripts/test.ts over files with these texts; answers its last line and exit code. */
function runOver(texts: readonly string[]): { line: string; code: number | null } {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-runner-'));
  try {
    texts.forEach((text, index) => {
      writeFileSync(
        join(directory, `f${index}.test.mjs`),
        `import { test } from 'node:test';${text}`,
      );
    });
    // Without what tells node:test that it runs inside of itself.
    const { NODE_TEST_CONTEXT: _inside, ...env } = process.env;
    const script = join(repositoryRoot, 'scripts', 'test.ts');
    const words = [script, join(directory, '*.test.mjs')];
    const { stdout, status } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    return { line: stdout.trimEnd().split('\n').at(-1) ?? '', code: status };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const good = "test('good', () => {});";

test('all files are counted together, and nothing failed means 0', () => {
  assert.deepEqual(runOver([`${good}${good}`, good]), { line: '3 passed, 0 failed', code: 0 });
});

test('a failed test is counted and makes the run fail', () => {
  const bad = "test('bad', () => { throw new Error('x'); });";
  assert.deepEqual(runOver([good + bad, good]), { line: '2 passed, 1 failed', code: 1 });
});

test('a file that breaks before its first test is a failure', () => {
  assert.deepEqual(runOver([good, "throw new Error('x');"]), {
    line: '1 passed, 1 failed',
    code: 1,
  });
});

test('a run that finds no test fails', () => {
  assert.deepEqual(runOver([]), { line: '0 passed, 0 failed', code: 1 });
});
