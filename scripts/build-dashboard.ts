import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild-wasm';
import { buildGuides } from './guide-pages.ts';
import { licencesOf } from './licences.ts';
import { filesOfWords, screenFiles } from './screen-files.ts';
import { worldData } from './world-data.ts';

const root = resolve(dirname(import.meta.filename), '..');

/** Smaller files do not get smaller on the wire. */
const compressBytesMin = 600;

/** What the first load costs, as built. */
export interface DashboardSize {
  /** Scripts that index.html loads before anything is asked for, gzip. */
  readonly scriptBytes: number;
  readonly styleBytes: number;
}

/** Builds the web app into a folder: hashed, minified, precompressed files and index.html. */
export async function buildDashboard(options: {
  readonly out: string;
  /** Readable files and source maps, and no compression: for development. */
  readonly isQuick?: boolean;
}): Promise<DashboardSize> {
  const { out, isQuick = false } = options;
  const source = join(root, 'dashboard');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, 'assets'), { recursive: true });
  const settings = buildSettings(out, isQuick);
  const entry = (name: string) => join(source, name);
  const { metafile } = await build({
    ...settings,
    entryPoints: { app: entry('main.tsx'), later: entry('styles/later.css') },
    splitting: true,
    format: 'esm',
    plugins: [...settings.plugins, wholeChunks(source)],
  });
  dropIdleImports(metafile);
  const loaded = new Set(loadedBy(metafile));
  const words = filesOfWords(metafile.outputs, loaded);
  const boot = await build({
    ...settings,
    entryPoints: { theme: entry('theme-boot.ts') },
    format: 'iife',
    sourcemap: false,
    write: false,
    define: {
      WORD_FILES: JSON.stringify(words),
      LATER_STYLES: JSON.stringify(laterStyles(metafile)),
    },
  });
  const loads = pickLoads(metafile, boot.outputFiles[0]?.text ?? '');
  writeFileSync(join(out, 'index.html'), page(readFileSync(entry('index.html'), 'utf8'), loads));
  const screens = screenFiles(metafile.outputs, { source, loaded });
  writeFileSync(join(out, 'screens.json'), JSON.stringify(screens));
  const otherWords = Object.entries(words).flatMap(([language, files]) =>
    language === 'en' ? [] : Object.values(files),
  );
  await buildServiceWorker(settings, out, filesKept(filesOf(metafile), new Set(otherWords)));
  copyFileSync(entry('manifest.webmanifest'), join(out, 'manifest.webmanifest'));
  for (const icon of readdirSync(entry('icons'))) {
    copyFileSync(join(entry('icons'), icon), join(out, icon));
  }
  // The data of world-atlas is in the outline of the world, which is made while building.
  const atlas = 'node_modules/world-atlas/';
  writeFileSync(join(out, 'licences.txt'), licencesOf([...Object.keys(metafile.inputs), atlas]));
  buildGuides(join(out, 'guides'));
  if (!isQuick) compressAll(join(out, 'assets'));
  return {
    scriptBytes:
      gzipBytes(out, [loads.app, ...loads.imports]) + gzipSync(loads.boot, { level: 9 }).length,
    styleBytes: gzipBytes(out, [loads.style]),
  };
}

/** The words of other languages than English, in three files each: words alone. */
const wordFiles = /\/i18n\/(?:fr|pt|sw)\/(?:first|later|rest)-words\.ts$/;

/** Writes the words of a language out, which the sources part by what English says at first. */
const writtenWords: Plugin = {
  name: 'written-words',
  setup({ onLoad }) {
    onLoad({ filter: wordFiles }, async ({ path }) => {
      const exported: unknown = await import(pathToFileURL(path).href);
      const lines = Object.entries(Object(exported)).map(
        ([name, words]) => `export const ${name} = ${JSON.stringify(words)};`,
      );
      return { contents: lines.join('\n'), loader: 'js' };
    });
  },
};

/** What follows the first cards at once, or is shown instead of them: it takes the core alone. */
const soonFiles: ReadonlySet<string> = new Set([
  'later-words.ts',
  'rest-words.ts',
  'live.ts',
  'welcome.tsx',
]);

/**
 * Code that entries share is split by which entries share it: left alone, that makes a chunk for
 * every combination, and thirty small files to fetch before anything shows. With the core imported
 * by every part that is loaded later, all that is in the core is shared by all: one chunk. Likewise
 * what most screens share and home does without; and what charts and the screens around them share,
 * for every part that takes any of it.
 */
