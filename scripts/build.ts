// Builds dist/ from src/: compiled files start faster and need less memory than sources, and the
// published package has no choice, because Node does not strip types inside of node_modules.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild-wasm';
import { buildDashboard } from './build-dashboard.ts';

const root = resolve(dirname(import.meta.filename), '..');
const out = join(root, 'dist');
const require = createRequire(import.meta.url);

rmSync(out, { recursive: true, force: true });
compile();
copyMigrations();
await packTypebox();
await buildDashboard({ out: join(out, 'dashboard') });

function compile(): void {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const words = [compiler, '-p', join(root, 'tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Migrations are read from beside the code that runs them. */
function copyMigrations(): void {
  for (const path of globSync('**/*.sql', { cwd: join(root, 'src') })) {
    cpSync(join(root, 'src', path), join(out, path));
  }
}

/**
 * TypeBox comes in 700 files, whose bookkeeping costs a process 24 MB. Packed into one it costs 5;
 * see decision 0007.
 */
async function packTypebox(): Promise<void> {
  const packed = join(out, 'vendor', 'typebox.js');
  const contents =
    "export { default } from 'typebox';\nexport { Compile } from 'typebox/compile';\n";
  await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: packed,
  });
  const licence = join(root, 'node_modules', 'typebox', 'license');
  copyFileSync(licence, join(dirname(packed), 'typebox.license'));
  for (const path of globSync('**/*.js', { cwd: out, exclude: ['vendor/**'] })) {
    const file = join(out, path);
    const code = readFileSync(file, 'utf8');
    const here = relative(dirname(file), packed).replaceAll('\\', '/');
    const specifier = `'${here.startsWith('.') ? here : `./${here}`}'`;
    const rewritten = code.replace(/(?<=\bfrom )'typebox(\/compile)?'/g, specifier);
    if (rewritten !== code) writeFileSync(file, rewritten);
  }
}
