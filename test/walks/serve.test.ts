import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { embedded, engineEnvironment, inUse } from '../engine.ts';
import { repositoryRoot } from '../source-files.ts';

interface Run {
  readonly child: ChildProcess;
  /** Resolves with the base URL once the log tells it; rejects when the process ends before. */
  readonly listening: Promise<string>;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

/** The real process in a directory of its own, on a free port. */
function start(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
): Run {
  const program = join(repositoryRoot, 'src', 'main.ts');
  const child = spawn(process.execPath, [program, 'serve', ...words], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      KIPIMO_HOST: '127.0.0.1',
      KIPIMO_HTTP_PORT: '0',
      KIPIMO_MQTT_PORT: '0',
      ...engineEnvironment(directory),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }));
  });
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const url = /"url":"([^"]+)"| API +(\S+)\/api/.exec(out)?.slice(1).find(Boolean);
      if (url !== undefined) resolve(url);
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('close', () => reject(new Error(`it ended before it listened: ${err}`)));
  });
  // Tests of a start that fails wait for the end alone.
  listening.catch(() => undefined);
  return { child, listening, ended };
}

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-serve-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Ends a process that a failed test left behind. */
async function withRun(run: Run, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    run.child.kill('SIGKILL');
    await run.ended;
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`the service tells where it listens, answers, and leaves with 0 at ${signal}`, () =>
    withDirectory(async (directory) => {
      const run = start(directory, { KIPIMO_ADMIN_PASSWORD: 'long enough' });
      await withRun(run, async () => {
        const reply = await fetch(`${await run.listening}/healthz`);
        assert.equal(reply.status, 200);
        await reply.arrayBuffer();
        run.child.kill(signal);
        const { code, out, err } = await run.ended;
        assert.deepEqual({ code, err }, { code: 0, err: '' });
        assert.match(out, /"msg":"stopped"/);
        assert.ok(!out.includes('long enough'));
      });
    }));
}

/** A process that was started by another one than this. */
const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

for (const words of [['start'], ['exec', '--no', '--offline', '--', 'node', '%', 'serve']]) {
  test(`a SIGTERM to npm ${words[0]} ends the service in order`, () =>
    withDirectory(async (directory) => {
      const program = join(repositoryRoot, 'bin', 'kipimo.js');
      const log = join(directory, 'out');
      const out = openSync(log, 'w');
      const npm = spawn(
        'npm',
        words.map((word) => (word === '%' ? program : word)),
        {
          cwd: repositoryRoot,
          env: {
            PATH: process.env['PATH'],
            KIPIMO_HOST: '127.0.0.1',
            KIPIMO_HTTP_PORT: '0',
            KIPIMO_MQTT_PORT: '0',
            ...engineEnvironment(directory),
            KIPIMO_DATA_DIR: directory,
          },
          stdio: ['ignore', out, out],
        },
      );
      const written = () => readFileSync(log, 'utf8');
      const until = async (text: string) => {
        for (let tries = 0; !written().includes(text); tries += 1) {
          assert.ok(tries < 600, written());
          await setTimeout(50);
        }
      };
      await until('"msg":"listening"');
      const pid = Number(/"pid":(\d+)/.exec(written())?.[1]);
      npm.kill('SIGTERM');
      await until('"msg":"stopped"');
      closeSync(out);
      while (isThere(pid)) await setTimeout(20);
    }));
}

test('the password of the first admin is shown at the first start and never again', () =>
  withDirectory(async (directory) => {
    const shown = /Created administrator "boss" with password (\S+) /;
    for (const isFirst of [true, false]) {
      const run = start(directory, { KIPIMO_ADMIN_USERNAME: 'boss' });
      await withRun(run, async () => {
        const url = await run.listening;
        run.child.kill('SIGTERM');
        const { out } = await run.ended;
        assert.equal(shown.test(out), isFirst, `${url} wrote ${out}`);
      });
    }
  }));

/** Another directory below this one: a start in there is a first one. */
const within = (directory: string): string => mkdtempSync(join(directory, 'first-'));

