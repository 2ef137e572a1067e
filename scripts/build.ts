// Builds dist/ from src/: the published package runs compiled files, because Node does not strip
// types inside of node_modules.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const root = resolve(dirname(import.meta.filename), '..');
const out = join(root, 'dist');

rmSync(out, { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
const { status } = spawnSync(
  process.execPath,
  [join(dirname(compiler), 'bin', 'tsc'), '-p', join(root, 'tsconfig.build.json')],
  { stdio: 'inherit' },
);
// Migrations are read from beside the code that runs them.
for (const path of globSync('**/*.sql', { cwd: join(root, 'src') })) {
  cpSync(join(root, 'src', path), join(out, path));
}
process.exit(status ?? 1);
