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

/** Tests that start no program and measure no disk: what they load is loaded once for several. */
const sharing: readonly string[] = [
  'dashboard/**',
  'src/{app,channels,cli,config,domain,feed,http,lib,mqtt,telemetry,wire}/**',
  'src/storage/{chunks,sql}/**',
  'src/storage/sqlite/{device-lists,history-model,migrate,retentions,start}.test.ts',
  'src/storage/sqlite/timeseries/**',
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

/** Files that compute for ten seconds: they begin first, so that none of them ends alone. */
export const longest: readonly string[] = [
  'src/storage/sqlite/sqlite.test.ts',
  'src/storage/sqlite/rules.test.ts',
  'src/storage/sqlite/timeseries/datapoints.test.ts',
  'test/v2/compressed-bodies.test.ts',
  'test/v2/reads-taken-away.test.ts',
  'test/request-heads.test.ts',
  'test/connections.test.ts',
];

/** Files that wait longer than they compute: for a server's disk, another process or a clock. */
export const waiting: readonly string[] = [
  'src/storage/postgres/**/*.test.ts',
  'tools/admin/{move,postgres}/**/*.test.ts',
  'src/channels/email/email-channel.test.ts',
  'src/feed/shared-feed.test.ts',
  'test/slow-heads.test.ts',
  'test/test-runner.test.ts',
];

/** How a file begins that changes or measures its process. */
const ownProcess = '// In a process of its own: ';

const filesPerGroup = 20;

/** Few files are quick anyway, and are looked at one by one. */
const filesMin = 30;

/**
 * Puts files that may share a process into groups, in the order in which they are to begin: long
 * ones first, and what waits between those that compute. The entries of groups are written below
 * `directory`, anew.
 */
export function groupTests(files: readonly string[], directory: string): readonly TestGroup[] {
  const alone = (file: string): TestGroup => ({ entry: file, files: [file] });
  if (files.length < filesMin) return files.map(alone);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const together = files.filter(
    (file) => mayShare(file) && !isOneOf([...longest, ...waiting], file),
  );
  const groups: TestGroup[] = [];
  const apart = files.filter((file) => !together.includes(file));
  const group = (members: readonly string[]): void => {
    const entry = resolve(directory, `group-${groups.length + 1}.test.mjs`);
    writeFileSync(entry, entryText(members));
    groups.push({ entry, files: members });
  };
  for (const file of apart) {
    if (isOneOf(inMemory, file) || mayShare(file)) group([file]);
    else groups.push(alone(file));
  }
  for (let at = 0; at < together.length; at += filesPerGroup) {
    group(together.slice(at, at + filesPerGroup));
  }
  return inOrder(groups);
}

/** Long ones first; what waits is spread evenly before the last quarter of those that compute. */
function inOrder(groups: readonly TestGroup[]): readonly TestGroup[] {
  const rank = ({ files: [file = ''] }: TestGroup): number => {
    const at = longest.indexOf(pathOf(file));
    return at < 0 ? longest.length : at;
  };
  const { waits = [], computes = [] } = Object.groupBy(groups, ({ files: [file = ''] }) =>
    isOneOf(waiting, file) ? 'waits' : 'computes',
  );
  const ordered = computes.toSorted((a, b) => rank(a) - rank(b));
  const distance = (ordered.length * 0.75) / waits.length;
  // From the last one, so that the places before it stay.
  for (const [at, one] of [...waits.entries()].reverse()) {
    ordered.splice(Math.round(at * distance) + 1, 0, one);
  }
  return ordered;
}

const pathOf = (file: string): string => relative(join(import.meta.dirname, '..'), file);

const isOneOf = (patterns: readonly string[], file: string): boolean => {
  const path = pathOf(file);
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
