/**
 * Copies a demo installation from one running Kipimo into another, killed in the middle and run
 * again: node bench/cloud-copy.ts [devices] [history] [step]. Says how long it took, what the
 * importer needed, and whether both are equal.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openProgram, startProcess } from '../test/service-process.ts';

const [devices = '50', history = '35d', step = '10m'] = process.argv.slice(2);
const password = 'a password for the copy';
const sampleMs = 200;
const spotChecks = 20;

const directory = mkdtempSync(join(tmpdir(), 'kipimo-copy-'));
const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Of how many sensors the copy under way remembers how far they are. */
function sensorsRemembered(): number {
  const file = readdirSync(directory).find((name) => /^kipimo-import-.*\.json$/.test(name));
  if (file === undefined) return 0;
  const { sensors } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as {
    sensors: object;
  };
  return Object.keys(sensors).length;
}

interface Sensor {
  readonly path: string;
  readonly count: number;
}

interface Account {
  readonly url: string;
  readonly token: string;
}

async function ask(account: Account, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${account.token}` };
  const response = await fetch(`${account.url}/api/v2${path}`, { headers });
  assert.equal(response.status, 200, path);
  return response;
}

async function accountAt(url: string): Promise<Account> {
  const body = JSON.stringify({ username: 'demo', password });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/api/v2/users`, { method: 'POST', headers, body });
  const response = await fetch(`${url}/api/v2/auth/token`, { method: 'POST', headers, body });
  assert.equal(response.status, 200);
  return { url, token: await response.text() };
}

async function sensorsAt(account: Account): Promise<readonly Sensor[]> {
  const list = await (await ask(account, '/devices?limit=1000')).json();
  const all: Sensor[] = [];
  for (const { id, sensors } of list as { id: string; sensors: { id: string }[] }[]) {
    for (const sensor of sensors) {
      const path = `/devices/${id}/sensors/${sensor.id}/values`;
      const answer = await ask(account, `${path}?limit=0`);
      await answer.text();
      all.push({ path, count: Number(answer.headers.get('x-total-count')) });
    }
  }
  return all;
}

/** Runs the program to its end, or kills it; answers its time and how it ended. */
async function run(words: readonly string[], isToBeKilled: () => boolean = () => false) {
  const startedAt = performance.now();
  const program = openProgram(words, { directory });
  let highestKb = 0;
  let hasEnded = false;
  const exited = program.exited.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    await Promise.race([exited, delay(sampleMs)]);
    highestKb = Math.max(highestKb, highestMemoryKb(program.child.pid));
    if (isToBeKilled()) program.child.kill('SIGKILL');
  }
  const exit = await exited;
  const seconds = (performance.now() - startedAt) / 1_000;
  print(
    `${exit.signal ?? `exit ${exit.code}`} after ${seconds.toFixed(1)} s, ${highestKb >> 10} MB`,
  );
  print(program.output() + program.errors());
  return { seconds, exit };
}

function highestMemoryKb(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    // It has just ended, or this is no Linux.
    return 0;
  }
}

/** The same values at the same times, whatever the date of receipt. */
async function valuesOf(account: Account, path: string): Promise<readonly unknown[]> {
  const answer = await ask(account, `${path}?limit=1000000&calibrated=false`);
  const list = (await answer.json()) as { timestamp?: string; value: unknown }[];
  return list.map(({ timestamp, value }) => [timestamp, value]);
}

async function compare(source: Account, target: Account): Promise<void> {
  const [before, after] = [await sensorsAt(source), await sensorsAt(target)];
  assert.deepEqual(after, before);
  const every = Math.max(1, Math.floor(before.length / spotChecks));
  let compared = 0;
  for (const { path } of before.filter((_, index) => index % every === 0)) {
    const values = await valuesOf(source, path);
    assert.deepEqual(await valuesOf(target, path), values);
    compared += values.length;
  }
  print(`${before.length} sensors have equal counts; ${compared} values were compared one by one.`);
}

try {
  writeFileSync(join(directory, 'password'), password);
  for (const name of ['source', 'target']) mkdirSync(join(directory, name));
  await using from = await startProcess({ directory: join(directory, 'source') });
  await using to = await startProcess({ directory: join(directory, 'target') });
  const [source, target] = [await accountAt(from.url), await accountAt(to.url)];
  const account = ['--url', from.url, '--username', 'demo', '--password', password];
  const past = ['--devices', devices, '--history', history, '--step', step, '--once'];
  await run(['demo', ...account, ...past]);
  const count = (await sensorsAt(source)).reduce((sum, sensor) => sum + sensor.count, 0);
  print(`${count} values are to be copied.`);
  const words = [
    ...['import', 'cloud', '--from', from.url, '--user', 'demo', '--password-file', 'password'],
    ...['--to', to.url, '--to-user', 'demo', '--to-password-file', 'password'],
  ];
  const half = (await sensorsAt(source)).length / 2;
  const first = await run(words, () => sensorsRemembered() >= half);
  const second = await run(words);
  const seconds = first.seconds + second.seconds;
  print(`${Math.round(count / seconds)} values/s over both runs`);
  await compare(source, target);
  const third = await run(words);
  print(`copied once more in ${third.seconds.toFixed(1)} s`);
  await compare(source, target);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
