#!/usr/bin/env node
// Runs on any Node that knows ES modules, because its only work is to find the right one:
// keep to syntax and functions of Node 14.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const majorMin = 24;
// How far the generations of objects grow before they are collected: docs/decisions/0012.
const generations = [
  '--max-semi-space-size=16',
  '--initial-old-space-size=64',
  '--heap-growing-percent=50',
  '--no-allocation-site-pretenuring',
];
// Packages that bring a Node; which of the two there is depends on the platform.
const families = ['node-', 'node-bin-'];
const here = dirname(fileURLToPath(import.meta.url));

const script = findScript();
const node = findPinnedNode() || ownNodeIfNewEnough();
if (script === undefined) {
  fail(
    'the program is missing (neither src/main.ts nor dist/main.js is there). ' +
      'Reinstall the package, or run "npm run build" in the repository.',
  );
} else if (node === undefined) {
  fail(
    `Node ${majorMin} or later is needed, this is ${process.version}, and the Node that comes as ` +
      `an optional package has none for ${process.platform}-${process.arch} or was left out. ` +
      `Install Node ${majorMin} from https://nodejs.org, or reinstall without --omit=optional.`,
  );
} else {
  handOver(node, script);
}

/**
 * The built program, which starts faster and needs less memory; the sources where they are newer,
 * as after an edit or a pull. A package holds the built program only.
 */
function findScript() {
  const built = join(here, '..', 'dist', 'main.js');
  const source = join(here, '..', 'src', 'main.ts');
  if (!existsSync(source)) return existsSync(built) ? built : undefined;
  if (!existsSync(built)) return source;
  const changed = ['src', 'tools'].map((name) => newestChange(join(here, '..', name)));
  return Math.max(...changed) > statSync(built).mtimeMs ? source : built;
}

/** When something below the folder was last written, in milliseconds since the epoch. */
function newestChange(folder) {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).reduce((newest, entry) => {
    const path = join(folder, entry.name);
    const changed = entry.isDirectory() ? newestChange(path) : statSync(path).mtimeMs;
    return Math.max(newest, changed);
  }, 0);
}

function findPinnedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const { resolve } = createRequire(import.meta.url);
  return families.reduce((found, family) => {
    if (found !== undefined) return found;
    try {
      const about = resolve(`${family}${platform}-${process.arch}/package.json`);
      const file = join(dirname(about), 'bin', platform === 'win' ? 'node.exe' : 'node');
      return existsSync(file) ? file : undefined;
    } catch (_error) {
      // Not installed: an optional package for another platform, or left out on purpose.
      return undefined;
    }
  }, undefined);
}

function ownNodeIfNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= majorMin ? process.execPath : undefined;
}

function handOver(file, main) {
  const words = [file, ...generations, main, ...process.argv.slice(2)];
  // Large blocks, as password hashing takes them, go back to the system when they are freed, and
  // so does what is free at the end of the heap. Threads share two heaps: each keeps what is free.
  const env = {
    MALLOC_MMAP_THRESHOLD_: '1048576',
    MALLOC_TRIM_THRESHOLD_: '1048576',
    MALLOC_ARENA_MAX: '2',
    // Four threads at most hash passwords; two are left for files, names and compression.
    UV_THREADPOOL_SIZE: '6',
    ...process.env,
  };
  if (process.execve !== undefined && process.platform !== 'win32') {
    process.execve(file, words, env);
  }
  const child = spawn(file, words.slice(1), { stdio: 'inherit', env });
  // The service decides when to leave; the launcher only passes the word on and waits.
  signalsThatEnd().forEach((signal) => {
    process.on(signal, () => child.kill(signal));
  });
  child.on('error', (error) => fail(`${file} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + (constants.signals[signal] || 0);
  });
}

/**
 * What would end the launcher alone, and leave the service behind. Faults and SIGKILL are not for
 * it to pass on; SIGUSR1 opens a debugger and ends nothing.
 */
function signalsThatEnd() {
  if (process.platform === 'win32') return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'];
  const usual = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
  const rare = ['SIGALRM', 'SIGVTALRM', 'SIGPROF', 'SIGXCPU', 'SIGIO', 'SIGPWR', 'SIGSTKFLT'];
  return usual.concat(rare).filter((signal) => constants.signals[signal] !== undefined);
}

function fail(sentence) {
  process.stderr.write(`kipimo: ${sentence}\n`);
  process.exitCode = 1;
}