function wholeChunks(source: string): Plugin {
  const later = new Set(globSync('**/!(*.test).{ts,tsx}', { cwd: source }).flatMap(laterParts));
  const core = join(source, 'shell', 'begin.tsx');
  const laterCore = join(source, 'shell', 'later-core.ts');
  const chartCore = join(source, 'charts', 'chart-core.ts');
  const ofCharts = new Set(importsOf(chartCore));
  function coresOf(path: string): readonly string[] {
    if (soonFiles.has(basename(path))) return [core];
    const isOfCharts = [...closureOf(path)].some((part) => ofCharts.has(part));
    return isOfCharts ? [core, laterCore, chartCore] : [core, laterCore];
  }
  function laterParts(path: string): readonly string[] {
    const text = readFileSync(join(source, path), 'utf8');
    return [...text.matchAll(/\bimport\('(\.[^']+\.tsx?)'\)/g)]
      .map((match) => join(source, dirname(path), match[1] ?? ''))
      .filter((target) => !wordFiles.test(target));
  }
  return {
    name: 'whole-chunks',
    setup({ onLoad }) {
      onLoad({ filter: exactly(later) }, async ({ path }) => {
        const loader = path.endsWith('x') ? 'tsx' : 'ts';
        const cores = coresOf(path).map((file) => `import ${JSON.stringify(file)};\n`);
        return { contents: `${await readFile(path, 'utf8')}\n${cores.join('')}`, loader };
      });
    },
  };
}

/** The files that a file imports at once, as paths; types alone are nothing to import. */
function importsOf(path: string): readonly string[] {
  const pattern = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s+)?'(\.[^']+\.tsx?)'/gm;
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(pattern)].map((match) => join(dirname(path), match[1] ?? ''));
}

/** A file, what it imports at once, and so on. */
function closureOf(path: string): ReadonlySet<string> {
  const found = new Set<string>();
  const follow = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    for (const next of importsOf(file)) follow(next);
  };
  follow(path);
  return found;
}

/** A pattern for these paths and no other. */
function exactly(paths: ReadonlySet<string>): RegExp {
  const parts = [...paths].map((path) => path.replace(/[^\w/]/g, '\\$&'));
  return new RegExp(`^(${parts.join('|')})$`);
}

function buildSettings(out: string, isQuick: boolean) {
  return {
    bundle: true,
    outdir: out,
    absWorkingDir: root,
    tsconfig: join(root, 'dashboard', 'tsconfig.json'),
    metafile: true,
    minify: !isQuick,
    sourcemap: isQuick ? 'inline' : false,
    // Phones of 2021 and later.
    target: ['chrome90', 'firefox90', 'safari15'],
    // All of these have it: the fault of Chrome 90 is in calls that spread an argument.
    supported: { 'optional-chain': true },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    publicPath: '/',
    legalComments: 'none',
    loader: { '.png': 'file', '.svg': 'file' },
    logLevel: 'warning',
    charset: 'utf8',
    plugins: [worldData, writtenWords],
  } satisfies BuildOptions;
}

/** The files of a build by their path below `out`, as a page names them. */
function filesOf(metafile: Metafile): Record<string, Metafile['outputs'][string]> {
  return Object.fromEntries(
    Object.entries(metafile.outputs).map(([path, output]) => [assetPath(path), output]),
  );
}

const assetPath = (path: string): string => `assets/${basename(path)}`;

/**
 * What packages of the older kind are wrapped with is a file that every part imports, also those
 * that take nothing of it: there the import goes, as it would be one more journey.
 */
function dropIdleImports(metafile: Metafile): void {
  const helpers = Object.entries(metafile.outputs)
    .filter(([path, { inputs }]) => path.endsWith('.js') && Object.keys(inputs).length === 0)
    .map(([path]) => path);
  for (const [path, output] of Object.entries(metafile.outputs)) {
    const idle = new Set(helpers.filter((helper) => isIdleImport(path, helper)));
    output.imports = output.imports.filter((found) => !idle.has(found.path));
  }
}

/** Whether a file imports another for nothing; the import is taken out. */
function isIdleImport(path: string, imported: string): boolean {
  if (!path.endsWith('.js')) return false;
  const file = resolve(root, path);
  const text = readFileSync(file, 'utf8');
  const quick = `import "/${assetPath(imported)}";\n`;
  const found = [quick, quick.replace(/ |\n/g, '')].find((one) => text.includes(one));
  if (found === undefined) return false;
  writeFileSync(file, text.replace(found, ''));
  return true;
}

