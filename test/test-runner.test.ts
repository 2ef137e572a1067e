import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './source-files.ts';

/** Runs scripts/test.ts over files with these texts; answers its last line and exit code. */
function runOver(
  texts: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): { line: string; code: number | null; out: string } {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-runner-'));
  try {
    texts.forEach((text, index) => {
      writeFileSync(
        join(directory, `f${index}.test.mjs`),
        `import { test } from 'node:test';${text}`,
      );
    });
    // Without what tells node:test that it runs inside of itself.
    const { NODE_TEST_CONTEXT: _inside, ...outside } = process.env;
    const env = { ...outside, ...environment };
    const script = join(repositoryRoot, 'scripts', 'test.ts');
    const words = [script, join(directory, '*.test.mjs')];
    const { stdout, status } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    return { line: stdout.trimEnd().split('\n').at(-1) ?? '', code: status, out: stdout };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function assertEnd(run: ReturnType<typeof runOver>, line: string, code: number): void {
  assert.deepEqual({ line: run.line, code: run.code }, { line, code });
}

const good = "test('good', () => {});";

test('all files are counted together, and nothing failed means 0', () => {
  assertEnd(runOver([`${good}${good}`, good]), '3 passed, 0 failed', 0);
});

test('a failed test is counted and makes the run fail', () => {
  const bad = "test('bad', () => { throw new Error('x'); });";
  assertEnd(runOver([good + bad, good]), '2 passed, 1 failed', 1);
});

test('a file that breaks before its first test is a failure', () => {
  assertEnd(runOver([good, "throw new Error('x');"]), '1 passed, 1 failed', 1);
});

test('a run that finds no test fails', () => {
  assertEnd(runOver([]), '0 passed, 0 failed', 1);
});

test('tests of files are left out where the engine has none, and counted', () => {
  const module = JSON.stringify(join(repositoryRoot, 'test', 'engine.ts'));
  const on = (engine: string) =>
    `process.env['TEST_STORAGE'] = '${engine}';` +
    `const { embedded } = await import(${module}); embedded('of files', () => {}); ${good}`;
  const without = runOver([on('postgres')]);
  assertEnd(without, '1 passed, 0 failed', 0);
  assert.match(without.out, /^1 tests: needs an engine with files of its own$/m);
  assertEnd(runOver([on('sqlite')]), '2 passed, 0 failed', 0);
});

test('hooks and errors belong to their test, though nobody watches its promises', () => {
  const file = `
    import { after } from 'node:test';
    import { setTimeout as wait } from 'node:timers/promises';
    import { executionAsyncId } from 'node:async_hooks';
    const ends = [];
    const openLater = async (name) => { await wait(1); after(() => ends.push(name)); };
    test('hooked', async () => { await openLater('first'); });
    test('ended', () => { if (ends.join() !== 'first') throw new Error(ends.join()); });
    const next = async () => { await null; return executionAsyncId(); };
    test('unwatched', async () => { if (await next() !== await next()) throw new Error(); });
    test('timer', async () => { setTimeout(() => { throw new Error('x'); }); await wait(50); });
    const fail = async () => { await 1; throw new Error('y'); };
    test('promise', async () => { void fail(); await wait(50); });
    test('outer', async () => { await wait(1); await test('inner', () => {}); });
  `;
  const run = runOver([file]);
  assertEnd(run, '5 passed, 2 failed', 1);
  for (const name of ['timer', 'promise']) assert.match(run.out, new RegExp(`^✖ ${name} `, 'm'));
  assert.match(run.out, /^ {2}✔ inner /m);
});

test('what a test left behind fails its file', () => {
  const left = "test('left', () => { setTimeout(() => { throw new Error('late'); }, 20); });";
  assertEnd(runOver([left + good]), '2 passed, 1 failed', 1);
});
