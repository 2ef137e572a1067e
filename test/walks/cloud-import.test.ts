import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { passwordOf, type Service, startService } from '../service.ts';
import { openProgram, runProgram } from '../service-process.ts';
import { datapointsOf, minute, valuesOf } from '../v2/sensor-endpoint.ts';
import {
  copiedInventoryOf,
  type Fate,
  fill,
  type Inventory,
  inventoryOf,
  startProxy,
} from './cloud-world.ts';

let source: Service;
let target: Service;
let directory: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-cloud-'));
  source = await startService();
  target = await startService();
  await source.tokenOf('ama');
  await target.tokenOf('kofi');
  for (const name of ['ama', 'kofi', 'admin']) {
    writeFileSync(join(directory, name), `${passwordOf(name)}\n`);
  }
});

afterEach(async () => {
  await source[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface Ways {
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly toUser?: string;
}

function wordsOf({ from, to, user = 'ama', toUser = 'kofi' }: Ways): readonly string[] {
  return [
    ...['import', 'cloud', '--from', from ?? source.url, '--to', to ?? target.url],
    ...['--user', user, '--password-file', user],
    ...['--to-user', toUser, '--to-password-file', toUser],
  ];
}

const copy = (ways: Ways = {}, ...more: readonly string[]) =>
  runProgram([...wordsOf(ways), ...more], { directory });

/** The three figures of a row of the report. */
function rowOf(report: string, kind: string): readonly number[] {
  const [, ...figures] = new RegExp(`^${kind} +(\\d+) +(\\d+) +(\\d+)$`, 'm').exec(report) ?? [];
  return figures.map(Number);
}

const expected = (): Promise<Inventory> => copiedInventoryOf(source, 'ama');

test('all of a user arrives as it was, and a second run makes nothing twice', async () => {
  const count = await fill(source, 3, 700);
  const first = await copy();
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(await inventoryOf(target, 'kofi'), await expected());
  assert.deepEqual(rowOf(first.stdout, 'values'), [count, 0, 0]);
  assert.deepEqual(rowOf(first.stdout, 'sensors'), [6, 0, 0]);
  const second = await copy();
  assert.equal(second.code, 0, second.stderr);
  assert.deepEqual(rowOf(second.stdout, 'values'), [0, count, 0]);
  assert.deepEqual(rowOf(second.stdout, 'devices'), [0, 3, 0]);
  assert.deepEqual(rowOf(second.stdout, 'notifications'), [0, 3, 0]);
  assert.deepEqual(await inventoryOf(target, 'kofi'), await expected());
  assert.deepEqual(readdirSync(directory).toSorted(), ['admin', 'ama', 'kofi']);
});

test('a recipient that has no account there is told, and gets nothing later either', async () => {
  await fill(source, 1, 10);
  const first = await copy({}, '--no-values');
  assert.equal(first.code, 0, first.stderr);
  const said = 'notifications Hot: no account is called ama: it reaches nobody by that name';
  assert.equal(first.stderr.split(said).length - 1, 2, first.stderr);
  const kofi = { token: await target.tokenOf('kofi') };
  // Somebody else takes the name.
  await target.tokenOf('ama');
  const second = await copy({}, '--no-values');
  assert.equal(second.stderr.split(said).length - 1, 2, second.stderr);
  const listed = await target.call({ path: '/notifications', ...kofi });
  const rules = (listed.json as readonly Record<string, unknown>[]).filter(
    ({ description }) => description === 'Hot',
  );
  assert.equal(rules.length, 2);
  for (const { id, unknown_usernames } of rules) {
    assert.deepEqual(unknown_usernames, ['ama']);
    await target.call({
      ...kofi,
      method: 'PATCH',
      path: `/notifications/${id}`,
      json: { throttling: 0 },
    });
  }
  const path = '/devices/*field-0/sensors/TC1/value';
  const pushed = await target.call({ ...kofi, method: 'POST', path, json: { value: 50 } });
  assert.equal(pushed.status, 204);
  for (const { id } of rules) {
    const found = await target.call({ ...kofi, path: `/notifications/${id}/deliveries` });
    const [delivery] = found.json as readonly Record<string, unknown>[];
    assert.equal(delivery?.['status'], 'failed', found.text);
  }
});

test('killed again and again in the middle, a copy goes on and is whole in the end', async () => {
  const count = await fill(source, 10, 2_000);
  let pushes = 0;
  let kill: (() => void) | undefined;
  // Killed after a push was stored, before its answer is told.
  await using proxy = await startProxy(target.url, ({ url }) => {
    if (!url?.startsWith('/api/v2/sensors_data') || kill === undefined) return 'pass';
    pushes += 1;
    if (pushes % 4 === 0) kill();
    return pushes % 4 === 0 ? 'cut' : 'pass';
  });
  for (let round = 0; round < 2; round += 1) {
    const running = openProgram(wordsOf({ to: proxy.url }), { directory });
    kill = () => running.child.kill('SIGKILL');
    assert.equal((await running.exited).signal, 'SIGKILL');
  }
  kill = undefined;
  const done = await copy({ to: proxy.url });
  assert.equal(done.code, 0, done.stderr);
  const [copied = 0] = rowOf(done.stdout, 'values');
  assert.ok(copied > 0 && copied < count, `${copied} of ${count} were left for the last run`);
  assert.deepEqual(await inventoryOf(target, 'kofi'), await expected());
});

test('a slow service that is busy, breaks and ends tokens at will is copied whole', async () => {
  await fill(source, 1, 10_500);
  const troubles: readonly Fate[] = ['pass', 'pass', 401, 'pass', 503, 'cut', 'pass', 429];
  const troubled = (count: number): Fate => troubles[count % troubles.length] ?? 'pass';
  // A login that fails is no trouble but an answer.
  const fateOf = ({ url }: IncomingMessage, count: number): Fate =>
    url === '/api/v2/auth/token' ? 'pass' : troubled(count);
  await using from = await startProxy(source.url, fateOf);
  await using to = await startProxy(target.url, fateOf);
  const done = await copy({ from: from.url, to: to.url });
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(await inventoryOf(target, 'kofi'), await expected());
});

test('a service without pages, projects and notifications gives what it has', async () => {
  await fill(source, 2, 450);
  // Pages of 100 at most, no totals, and lists that know no offset.
  await using old = await startProxy(source.url, ({ url = '' }) => {
    if (/projects|notifications/.test(url)) return 404;
    const asked = new URL(url, source.url);
    if (asked.pathname.endsWith('/values')) asked.searchParams.set('limit', '100');
    else if (asked.pathname.endsWith('/devices')) asked.searchParams.delete('offset');
    else return 'pass';
    return (response) => {
      source
        .as('ama')({ path: asked.pathname.slice(7) + asked.search })
        .then(
          ({ text }) => {
            response.writeHead(200, { 'content-type': 'application/json' }).end(text);
          },
          (error: Error) => response.destroy(error),
        );
    };
  });
  const done = await copy({ from: old.url });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /projects \(all\): the service does not list them/);
  const there = await inventoryOf(target, 'kofi');
  const { devices, values } = await expected();
  assert.deepEqual({ devices: there.devices, values: there.values }, { devices, values });
});

test('what others own is left out, or kept for its owner, and refusals are told', async () => {
  const yaa = source.as('yaa');
  const json = { visibility: 'private', sensors: [{ id: 'S' }] };
  for (const id of ['shown', 'hidden', 'taken']) {
    await yaa({ method: 'POST', path: '/devices', json: { ...json, id } });
    const datapoint = { value: 7, timestamp: minute(1) };
    await yaa({ method: 'POST', path: `/devices/${id}/sensors/S/value`, json: datapoint });
  }
  const grant = (id: string, scopes: readonly string[]) =>
    yaa({ method: 'PUT', path: `/devices/${id}/grants/ama`, json: scopes });
  await grant('shown', ['devices:view', 'devices-data:view']);
  await grant('taken', ['devices:view', 'devices-data:view']);
  const own = await copy();
  assert.equal(own.code, 0, own.stderr);
  assert.match(own.stdout, /2 things of others were left out/);

  await target.as('yaa')({ method: 'POST', path: '/devices', json: { ...json, id: 'taken' } });
  await grant('hidden', ['devices:view']);
  const refused = await copy({}, '--all');
  assert.equal(refused.code, 1);
  assert.deepEqual(rowOf(refused.stdout, 'devices'), [2, 1, 1]);
  assert.match(refused.stderr, /devices taken: it is there, and may not be seen/);
  assert.match(refused.stderr, /values of hidden\/S: they cannot be read/);
  assert.match(refused.stdout, /2 things of others are yours now/);

  const kept = await copy({ toUser: 'admin' }, '--all', '--only', 'taken');
  assert.equal(kept.code, 0, kept.stderr);
  const reply = await target.as('yaa')({ path: '/devices/taken/sensors/S/values' });
  assert.deepEqual(valuesOf(datapointsOf(reply)), [7]);
});

test('what is private does not become public, nor do values mix with those of others', async () => {
  const path = '/devices';
  for (const visibility of ['private', 'public']) {
    const json = { id: visibility, visibility, sensors: [{ id: 'S' }] };
    await source.as('ama')({ method: 'POST', path, json });
  }
  const others = { id: 'public', sensors: [{ id: 'S' }] };
  await target.as('yaa')({ method: 'POST', path, json: others });
  const from = ['--from', source.url, '--token', await source.tokenOf('ama')];
  const words = ['import', 'cloud', ...from, '--to', target.url];
  const done = await runProgram(words, { directory });
  assert.equal(done.code, 1);
  assert.match(done.stderr, /devices private: it is private, and what a guest makes is public/);
  assert.match(done.stderr, /devices public: it is there, and belongs to yaa/);
  assert.equal((await target.as('admin')({ path: '/devices/private' })).status, 404);
});

test('a service that is not there, and a wrong password, are told at once', async () => {
  const away = await copy({ from: 'http://127.0.0.1:1' });
  assert.equal(away.code, 1);
  assert.match(away.stderr, /no service answers at http:\/\/127\.0\.0\.1:1/);
  writeFileSync(join(directory, 'ama'), 'wrong\n');
  const wrong = await copy();
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /the password of ama is wrong/);
});

test('a foreign service moves no cursor and gets no token for another place', async () => {
  let isRedirecting = false;
  let asked = 0;
  const foreign = createServer((request, response) => {
    asked += 1;
    if (isRedirecting)
      return response.writeHead(307, { location: `${source.url}/elsewhere` }).end();
    const isLogin = request.url?.endsWith('/auth/token') === true;
    response.writeHead(isLogin ? 200 : 400, { 'content-type': 'application/json' });
    return response.end(
      isLogin ? 'token' : JSON.stringify({ description: '\u001b[2J\u009b31mall is well\u202e' }),
    );
  });
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = foreign.address() as AddressInfo;
    const from = `http://127.0.0.1:${port}`;
    const rude = await copy({ from });
    assert.equal(rude.code, 1);
    assert.match(rude.stderr, /all is well/);
    assert.doesNotMatch(rude.stderr.replaceAll('\n', ''), /\p{C}/u);
    isRedirecting = true;
    asked = 0;
    const led = await copy({ from });
    assert.equal(led.code, 1);
    assert.match(led.stderr, /points to http:\/\/127\.0\.0\.1:\d+\/.*nothing was sent/);
    assert.equal(asked, 1);
    const open = await copy({ from: 'http://192.0.2.1' });
    assert.equal(open.code, 1);
    assert.match(open.stderr, /--allow-http/);
  } finally {
    foreign.closeAllConnections();
    foreign.close();
  }
});
