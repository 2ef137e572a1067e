// All checks before a review: types, format and lint, generated files, source text, tests.
// "--no-tests" leaves the tests out; everything else runs even when an earlier check failed.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { staleFiles } from './generated-files.ts';
import { concludeTests, runTests, suiteNamed } from './run-tests.ts';

const sourceTextTests = [
  'test/architecture.test.ts',
  'test/tidy.test.ts',
  'test/docs.test.ts',
  'test/code-text.test.ts',
  'test/promises.test.ts',
];

const failures: string[] = [];

function runTool(what: string, packageName: string, script: string, words: string[]): void {
  console.log(`— ${what}`);
  const about = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  const file = join(dirname(about), script);
  const { status } = spawnSync(process.execPath, [file, ...words], { stdio: 'inherit' });
  if (status !== 0) failures.push(what);
}

runTool('types', 'typescript', 'bin/tsc', ['--noEmit']);
runTool('types of the dashboard', 'typescript', 'bin/tsc', ['--noEmit', '-p', 'dashboard']);
runTool('format and lint', '@biomejs/biome', 'bin/biome', ['ci', '--error-on-warnings', '.']);

console.log('— generated files');
const stale = await staleFiles();
for (const path of stale) console.log(`${path} differs from the source: run "npm run docs"`);
if (stale.length > 0) failures.push('generated files');

const isWhole = !process.argv.includes('--no-tests');
console.log(isWhole ? '— tests' : '— tests of the source text');
const { patterns, except = [] } = suiteNamed('tests');
const whole = [...patterns, ...sourceTextTests, 'test/clients/generated-clients.test.ts'];
const counts = await runTests({
  patterns: isWhole ? whole : sourceTextTests,
  except: isWhole ? except.filter((path) => !whole.includes(path)) : [],
  reporter: 'dot',
});
if (concludeTests(counts) !== 0) failures.push('tests');

console.log(failures.length === 0 ? 'all checks passed' : `failed: ${failures.join(', ')}`);
process.exit(failures.length === 0 ? 0 : 1);
