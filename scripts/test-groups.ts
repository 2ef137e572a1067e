import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, matchesGlob, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { quickFolder } from '../test/quick-folder.ts';

/** Tests that run in one process, one file after the other. */
export interface TestGroup {
  /** What node:test runs: the file itself, or one that imports all of them. */
  readonly entry: string;
  readonly files: readonly string[];
}

/** Tests that start no program and keep no file: what they load is loaded once for several. */
const sharing: readonly string[] = [
  'dashboard/**',
  'src/{app,channels,cli,config,domain,feed,http,lib,mqtt,telemetry,wire}/**',
  'src/storage/{chunks,sql}/**',
  'tools/!(admin)/**',
  'tools/*',
  'tools/admin/{*,export/*}',
  'test/{v1,v2,mqtt,clients,channels,compatible}/**',
];

/** Tests of an engine, which open a database each and sync at every write: on no disk of theirs. */
const inMemory: readonly string[] = [
  'src/storage/sqlite/*.test.ts',
  'src/storage/sqlite/timeseries/*.test.ts',
  'tools/admin/sqlite/*.test.ts',
];

/** How a file begins that changes or measures its process. */
const ownProcess = '// In a process of its own: ';

const filesPerGroup = 14;

/** Few files are quick anyway, and are looked at one by one. */
const filesMin = 30;

/**
 * Puts files that may share a process into groups, in their order. The entries of groups are
 * written below `directory`, anew.
 */
export function groupTests(files: readonly string[], directory: string): readonly TestGroup[] {
  const alone = (file: string): TestGroup => ({ entry: file, files: [file] });
  if (files.length < filesMin) return files.map(alone);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const together = files.filter(mayShare);
  const groups: TestGroup[] = [];
  const apart = files.filter((file) => !together.includes(file));
  const group = (members: readonly string[]): void => {
    const entry = resolve(directory, `group-${groups.length + 1}.test.mjs`);
    writeFileSync(entry, entryText(members));
    groups.push({ entry, files: members });
  };
  // The longest are among those that do not share: they begin first.
  for (const file of apart) {
    if (isOneOf(inMemory, file)) group([file]);
    else groups.push(alone(file));
  }
  for (let at = 0; at < together.length; at += filesPerGroup) {
    group(together.slice(at, at + filesPerGroup));
  }
  return groups;
}

const isOneOf = (patterns: readonly string[], file: string): boolean => {
  const path = relative(join(import.meta.dirname, '..'), file);
  return patterns.some((pattern) => matchesGlob(path, pattern));
};

function mayShare(file: string): boolean {
  if (!isOneOf(sharing, file)) return false;
  return !readFileSync(file, 'utf8').startsWith(ownProcess);
}

/**
 * A module that runs these files. Each is a suite, so that its hooks are its own. What they store
 * is in memory where there is room: tests that start programs, or measure a disk, have no module.
 */
export const entryText = (files: readonly string[], folder = quickFolder()): string =>
  [
    "import { suite } from 'node:test';",
    ...(folder === undefined ? [] : [`process.env['TMPDIR'] ??= ${JSON.stringify(folder)};`]),
    ...files.map((file) => {
      const [name, url] = [relative('.', file), pathToFileURL(file).href].map((text) =>
        JSON.stringify(text),
      );
      return `suite(${name}, async () => { await import(${url}); });`;
    }),
    '',
  ].join('\n');
