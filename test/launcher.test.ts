import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './source-files.ts';

/** What the launched program does: tells its arguments, waits for a signal when asked to. */
const program = `
  console.log(JSON.stringify({ words: process.argv.slice(2), by: process.env.BY ?? 'own' }));
  if (process.argv.includes('wait')) {
    process.on('SIGTERM', () => process.exit(7));
    setInterval(() => {}, 1_000);
    console.log('waiting as ' + process.pid);
  } else {
    process.stdin.pipe(process.stdout);
    process.stdin.on('end', () => process.exit(3));
  }
`;

/** Stands in for an old Node: another version, which cannot make itself another program. */
const pretendOld = `
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });
  process.execve = undefined;
`;

interface Package {
  readonly directory: string;
  readonly launch: (
    words: readonly string[],
    options?: { readonly isOld: boolean },
  ) => ChildProcess;
}

async function withPackage(work: (made: Package) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-launcher-'));
  cpSync(join(repositoryRoot, 'bin'), join(directory, 'bin'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'old.cjs'), pretendOld);
  const launch: Package['launch'] = (words, options) =>
    spawn(
      process.execPath,
      [
        ...(options?.isOld === true ? ['--require', join(directory, 'old.cjs')] : []),
        join(directory, 'bin', 'kipimo.js'),
        ...words,
      ],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
  try {
    await work({ directory, launch });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function addProgram(directory: string, path: 'src/main.ts' | 'dist/main.js'): void {
  mkdirSync(join(directory, path, '..'), { recursive: true });
  writeFileSync(join(directory, path), program);
}

/** An optional package whose Node is the one of this test, and says that it was taken. */
function addPinnedNode(directory: string, family = 'node-'): void {
  const name = `${family}${process.platform}-${process.arch}`;
  const folder = join(directory, 'node_modules', name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '24.0.0' }));
  const file = join(folder, 'bin', 'node');
  writeFileSync(file, `#!/bin/sh\nBY=pinned exec "${process.execPath}" "$@"\n`);
  chmodSync(file, 0o755);
}

async function outcome(child: ChildProcess): Promise<{ code: unknown; out: string; err: string }> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, out, err };
}

/** Resolves when the program waits for a signal. */
const servicePid = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => {
      const pid = /waiting as (\d+)/.exec(String(chunk))?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });

test('arguments, standard input and output and the exit code pass through', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'src/main.ts');
    const child = launch(['user', 'add', 'a b', '--admin']);
    child.stdin?.end('typed');
    const { code, out, err } = await outcome(child);
    assert.deepEqual(
      { code, out, err },
      { code: 3, out: '{"words":["user","add","a b","--admin"],"by":"own"}\ntyped', err: '' },
    );
  }));

test('the pinned Node is taken where it is installed, whatever Node runs the launcher', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'dist/main.js');
    addPinnedNode(directory);
    for (const isOld of [false, true]) {
      const child = launch([], { isOld });
      child.stdin?.end();
      assert.match((await outcome(child)).out, /"by":"pinned"/);
    }
  }));

test('both families of packages that bring a Node are looked for', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'dist/main.js');
    addPinnedNode(directory, 'node-bin-');
    const child = launch([], { isOld: true });
    child.stdin?.end();
    assert.match((await outcome(child)).out, /"by":"pinned"/);
  }));

test('the Node it runs on comes with it, also on a Mac, in a version that is new enough', () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(repositoryRoot, 'package.json'), 'utf8'),
  ) as { readonly optionalDependencies: Readonly<Record<string, string>> };
  const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win-x64'];
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  for (const platform of platforms) {
    const version =
      optionalDependencies[`node-${platform}`] ?? optionalDependencies[`node-bin-${platform}`];
    assert.match(version ?? '', /^(24|26)\.\d+\.\d+$/, platform);
    assert.ok(readme.includes(`| ${platform} | ${version} |`), `the README tells of ${platform}`);
  }
});

test('an old Node without the pinned one is refused with what to do', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'dist/main.js');
    const { code, out, err } = await outcome(launch([], { isOld: true }));
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, /^kipimo: Node 24 or later is needed, .*nodejs\.org.*--omit=optional/);
  }));

test('a package without the program is refused with what to do', () =>
  withPackage(async ({ launch }) => {
    const { code, err } = await outcome(launch([]));
    assert.equal(code, 1);
    assert.match(err, /the program is missing .*npm run build/);
  }));

test('a signal to the launcher reaches the service, whose exit code is the answer', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'src/main.ts');
    addPinnedNode(directory);
    for (const isOld of [false, true]) {
      const child = launch(['wait'], { isOld });
      const ended = outcome(child);
      child.stdout?.on('data', (chunk) => {
        if (String(chunk).includes('waiting')) child.kill('SIGTERM');
      });
      assert.equal((await ended).code, 7);
    }
  }));

test('the launcher becomes the service, and stays its parent under an older Node alone', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'src/main.ts');
    addPinnedNode(directory);
    for (const isOld of [false, true]) {
      const child = launch(['wait'], { isOld });
      const ended = outcome(child);
      const service = await servicePid(child);
      assert.equal(service === child.pid, !isOld);
      process.kill(service, 'SIGTERM');
      assert.equal((await ended).code, 7);
    }
  }));

test('no signal ends a launcher that leaves its service behind', () =>
  withPackage(async ({ directory, launch }) => {
    addProgram(directory, 'src/main.ts');
    addPinnedNode(directory);
    for (const signal of ['SIGUSR2', 'SIGQUIT', 'SIGALRM', 'SIGHUP', 'SIGPROF'] as const) {
      const child = launch(['wait'], { isOld: true });
      const service = await servicePid(child);
      const exit = once(child, 'exit');
      child.kill(signal);
      const [code] = await exit;
      const isLeftBehind = endIfThere(service);
      assert.deepEqual({ isLeftBehind, code }, { isLeftBehind: false, code: exitCodeOf(signal) });
    }
  }));

/** As a shell tells a program that a signal ended. */
const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Whether the process was there. */
function endIfThere(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

test('the npm package brings the systemd unit', () => {
  const { files } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  assert.ok(files.includes('deploy'));
  const unit = readFileSync(join(repositoryRoot, 'deploy', 'kipimo.service'), 'utf8');
  assert.match(unit, /^ExecStart=.*kipimo/m);
  const page = readFileSync(join(repositoryRoot, 'docs', 'operating.md'), 'utf8');
  assert.match(page, /deploy\/kipimo\.service/);
});