/** What the process is told of its output: that it is a terminal. */
const terminal = { NODE_OPTIONS: '--import=data:text/javascript,process.stdout.isTTY=true' };
const linkShown = /^ +dashboard +(http:\/\/localhost:\d+\/first#[\w-]{43})\r?$/m;

/** What a start says until it was told to stop. */
async function saidBy(run: Run, until: () => Promise<unknown> | undefined = () => undefined) {
  let said = { out: '', err: '' };
  await withRun(run, async () => {
    await run.listening;
    await until();
    run.child.kill('SIGTERM');
    said = await run.ended;
  });
  return said;
}

test('a first start from a terminal shows a link beside the password, and no later one', () =>
  withDirectory(async (directory) => {
    const first = await saidBy(start(directory, terminal));
    assert.match(first.out, linkShown);
    assert.match(first.out, /Created administrator "admin" with password \S+ /);
    const second = await saidBy(start(directory, terminal));
    assert.match(second.out, /^ +dashboard +http:\/\/localhost:\d+\/\r?$/m);
    assert.ok(!second.out.includes('#'));
  }));

test('a link is under the public address, and there is none for a password that was given', () =>
  withDirectory(async (directory) => {
    const KIPIMO_PUBLIC_URL = 'https://sensors.example.org';
    const outside = await saidBy(start(within(directory), { ...terminal, KIPIMO_PUBLIC_URL }));
    assert.match(outside.out, / https:\/\/sensors\.example\.org\/first#[\w-]{43}\r?\n/);
    const given = await saidBy(
      start(within(directory), { ...terminal, KIPIMO_ADMIN_PASSWORD: 'long enough' }),
    );
    assert.ok(!given.out.includes('first#'), given.out);
    const piped = await saidBy(start(within(directory)));
    assert.ok(!piped.out.includes('first#'), piped.out);
  }));

const onLinux = { skip: process.platform !== 'linux' && 'the program that opens is of Linux' };

test('serve --open opens what it shows, and without --open nothing is opened', onLinux, () =>
  withDirectory(async (directory) => {
    const opened = join(directory, 'opened');
    const part = `${opened}.part`;
    const script = `#!/bin/sh\necho "$1 $KIPIMO_HOST" > ${part}; mv ${part} ${opened}\n`;
    writeFileSync(join(directory, 'xdg-open'), script, { mode: 0o755 });
    const PATH = `${directory}:${process.env['PATH']}`;
    const environment = { ...terminal, PATH };
    const plain = await saidBy(start(within(directory), environment));
    assert.match(plain.out, linkShown);
    assert.ok(!existsSync(opened));
    const { out } = await saidBy(start(within(directory), environment, ['--open']), () =>
      untilThere(opened),
    );
    // The settings of the service are not told to the browser.
    assert.equal(readFileSync(opened, 'utf8'), `${linkShown.exec(out)?.[1]} \n`);
    rmSync(opened);
    const later = { ...environment, KIPIMO_ADMIN_PASSWORD: 'long enough' };
    await saidBy(start(within(directory), later, ['--open']), () => untilThere(opened));
    assert.match(readFileSync(opened, 'utf8'), /^http:\/\/localhost:\d+\/ \n$/);
  }),
);

test('serve --open without a browser says so in a line, and goes on', onLinux, () =>
  withDirectory(async (directory) => {
    const run = start(directory, { PATH: directory }, ['--open']);
    const { err } = await saidBy(run, async () => {
      const reply = await fetch(`${await run.listening}/healthz`);
      assert.equal(reply.status, 200);
      await reply.arrayBuffer();
    });
    assert.equal(err, 'kipimo: xdg-open could not open a browser\n');
  }),
);

async function untilThere(file: string): Promise<void> {
  while (!existsSync(file)) await setTimeout(10);
}

test('the service goes on and leaves with 0 when nobody reads its output any more', () =>
  withDirectory(async (directory) => {
    const run = start(directory, { KIPIMO_LOG_LEVEL: 'debug' });
    await withRun(run, async () => {
      const url = await run.listening;
      run.child.stdout?.destroy();
      const reply = await fetch(`${url}/healthz`);
      assert.equal(reply.status, 200);
      await reply.arrayBuffer();
      // Leaving writes two lines.
      run.child.kill('SIGTERM');
      assert.equal((await run.ended).code, 0);
    });
  }));

test('wrong settings stop the start with a sentence for each, from .env too', () =>
  withDirectory(async (directory) => {
    writeFileSync(join(directory, '.env'), 'KIPIMO_SIGNUP=perhaps\n');
    const { code, out, err } = await start(directory, { KIPIMO_COLOUR: 'blue' }).ended;
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.deepEqual(err.trimEnd().split('\n'), [
      'kipimo: KIPIMO_COLOUR is unknown: docs/configuration.md lists the keys',
      'kipimo: KIPIMO_SIGNUP must be one of open, closed, got "perhaps"',
    ]);
  }));

embedded('a data directory that cannot be one stops the start with its name', () =>
  withDirectory(async (directory) => {
    writeFileSync(join(directory, 'file'), '');
    for (const place of ['file', 'file/below', '/proc/kipimo']) {
      const { code, err } = await start(directory, { KIPIMO_DATA_DIR: place }).ended;
      assert.equal(code, 1);
      assert.match(err, /^kipimo: the data directory \S+ cannot be used[^\n]*\n$/, place);
    }
  }),
);

test('a taken port and a place in use stop the start with what to do', () =>
  withDirectory(async (directory) => {
    const run = start(directory);
    await withRun(run, async () => {
      const { port } = new URL(await run.listening);
      const twin = await start(directory).ended;
      assert.equal(twin.code, 1);
      assert.match(twin.err, inUse('./data'));
      const neighbour = {
        KIPIMO_DATA_DIR: './other',
        ...engineEnvironment(join(directory, 'other')),
        KIPIMO_HTTP_PORT: port,
      };
      const other = await start(directory, neighbour).ended;
      assert.equal(other.code, 1);
      assert.match(other.err, new RegExp(`^kipimo: port ${port} is taken: .*KIPIMO_HTTP_PORT`));
    });
  }));

embedded('serve --port and --data-dir go before the settings', () =>
  withDirectory(async (directory) => {
    const words = ['--port', '0', '--data-dir', join(directory, 'elsewhere')];
    const run = start(directory, { KIPIMO_HTTP_PORT: '1' }, words);
    await withRun(run, async () => {
      await run.listening;
      assert.ok(existsSync(join(directory, 'elsewhere')));
    });
    const wrong = await start(directory, {}, ['--port', 'many']).ended;
    assert.match(wrong.err, /KIPIMO_HTTP_PORT must be/);
  }),
);
