import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild-wasm';

type Outputs = Metafile['outputs'];

/** What a screen loads besides its own code before it shows what it is for. */
const moreOf: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    '/devices/:device': ['charts/sensor-chart.tsx'],
    '/devices/:device/sensors/:sensor': ['charts/sensor-chart.tsx'],
    '/map': ['map/places-map.tsx'],
  }),
);

/** What is shown instead of a screen to those who are not logged in. */
const guestsOf: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    '/': ['screens/welcome/welcome.tsx'],
  }),
);

/** Scripts this large, unpacked, take their turn after the rest: a phone's line is narrow. */
const largeBytesMin = 60_000;

/** The scripts of one screen; the service writes them into the page at its address. */
interface ScreenFiles {
  /** With blanks, such as `/devices/:device`. */
  readonly path: string;
  readonly files: readonly string[];
  /** Asked for as soon as the others are there. */
  readonly large?: readonly string[];
  /** Instead of `files`, for those who are not logged in. */
  readonly guests?: readonly string[];
}

/**
 * The scripts of each screen: what its code imports, without what every page loads. The page asks
 * for them at once, where they would be found one after the other.
 */
export function screenFiles(
  outputs: Outputs,
  options: { readonly source: string; readonly loaded: ReadonlySet<string> },
): readonly ScreenFiles[] {
  const { source, loaded } = options;
  const text = readFileSync(join(source, 'shell', 'routes.ts'), 'utf8');
  // One block for each entry, as the formatter lays them out.
  const large = new Set(
    Object.entries(outputs)
      .filter(([, { bytes }]) => bytes >= largeBytesMin)
      .map(([path]) => `/assets/${basename(path)}`),
  );
  const entries = text.split(/^ {2}\{$/m).slice(1);
  return entries.map((entry) => {
    const path = /^ {4}path: '([^']+)'/m.exec(entry)?.[1] ?? '';
    const own = /import\('\.\.\/([^']+)'\)/.exec(entry)?.[1];
    const parts = [...(own === undefined ? [] : [own]), ...(moreOf.get(path) ?? [])];
    const missing = missingOf(parts);
    const forGuests = guestsOf.get(path);
    const isLarge = (file: string): boolean => large.has(file);
    return {
      ...{ path, files: missing.filter((file) => !isLarge(file)) },
      ...(missing.some(isLarge) && { large: missing.filter(isLarge) }),
      ...(forGuests !== undefined && { guests: missingOf(forGuests) }),
    };
  });
  function missingOf(parts: readonly string[]): readonly string[] {
    const files = new Set(parts.flatMap((part) => filesOf(outputs, part)));
    return [...files].filter((file) => !loaded.has(file)).map((file) => `/${file}`);
  }
}

/** The files of one language. */
interface WordFiles {
  /** What home says; absent: it is in the first load. */
  readonly first?: string;
  readonly later?: string;
  readonly rest?: string;
}

/** The files of the words of each language. */
export function filesOfWords(
  outputs: Outputs,
  loaded: ReadonlySet<string>,
): Readonly<Record<string, WordFiles>> {
  const found: Record<string, WordFiles> = {};
  for (const [path, { entryPoint = '', imports }] of Object.entries(outputs)) {
    const [, language, part] = /i18n\/(\w+)\/(first|later|rest)-words\.ts$/.exec(entryPoint) ?? [];
    if (language === undefined || part === undefined) continue;
    // A second file would be asked for after the first: another trip before any screen shows.
    if (imports.some((one) => !loaded.has(`assets/${basename(one.path)}`))) {
      throw new Error(`the words of ${entryPoint} are in more than one file`);
    }
    found[language] = { ...found[language], [part]: `/assets/${basename(path)}` };
  }
  return found;
}

/** The output of an entry, and what it imports at once. */
function filesOf(outputs: Outputs, entry: string): readonly string[] {
  const found = Object.keys(outputs).find((path) =>
    outputs[path]?.entryPoint?.endsWith(`dashboard/${entry}`),
  );
  if (found === undefined) throw new Error(`${entry} was not built`);
  const files = new Set<string>();
  const follow = (path: string): void => {
    const name = `assets/${basename(path)}`;
    if (files.has(name)) return;
    files.add(name);
    for (const { kind, path: next } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') follow(next);
    }
  };
  follow(found);
  return [...files];
}
