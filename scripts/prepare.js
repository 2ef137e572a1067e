// Builds dist/ after "npm ci". Plain JavaScript, because npm also runs it where the pinned Node or
// TypeScript was left out (--omit): then there is nothing to build with, and that is no failure.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const compiler = join(root, 'node_modules', 'typescript', 'package.json');
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24 && existsSync(compiler)) {
  const build = join(root, 'scripts', 'build.ts');
  process.exitCode = spawnSync(process.execPath, [build], { stdio: 'inherit' }).status ?? 1;
}
