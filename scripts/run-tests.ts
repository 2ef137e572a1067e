import { globSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { matchesGlob, resolve } from 'node:path';
import { run } from 'node:test';
import { dot, spec } from 'node:test/reporters';
import { engine, needsFiles } from '../test/engine.ts';
import { sharedPostgres } from '../test/postgres-server.ts';
import { packWriter } from './pack-writer.ts';
import { groupTests, type TestGroup } from './test-groups.ts';

interface Suite {
  readonly patterns: readonly string[];
  /** What the patterns find and another suite runs. */
  readonly except?: readonly string[];
  /** Files that run side by side; what measures time wants the machine for itself. */
  readonly sideBySide?: number;
  /** The engine it is about, whatever TEST_STORAGE says. */
  readonly engine?: 'postgres';
  /** How long a file may take; absent: as usual. */
  readonly fileMsMax?: number;
}

const casesOfVersion2 = 'test/v1/cases-of-*.test.ts';
const matrices = 'test/{mqtt,v2}/*-matrix.test.ts';
/** Tests that ask something of every route, topic or field there is. */
const allRoutes = [
  matrices,
  'test/v2/{bad-input,bad-parameters,fuzz,inherited-names}.test.ts',
] as const;
/** The engine by its contract, its parts, and the tools that work on its database. */
const onPostgres = [
  'src/storage/postgres/**/*.test.ts',
  'tools/admin/{move,postgres}/**/*.test.ts',
] as const;

const onSqlite = ['src/storage/sqlite/**/*.test.ts', 'tools/admin/sqlite/**/*.test.ts'] as const;

/** Tests that compile: `npm run check` has them. */
const withCompiler = ['test/promises.test.ts', 'test/clients/generated-clients.test.ts'] as const;

/** What meets a running service from outside, and starts it in the process of the test. */
const doors = ['test/{channels,clients,compatible,mqtt,v1,v2}/**/*.test.ts'] as const;

const withPatroni = 'test/cluster/patroni*.test.ts';

/** What runs together; a folder that has no tests yet is no mistake. */
const suites = {
  /** Minutes, without a browser, a server or kills: for every change. */
  tests: {
    // One more than elsewhere: none of them measures time, and several wait.
    sideBySide: Math.min(5, availableParallelism() + 2),
    except: [casesOfVersion2, ...allRoutes, ...onSqlite, ...onPostgres, ...withCompiler],
    patterns: [
      'src/**/*.test.ts',
      'tools/**/*.test.ts',
      'test/!(cluster|neighbours|dashboard|walks)/**/*.test.ts',
      'test/*.test.ts',
      'scripts/**/*.test.ts',
      'bin/**/*.test.ts',
      'dashboard/**/*.test.ts',
    ],
  },
  /** Every right on every thing, and every field of every message: the same thousands of times. */
  matrices: { patterns: allRoutes },
  /** The black-box tests of version 2 once more, in the words of version 1. */
  'version-1': { patterns: [casesOfVersion2] },
  /** The embedded engine by its contract; all that is tested at the doors is on it anyway. */
  sqlite: { patterns: onSqlite },
  /** The other engine, and everything that is tested at the doors, on it. */
  postgres: {
    engine: 'postgres',
    except: [casesOfVersion2],
    patterns: [...onPostgres, ...doors, 'test/walks/**/*.test.ts'],
  },
  /**
   * Of those what every change must pass: the engine, the doors, and kills. Without matrices, which
   * are about rights and ask the same thousands of times, and the other walks.
   */
  'postgres-doors': {
    engine: 'postgres',
    except: [casesOfVersion2, matrices],
    patterns: [...onPostgres, ...doors, 'test/walks/{crash,mqtt-crash,notification-crash}.test.ts'],
  },
  /** The dashboard in Chromium. */
  browser: { patterns: ['test/dashboard/**/*.test.ts'] },
  /** The whole program: started, killed, moved, filled, and used as its pages say. */
  walks: { patterns: ['test/walks/**/*.test.ts'] },
  /** Strangers who attack beside an honest client. */
  neighbours: { patterns: ['test/neighbours/**/*.test.ts'], sideBySide: 1 },
  /** Processes on a database with a standby, while links are cut and servers killed. */
  cluster: {
    patterns: ['test/cluster/**/*.test.ts'],
    except: [withPatroni],
    sideBySide: 1,
    fileMsMax: 300_000 * Number(process.env['NEMESIS_ROUNDS'] ?? 1),
  },
  /** The same on three servers of which Patroni makes another one the primary. */
  patroni: { patterns: [withPatroni], sideBySide: 1, fileMsMax: 600_000 },
} as const satisfies Record<string, Suite>;

/**
 * The suite of that name; on an engine that is not the usual one its tests of the outside alone.
 * Throws with the names there are.
 */
export function suiteNamed(name: string): Suite {
  const found = new Map<string, Suite>(Object.entries(suites)).get(name);
  if (found?.engine !== undefined) return found;
  if (found !== undefined) {
    const isOutside = (pattern: string) => engine === 'sqlite' || pattern.startsWith('test/');
    return { ...found, patterns: found.patterns.filter(isOutside) };
  }
  throw new Error(`no suite ${name}: give ${Object.keys(suites).join(', ')}`);
}

const testContext = new URL('../test/test-context.ts', import.meta.url).href;
const propertySeed = new URL('../test/property-seed.ts', import.meta.url).href;
const packedWriter = new URL('../test/packed-writer.ts', import.meta.url).href;

/** Files that wait for a disk, a timer or another process while others have the processors. */
const waitingFiles = 1;

/** No single test may take longer; one that hangs must not hang the run. */
const testMsMax = 180_000;

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

interface RunOptions extends Suite {
  readonly reporter: 'spec' | 'dot';
  /**
   * Runs the files of groups that failed once more, each alone: a machine that was busy with
   * something else is told apart from a defect. What passes only then is named, and wants to be
   * mended.
   */
  readonly again?: boolean;
}

/** More than these do not fail because the machine was busy. */
const groupsAgainMax = 5;

/** Runs the tests that the patterns find with this Node, reporting to standard output. */
export async function runTests(options: RunOptions): Promise<TestCounts> {
  const { engine: chosen = engine } = options;
  // A coordinator of Citus that runs already, for all that needs no server of its own.
  const citusUrl = process.env['KIPIMO_TEST_CITUS_URL'];
  if (citusUrl !== undefined) process.env['TEST_POSTGRES_URL'] = citusUrl;
  if (chosen !== 'postgres') return runOnEngine(options, chosen);
  const server = await sharedPostgres();
  try {
    // Of the processes that the tests run in.
    process.env['TEST_STORAGE'] = chosen;
    process.env['TEST_POSTGRES_URL'] = server.url;
    return await runOnEngine(options, chosen);
  } finally {
    await server.close();
  }
}

async function runOnEngine(options: RunOptions, chosen: string): Promise<TestCounts> {
  const files = findFiles(options);
  // Together the processes would strip and compile the sources for minutes. Entries are found by
  // the content of a file, so nothing in there can be stale.
  process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/compiled');
  // Of this run alone: another one may be under way beside it.
  const entries = resolve('node_modules/.cache/test-groups', `${process.pid}`);
  const groups = groupTests(files, entries);
  try {
    // For a few files it would take longer than it saves: they start the thread from its sources.
    const isLong = groups.length < files.length && chosen === 'sqlite';
    if (isLong) process.env['TEST_WRITER'] = await writerIn(entries);
    else delete process.env['TEST_WRITER'];
    return await runTwice(groups, options);
  } finally {
    rmSync(entries, { recursive: true, force: true });
  }
}

/** The file with the thread that writes, packed from the sources of this moment. */
async function writerIn(directory: string): Promise<string> {
  const file = resolve(directory, 'writer-thread.mjs');
  await packWriter(file);
  return file;
}

/** Once more, if asked for, what failed. */
async function runTwice(groups: readonly TestGroup[], options: RunOptions): Promise<TestCounts> {
  const first = await runGroups(groups, options);
  const failed = groups.filter(({ entry }) => (first.get(entry)?.failed ?? 0) > 0);
  if (options.again !== true || failed.length > groupsAgainMax) return sumOf(first);
  for (const { entry, files: members } of failed) {
    first.delete(entry);
    for (const file of members) {
      process.stdout.write(`\nonce more, alone: ${file}\n`);
      const second = await runGroups([{ entry: file, files: [file] }], {
        ...options,
        sideBySide: 1,
      });
      for (const [path, counts] of second) first.set(path, counts);
    }
    if (members.every((file) => first.get(file)?.failed === 0)) {
      process.stdout.write(`unsteady, passes alone: ${members.join(' or ')}\n`);
    }
  }
  return sumOf(first);
}

/** How many tests passed and failed, by the entry of their group. */
async function runGroups(
  groups: readonly TestGroup[],
  { reporter, sideBySide, fileMsMax }: RunOptions,
): Promise<Map<string, TestCounts>> {
  const counts = new Map<string, TestCounts>();
  // Without files, node:test would go looking on its own.
  if (groups.length === 0) return counts;
  const stream = run({
    files: groups.map(({ entry }) => entry),
    concurrency: sideBySide ?? Math.min(4, availableParallelism() + waitingFiles),
    timeout: fileMsMax ?? testMsMax,
    execArgv: preloads(),
  });
  stream.on('test:summary', ({ file, success, counts: all }) => {
    // The one without a file is about the whole run.
    if (file === undefined) return;
    const failed = all.tests - all.passed - all.skipped - all.todo;
    // A suite can fail outside of any test.
    counts.set(file, { passed: all.passed, failed: success ? failed : Math.max(1, failed) });
  });
  let leftOut = 0;
  stream.on('test:pass', ({ skip }) => {
    if (skip === needsFiles) leftOut += 1;
  });
  const report = reporter === 'dot' ? stream.compose(dot) : stream.compose(spec);
  for await (const text of report) process.stdout.write(String(text));
  // A file that ended before it could tell anything.
  for (const { entry } of groups) {
    if (!counts.has(entry)) counts.set(entry, { passed: 0, failed: 1 });
  }
  if (leftOut > 0) process.stdout.write(`${leftOut} tests: ${needsFiles}\n`);
  return counts;
}

/** What each test file finds loaded. */
function preloads(): string[] {
  const modules = [
    testContext,
    ...(process.env['FUZZ_SEED'] === undefined ? [] : [propertySeed]),
    ...(process.env['TEST_WRITER'] === undefined ? [] : [packedWriter]),
  ];
  return modules.flatMap((url) => ['--import', url]);
}

function sumOf(all: ReadonlyMap<string, TestCounts>): TestCounts {
  let [passed, failed] = [0, 0];
  for (const counts of all.values()) {
    passed += counts.passed;
    failed += counts.failed;
  }
  return { passed, failed };
}

function findFiles({ patterns, except = [] }: Suite): string[] {
  const found = patterns
    .flatMap((pattern) => globSync(pattern, { exclude: (name) => name === 'node_modules' }))
    .filter((path) => !except.some((pattern) => matchesGlob(path, pattern)));
  return [...new Set(found)].sort().map((path) => resolve(path));
}

/** Prints the line that others read the outcome from; answers the exit code. */
export function concludeTests({ passed, failed }: TestCounts): 0 | 1 {
  if (passed + failed === 0) process.stdout.write('no test was found\n');
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
