// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import mqtt from 'mqtt';
import { findPostgres, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { passwordOf } from '../service.ts';
import { type MemberProcess, membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const patienceMs = 5_000;

/** Resolves when the connection was ended by the service. */
function ended(client: mqtt.MqttClient): Promise<void> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error('the connection goes on')), patienceMs);
    client.once('close', () => {
      clearTimeout(patience);
      resolve();
    });
  });
}

const connect = ({ running }: MemberProcess, password: string) =>
  mqtt.connectAsync(running.mqttUrl, { username: 'x', password, reconnectPeriod: 0 });

describe('commands beside processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('what a command takes away is gone at all of them when it ends', async () => {
    const start = await membersOf(server, 'members_commands');
    await using one = await start();
    await using other = await start();
    const both = [one, other];
    const tokenOf = { ama: await signUp(one, 'ama'), kofi: await signUp(one, 'kofi') };
    const statuses = async (token: string, path = '/users/me'): Promise<readonly number[]> => {
      const replies = await Promise.all(both.map(({ call }) => call({ path, token })));
      return replies.map(({ status }) => status);
    };
    const run = async (...words: readonly string[]): Promise<string> => {
      const { code, stderr, stdout } = await one.run(...words);
      assert.equal(code, 0, stderr);
      return stdout;
    };

    const made = JSON.parse(await run('key', 'add', 'ama', 'field')) as { id: string; key: string };
    assert.deepEqual(await statuses(made.key, '/devices'), [200, 200]);
    const links = await Promise.all(both.map((at) => connect(at, made.key)));
    const links2 = await Promise.all(both.map((at) => connect(at, tokenOf.kofi)));
    const keyEnds = links.map(ended);
    await run('key', 'remove', 'ama', made.id);
    assert.deepEqual(await statuses(made.key, '/devices'), [401, 401]);
    await Promise.all(keyEnds);

    assert.deepEqual(await statuses(tokenOf.kofi), [200, 200]);
    const accountEnds = links2.map(ended);
    await run('user', 'disable', 'kofi');
    assert.deepEqual(await statuses(tokenOf.kofi), [401, 401]);
    await Promise.all(accountEnds);

    assert.deepEqual(await statuses(tokenOf.ama, '/admin/usage'), [403, 403]);
    await run('user', 'admin', 'ama');
    assert.deepEqual(await statuses(tokenOf.ama, '/admin/usage'), [200, 200]);
    await run('user', 'admin', 'ama', '--off');
    assert.deepEqual(await statuses(tokenOf.ama, '/admin/usage'), [403, 403]);

    await run('user', 'passwd', 'ama', '--password', `${passwordOf('ama')}-new`);
    assert.deepEqual(await statuses(tokenOf.ama), [401, 401]);
    for (const client of [...links, ...links2]) client.end(true);
  });
});
