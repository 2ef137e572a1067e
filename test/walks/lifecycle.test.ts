import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inUse } from '../engine.ts';
import { runProgram, type ServiceProcess, startProcess } from '../service-process.ts';
import { createPushLoad } from './push-load.ts';

const password = 'admin-password-1';
const environment = { KIPIMO_ADMIN_PASSWORD: password };

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-life-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function logIn(service: ServiceProcess, secret: string): Promise<Response> {
  return fetch(`${service.url}/api/v2/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: secret }),
  });
}

test('SIGTERM under load answers what is under way, exits 0 and loses nothing', () =>
  inDirectory(async (directory) => {
    const load = createPushLoad(8);
    {
      await using service = await startProcess({ directory, environment });
      await load.prepare(service.url);
      await load.run(service.url, (count) => {
        if (count === 100) service.kill('SIGTERM');
      });
      assert.deepEqual(await service.exited, { code: 0, signal: null });
      assert.ok(load.acknowledgedCount >= 100);
      assert.doesNotMatch(service.output(), /did not finish/, 'idle connections held it up');
    }
    await using service = await startProcess({ directory, environment });
    await load.verify(service.url);
    await load.resend(service.url);
    await load.verify(service.url);
  }));

test('a restart keeps accounts, tokens, devices and the address of their data', () =>
  inDirectory(async (directory) => {
    let token: string;
    let device: unknown;
    const path = '/api/v2/devices/pump';
    {
      await using service = await startProcess({ directory, environment });
      token = await (await logIn(service, password)).text();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const json = { id: 'pump', visibility: 'private', sensors: [{ id: 'P1' }], meta: { a: [1] } };
      const body = JSON.stringify(json);
      await fetch(`${service.url}/api/v2/devices`, { method: 'POST', headers, body });
      const values = `${service.url}${path}/sensors/P1/values`;
      await fetch(values, { method: 'POST', headers, body: '{"value":3.5}' });
      device = await (await fetch(service.url + path, { headers })).json();
      service.kill('SIGTERM');
      assert.equal((await service.exited).code, 0);
    }
    await using service = await startProcess({ directory, environment });
    const headers = { authorization: `Bearer ${token}` };
    assert.deepEqual(await (await fetch(service.url + path, { headers })).json(), device);
    assert.equal((await fetch(service.url + path)).status, 403);
    const { sensors } = device as { sensors: { value: { value: number } }[] };
    assert.equal(sensors[0]?.value.value, 3.5);
  }));

test('a second service on the same data directory refuses with a sentence and harms nothing', () =>
  inDirectory(async (directory) => {
    await using service = await startProcess({ directory, environment });
    const second = await runProgram(['serve'], { directory, environment });
    assert.equal(second.code, 1);
    assert.match(second.stderr, inUse(directory));
    assert.doesNotMatch(second.stderr, /\n\s+at /);
    assert.equal((await logIn(service, password)).status, 200);
  }));

test('unknown and bad settings stop the start, each with its name', () =>
  inDirectory(async (directory) => {
    const wrong = { KIPIMO_HTP_PORT: '1', KIPIMO_TOKEN_TTL_S: 'soon', KIPIMO_SIGNUP: 'maybe' };
    const { code, stderr, stdout } = await runProgram([], { directory, environment: wrong });
    assert.equal(code, 1);
    for (const name of Object.keys(wrong)) assert.ok(stderr.includes(name), stderr);
    assert.doesNotMatch(stderr, /\n\s+at /);
    assert.equal(stdout, '');
  }));

test('a taken port stops the start with a sentence that names port and setting', () =>
  inDirectory(async (directory) => {
    const squatter = createServer().listen(0, '127.0.0.1');
    try {
      await once(squatter, 'listening');
      const port = String((squatter.address() as AddressInfo).port);
      const taken = { ...environment, KIPIMO_HTTP_PORT: port };
      const { code, stderr } = await runProgram(['serve'], { directory, environment: taken });
      assert.equal(code, 1);
      assert.ok(stderr.includes(port) && stderr.includes('KIPIMO_HTTP_PORT'), stderr);
      assert.doesNotMatch(stderr, /\n\s+at /);
    } finally {
      squatter.close();
    }
  }));

test('a first start that fails at a taken port has shown the password that it made up', () =>
  inDirectory(async (directory) => {
    const squatter = createServer().listen(0, '127.0.0.1');
    let shown: string;
    try {
      await once(squatter, 'listening');
      const port = String((squatter.address() as AddressInfo).port);
      const failed = await runProgram(['serve'], {
        ...{ directory, environment: { KIPIMO_HTTP_PORT: port } },
      });
      assert.equal(failed.code, 1);
      shown = /with password (\S+) /.exec(failed.stdout)?.[1] ?? 'none';
    } finally {
      squatter.close();
    }
    await using service = await startProcess({ directory });
    assert.equal((await logIn(service, shown)).status, 200);
  }));

test('the first start alone prints a generated admin password, and it works', () =>
  inDirectory(async (directory) => {
    const shown = /password (\S+)/g;
    let generated: string;
    {
      await using service = await startProcess({ directory });
      service.kill('SIGTERM');
      await service.exited;
      const found = [...service.output().matchAll(shown)];
      assert.equal(found.length, 1, service.output());
      generated = found[0]?.[1] ?? '';
      assert.ok(generated.length >= 16, 'nobody can guess it');
      assert.equal(service.output().split(generated).length, 2, 'it is printed once');
    }
    await using service = await startProcess({ directory });
    assert.equal((await logIn(service, generated)).status, 200);
    assert.equal((await logIn(service, `${generated}x`)).status, 401);
    service.kill('SIGTERM');
    await service.exited;
    assert.deepEqual([...service.output().matchAll(shown)], []);
  }));

test('a given admin password is never printed', () =>
  inDirectory(async (directory) => {
    await using service = await startProcess({ directory, environment });
    assert.equal((await logIn(service, password)).status, 200);
    service.kill('SIGTERM');
    await service.exited;
    assert.ok(!service.output().includes(password));
  }));

for (const [name, given, says] of [
  ['KIPIMO_NATS_URL', 'nats://kipimo:hunter2@nats', /is a setting no more/],
  ['KIPIMO_DATABASE_URL', 'postgres://a:hunter2@one/k,postgres://a@two/k', /of one database/],
] as const) {
  test(`a start with ${name} of an earlier version ends with a sentence and exit code 1`, () =>
    inDirectory(async (directory) => {
      const run = await runProgram(['serve'], { directory, environment: { [name]: given } });
      assert.equal(run.code, 1);
      assert.match(run.stderr, says);
      assert.match(run.stderr, new RegExp(`^kipimo: ${name} [^\\n]*\\n$`));
      assert.doesNotMatch(run.stderr, /hunter2/);
    }));
}
