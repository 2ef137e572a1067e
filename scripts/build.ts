// Builds dist/ from src/ and tools/: packed files start faster and need less memory than sources,
// and the published package has no choice, because Node strips no types inside of node_modules.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild-wasm';
import { buildDashboard } from './build-dashboard.ts';
import { licencesOf } from './licences.ts';

const root = resolve(dirname(import.meta.filename), '..');
const out = join(root, 'dist');
/** What the compiler makes, file by file. */
const compiled = join(root, '.scratch', 'compiled');
/** The program of it; dist/ has its files at the same depth below the package. */
const program = join(compiled, 'src');
/** Started by themselves; what else is imported ends in few files that they share. */
const entries = ['main.js', 'storage/sqlite/writer-thread.js'];
const require = createRequire(import.meta.url);
/** Packages that look for files of their own, are seldom needed, or may be missing. */
const outside = ['@fastify/swagger-ui', 'nodemailer', 'pg', 'smpp', 'bufferutil', 'utf-8-validate'];

/**
 * What packages load at once for what nobody asks of them here, and what stands in its place:
 * Fastify as a server of HTTP/2, @fastify/static for lists of all files, prom-client for traces.
 */
const neverAsked: Readonly<Record<string, string>> = {
  'node:http2': 'exports.createServer = exports.createSecureServer = notPacked;',
  glob: 'exports.glob = notPacked;',
  '@opentelemetry/api': 'exports.context = exports.trace = { active: notPacked };',
};

/** What packages of the older kind of module expect to be there. */
const olderModules = `
import { createRequire as createRequireHere } from 'node:module';
const require = createRequireHere(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;`;

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

/**
 * Whoever asks where it is gets the place it had: what it looks for keeps its place beside it.
 * Schemas name the parts of TypeBox that they use: of its default export all would be packed.
 */
function tellPlaces(): void {
  for (const path of globSync('**/*.js', { cwd: compiled })) {
    const file = join(compiled, path);
    const code = readFileSync(file, 'utf8');
    const place = placeBesideDist(path.replaceAll('\\', '/'));
    const told = code
      .replaceAll('import.meta.url', `new URL('./${place}', import.meta.url).href`)
      .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(place)}')`)
      .replace("import Type from 'typebox'", "import * as Type from 'typebox'");
    if (told !== code) writeFileSync(file, told);
  }
}

/** The place of a compiled file as dist/ sees it: src/ became dist/, tools/ would be beside it. */
function placeBesideDist(path: string): string {
  return path.startsWith('src/') ? path.slice('src/'.length) : `../${path}`;
}

/**
 * The program and its packages come in 1,600 modules, whose bookkeeping costs a start a quarter of
 * its time; see decision 0007.
 */
async function pack(): Promise<void> {
  const { metafile } = await build({
    entryPoints: entries.map((entry) => join(program, entry)),
    outbase: program,
    outdir: out,
    // In one folder, so that places are told from there.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    external: outside,
    plugins: [standIns()],
    banner: { js: olderModules },
    // The text of a program stays in memory; a line of it is shown where nothing caught an error.
    minifyWhitespace: true,
    lineLimit: 200,
    logLevel: 'error',
    metafile: true,
    absWorkingDir: root,
  });
  for (const entry of entries.filter((name) => name.includes('/'))) {
    const text = readFileSync(join(out, entry), 'utf8').replace(olderModules.trim(), '');
    const isAsking = /import\.meta|__dirname|__filename/.test(text);
    if (isAsking) throw new Error(`${entry} is not where its parts are told that they are`);
  }
  for (const path of globSync('**/*.js', { cwd: out })) holdInOneByteEach(join(out, path));
  writeFileSync(join(out, 'licences.txt'), licencesOf(Object.keys(metafile.inputs)));
}

function standIns(): Plugin {
  const filter = new RegExp(`^(${Object.keys(neverAsked).join('|')})$`);
  return {
    name: 'stand-ins',
    setup({ onResolve, onLoad }) {
      onResolve({ filter }, ({ path }) => ({ path, namespace: 'stand-in' }));
      onLoad({ filter, namespace: 'stand-in' }, ({ path }) => ({
        contents: `${neverAsked[path]}
          function notPacked() { throw new Error('${path} is not in the packed program'); }`,
      }));
    },
  };
}

/** A letter that is not ASCII, in a comment at that, doubles what the text of a file holds. */
function holdInOneByteEach(file: string): void {
  const code = readFileSync(file, 'utf8');
  const escaped = code.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== code) writeFileSync(file, escaped);
}

/** Migrations are read from beside the code that runs them. */
function copyMigrations(): void {
  for (const path of globSync('**/*.sql', { cwd: join(root, 'src') })) {
    cpSync(join(root, 'src', path), join(out, path));
  }
}
