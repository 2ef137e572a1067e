// Builds dist/ from src/: packed files start faster and need less memory than sources, and the
// published package has no choice, because Node does not strip types inside of node_modules.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild-wasm';
import { buildDashboard } from './build-dashboard.ts';

const root = resolve(dirname(import.meta.filename), '..');
const out = join(root, 'dist');
/** What the compiler makes, file by file. */
const compiled = join(root, '.scratch', 'compiled');
/** Started by themselves; what else is imported ends in few files that they share. */
const entries = ['main.js', 'storage/sqlite/writer-thread.js'];
const require = createRequire(import.meta.url);

for (const folder of [out, compiled]) rmSync(folder, { recursive: true, force: true });
compile();
tellPlaces();
await pack();
copyMigrations();
await buildDashboard({ out: join(out, 'dashboard') });
rmSync(compiled, { recursive: true });

function compile(): void {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const words = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', compiled];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Whoever asks where it is gets the place it had: what it looks for keeps its place beside it. */
function tellPlaces(): void {
  for (const path of globSync('**/*.js', { cwd: compiled })) {
    const file = join(compiled, path);
    const code = readFileSync(file, 'utf8');
    const place = path.replaceAll('\\', '/');
    const told = code
      .replaceAll('import.meta.url', `new URL('./${place}', import.meta.url).href`)
      .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(place)}')`);
    if (told !== code) writeFileSync(file, told);
  }
}

/**
 * Our files and TypeBox come in 1,100 modules, whose bookkeeping costs a start a seventh of its
 * time; see decision 0007. Other packages stay where they are.
 */
async function pack(): Promise<void> {
  const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = Object.keys(about.dependencies).filter((name) => name !== 'typebox');
  await build({
    entryPoints: entries.map((entry) => join(compiled, entry)),
    outbase: compiled,
    outdir: out,
    // In one folder, so that places are told from there.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    external: packages.flatMap((name) => [name, `${name}/*`]),
    nodePaths: [join(root, 'node_modules')],
    logLevel: 'warning',
  });
  for (const entry of entries.filter((name) => name.includes('/'))) {
    const isAsking = readFileSync(join(out, entry), 'utf8').includes('import.meta');
    if (isAsking) throw new Error(`${entry} is not where its parts are told that they are`);
  }
  copyFileSync(join(root, 'node_modules', 'typebox', 'license'), join(out, 'typebox.license'));
}

/** Migrations are read from beside the code that runs them. */
function copyMigrations(): void {
  for (const path of globSync('**/*.sql', { cwd: join(root, 'src') })) {
    cpSync(join(root, 'src', path), join(out, path));
  }
}
