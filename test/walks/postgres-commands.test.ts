// In a process of its own: it starts a database server.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import {
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../postgres-server.ts';
import { runProgram, startProcess } from '../service-process.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const directory = temporaryDirectory({ after });
const day = 86_400_000;

describe('commands on PostgreSQL', { skip: isAbsent ? 'needs PostgreSQL' : false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  /** An empty schema, and a way to run commands on it. */
  async function emptyPlace(name: string) {
    await onServer(server.url, `drop schema if exists "${name}" cascade`);
    const url = await schemaUrl(server.url, name);
    const environment = { KIPIMO_DATABASE_URL: url, KIPIMO_ADMIN_PASSWORD: 'admin-password-1' };
    const options = { directory, environment };
    const run = (...words: readonly string[]) => runProgram(words, options);
    return { url, run, start: () => startProcess(options) };
  }

  const logIn = (url: string, username: string, password: string) =>
    fetch(`${url}/api/v2/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });

  test('accounts are made before the first start, and deleted when no service runs', async () => {
    const { run, start } = await emptyPlace('commands-accounts');
    for (const words of [['user', 'list'], ['key', 'list', 'ama'], ['retention']]) {
      const { code, stderr } = await run(...words);
      assert.equal(code, 1, words.join(' '));
      assert.match(stderr, /^kipimo: the database of KIPIMO_DATABASE_URL holds no data of Kipimo/);
    }
    const made = await run('user', 'add', 'ama', '--password', 'bamboo-4711', '--admin');
    assert.equal(made.code, 0, made.stderr);
    {
      await using service = await start();
      assert.equal((await logIn(service.url, 'ama', 'bamboo-4711')).status, 200);
      // The first start made no other admin, as there was one.
      assert.equal((await logIn(service.url, 'admin', 'admin-password-1')).status, 401);
      const key = await run('key', 'add', 'ama', 'field');
      assert.equal(key.code, 0, key.stderr);
      const { key: secret } = JSON.parse(key.stdout) as { key: string };
      const headers = { authorization: `Bearer ${secret}` };
      assert.equal((await fetch(`${service.url}/api/v2/devices`, { headers })).status, 200);
      await run('user', 'add', 'kofi', '--password', 'cassava-0815');
      const busy = await run('user', 'delete', 'kofi', '--yes');
      assert.equal(busy.code, 1);
      assert.match(busy.stderr, /another process of Kipimo serves this database: stop it first$/m);
      const wrong = await run('compact');
      assert.equal(wrong.code, 1);
      assert.match(
        wrong.stderr,
        /KIPIMO_DATABASE_URL names a PostgreSQL database, and this command/,
      );
    }
    const gone = await run('user', 'delete', 'kofi', '--yes');
    assert.equal(gone.code, 0, gone.stderr);
    assert.doesNotMatch((await run('user', 'list')).stdout, /kofi/);
  });

  test('what retention would take is told beside the service, and nothing goes', async () => {
    const { run, start } = await emptyPlace('commands-retention');
    await using service = await start();
    const send = async (method: string, path: string, json: unknown) => {
      const reply = await fetch(`${service.url}/api/v2/devices${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(json),
      });
      assert.ok(reply.ok, `${path}: ${reply.status} ${await reply.text()}`);
    };
    await send('POST', '', { id: 'd1', sensors: [{ id: 's1' }, { id: 's2' }] });
    const old = Array.from({ length: 5_000 }, (_, n) => ({
      value: n,
      timestamp: new Date(Date.now() - 90 * day + n * 60_000).toISOString(),
    }));
    await send('POST', '/d1/sensors/s1/values', old);
    await send('POST', '/d1/sensors/s2/values', [{ value: 1 }, old[0]]);
    assert.match((await run('retention')).stdout, /^Nothing is older/);
    await send('PUT', '/d1/retention', { raw_days: 30, hourly_days: 60 });
    const told = await run('retention');
    assert.equal(told.code, 0, told.stderr);
    assert.match(told.stdout, /guest {2}d1 {2}5,001 datapoints of 2 sensors\n/);
    const lines = (await run('retention', '--json')).stdout.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      [{ owner: 'guest', device: 'd1', sensors: 2, datapoints: 5_001, days: 0 }],
    );
    assert.match((await run('retention')).stdout, /5,001 datapoints of 1 devices would be deleted/);
  });
});
