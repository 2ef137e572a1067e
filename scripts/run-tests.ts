import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { run } from 'node:test';
import { dot, spec } from 'node:test/reporters';

/** Where tests live; a folder that has none yet is no mistake. */
export const testPatterns = [
  'src/**/*.test.ts',
  'test/!(neighbours)/**/*.test.ts',
  'test/*.test.ts',
  'scripts/**/*.test.ts',
  'bin/**/*.test.ts',
  'dashboard/**/*.test.ts',
] as const;

/** No single test may take longer; one that hangs must not hang the run. */
const testMsMax = 180_000;

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/** Runs the tests that the patterns find with this Node, reporting to standard output. */
export async function runTests(options: {
  readonly patterns: readonly string[];
  readonly reporter: 'spec' | 'dot';
  /** Files that run side by side; what measures time wants the machine for itself. */
  readonly sideBySide?: number;
}): Promise<TestCounts> {
  const files = findFiles(options.patterns);
  // Without files, node:test would go looking on its own.
  if (files.length === 0) return { passed: 0, failed: 0 };
  const stream = run({
    files,
    concurrency: options.sideBySide ?? Math.min(4, availableParallelism()),
    timeout: testMsMax,
  });
  let counts: TestCounts = { passed: 0, failed: 0 };
  stream.on('test:summary', ({ file, success, counts: all }) => {
    // There is one per file as well; the one without a file is about the whole run.
    if (file !== undefined) return;
    const failed = all.tests - all.passed - all.skipped - all.todo;
    // A suite can fail outside of any test.
    counts = { passed: all.passed, failed: success ? failed : Math.max(1, failed) };
  });
  const report = options.reporter === 'dot' ? stream.compose(dot) : stream.compose(spec);
  for await (const text of report) process.stdout.write(String(text));
  return counts;
}

function findFiles(patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) =>
    globSync(pattern, { exclude: (name) => name === 'node_modules' }),
  );
  return [...new Set(found)].sort().map((path) => resolve(path));
}

/** Prints the line that others read the outcome from; answers the exit code. */
export function concludeTests({ passed, failed }: TestCounts): 0 | 1 {
  if (passed + failed === 0) process.stdout.write('no test was found\n');
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