interface Loads {
  /** The script in the head of the page, as text. */
  readonly boot: string;
  readonly app: string;
  readonly style: string;
  /** Chunks that the app imports at once. */
  readonly imports: readonly string[];
}

/**
 * The scripts that every page loads before anything is asked for: the core, and what it imports.
 * The entry only imports the core, which all parts share: the page begins with that instead.
 */
function loadedBy(metafile: Metafile): readonly string[] {
  const outputs = filesOf(metafile);
  const core = Object.keys(outputs).find((path) =>
    Object.keys(outputs[path]?.inputs ?? {}).includes('dashboard/shell/begin.tsx'),
  );
  if (core === undefined) throw new Error('the core was not built');
  const imports = new Set<string>([core]);
  const follow = (name: string): void => {
    for (const found of outputs[name]?.imports ?? []) {
      const target = assetPath(found.path);
      if (found.kind !== 'import-statement' || imports.has(target)) continue;
      imports.add(target);
      follow(target);
    }
  };
  follow(core);
  return [...imports];
}

function appOf(outputs: ReturnType<typeof filesOf>): string {
  const app = Object.keys(outputs).find((path) =>
    outputs[path]?.entryPoint?.endsWith('dashboard/main.tsx'),
  );
  if (app === undefined) throw new Error('the entry was not built');
  return app;
}

/** What is asked for beside screens that are no part of the first load. */
function laterStyles(metafile: Metafile): string {
  const outputs = filesOf(metafile);
  const path = Object.keys(outputs).find((name) =>
    outputs[name]?.entryPoint?.endsWith('styles/later.css'),
  );
  if (path === undefined) throw new Error('the styles of later screens were not built');
  return `/${path}`;
}

function pickLoads(metafile: Metafile, boot: string): Loads {
  const outputs = filesOf(metafile);
  const [app = '', ...imports] = loadedBy(metafile);
  const style = outputs[appOf(outputs)]?.cssBundle;
  if (style === undefined) throw new Error('the style sheet was not built');
  // In a page it would end the script, or hide it.
  if (/<\/script|<!--/i.test(boot)) throw new Error('the script of the page cannot stand in it');
  return { boot, app, style: assetPath(style), imports };
}

function page(template: string, loads: Loads): string {
  const tags = [
    ...[loads.app, ...loads.imports].map((path) => `<link rel="modulepreload" href="/${path}">`),
    // Ahead of the style sheet, which it would wait for.
    `<script>${loads.boot.trim()}</script>`,
    `<link rel="stylesheet" href="/${loads.style}">`,
    `<script type="module" src="/${loads.app}"></script>`,
  ];
  // Without its indentation, which each first load would bring.
  const lean = template.replace(/\n\s+/g, '\n');
  return lean.replace('<!--assets-->', () => tags.join('\n'));
}

/** Larger files, and languages, are kept when somebody uses them: data costs money. */
const keptBytesMax = 40_000;

/** What the service worker fetches ahead, so that the app starts without network. */
function filesKept(
  files: Readonly<Record<string, { readonly bytes: number }>>,
  otherWords: ReadonlySet<string>,
): readonly string[] {
  return Object.entries(files)
    .filter(([path, { bytes }]) => bytes <= keptBytesMax && !otherWords.has(`/${path}`))
    .map(([path]) => path);
}

/** The worker knows the files of its build; a new build is a new worker. */
async function buildServiceWorker(
  settings: BuildOptions,
  out: string,
  files: readonly string[],
): Promise<void> {
  const paths = files.filter((path) => !path.endsWith('.map')).map((path) => `/${path}`);
  await build({
    ...settings,
    entryPoints: { 'service-worker': join(root, 'dashboard', 'service-worker.ts') },
    entryNames: '[name]',
    format: 'iife',
    define: { BUILD_FILES: JSON.stringify(paths.sort()) },
    outdir: out,
  });
}

function compressAll(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    if (bytes.length < compressBytesMin || name.endsWith('.png')) continue;
    const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
  }
}

function gzipBytes(out: string, paths: readonly string[]): number {
  const sizes = paths.map((path) => gzipSync(readFileSync(join(out, path)), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Where the built dashboard is, seen from the root of the repository. */
export const dashboardFolder = join(root, 'dist', 'dashboard');

/** The sources that the build reads, seen from the root; for those who watch them. */
export const dashboardSources = relative(root, join(root, 'dashboard'));
