import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { webhookSecretOf } from '../../src/channels/webhook/signature.ts';
import { ensureInstallationSecret } from '../../src/storage/sqlite/installation-secret.ts';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { type Service, startService } from '../service.ts';
import { assertDone } from '../v2/refusal.ts';

async function secretOf(service: Service, username: string): Promise<string> {
  const reply = await service.as(username)({ path: '/users/me/webhook_secret' });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

test('everybody has a secret of their own for the webhook, and keeps it', async () => {
  await using service = await startService();
  const [ama, kofi] = [await secretOf(service, 'ama'), await secretOf(service, 'kofi')];
  assert.match(ama, /^[0-9a-f]{64}$/);
  assert.notEqual(ama, kofi);
  assert.equal(await secretOf(service, 'ama'), ama);
  const { text } = await service.as('ama')({ path: '/users/me' });
  assert.ok(!text.includes(ama), 'it is shown where it is asked for only');
});

test('an account made again under the same name has another secret', async () => {
  await using service = await startService();
  const before = await secretOf(service, 'ama');
  const { id } = (await service.as('ama')({ path: '/users/me' })).json as { id: string };
  assertDone(await service.as('ama')({ method: 'DELETE', path: `/users/${id}` }));
  const credentials = { username: 'ama', password: 'another password' };
  const made = await service.call({ method: 'POST', path: '/users', json: credentials });
  assert.equal(made.status, 200, made.text);
  const login = { method: 'POST', path: '/auth/token', json: credentials };
  const { text: token } = await service.call(login);
  const after = await service.call({ path: '/users/me/webhook_secret', token });
  assert.match(after.text, /^[0-9a-f]{64}$/);
  assert.notEqual(after.text, before);
});

embedded('an account of a database of before keeps its secret for itself', async (context) => {
  const directory = temporaryDirectory(context);
  {
    await using service = await startService({ directory });
    await secretOf(service, 'ama');
  }
  const database = new DatabaseSync(join(directory, 'kipimo.db'));
  // What the migration leaves to accounts that were there.
  database.exec("update users set webhook_secret = null where username = 'ama'");
  database.close();
  const derived = webhookSecretOf(ensureInstallationSecret(directory), { username: 'ama' });
  await using service = await startService({ directory });
  assert.equal(await secretOf(service, 'ama'), derived);
  assertDone(
    await service.as('ama')({ method: 'PUT', path: '/users/me', json: { firstName: 'A' } }),
  );
  assert.equal(await secretOf(service, 'ama'), derived);
  assert.notEqual(
    await secretOf(service, 'kofi'),
    webhookSecretOf(ensureInstallationSecret(directory), { username: 'kofi' }),
  );
});

test('a notification to a webhook that is never called says so', async () => {
  await using service = await startService();
  const ama = service.as('ama');
  const condition = { sensors: ['T'], expression: 'T > 8' };
  const action = { usernames: ['ama'], channels: ['webhook'], message: '{T}' };
  const json = { condition, action };
  const lack = async (webhook: string) => {
    assertDone(await ama({ method: 'PUT', path: '/users/me', json: { webhook } }));
    const { headers } = await ama({ method: 'POST', path: '/notifications', json });
    const unreachable = JSON.parse(headers.get('x-unreachable') ?? '[]') as { reason: string }[];
    const channels = (await ama({ path: '/users/me/channels' })).json as Record<string, unknown>[];
    const own = channels.find(({ channel }) => channel === 'webhook');
    assert.equal(own?.['reachable'], unreachable.length === 0);
    return unreachable[0]?.reason;
  };
  const privately = 'the webhook leads to a private address, which this service does not call';
  const hosts = [
    '10.0.0.1',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    'localhost',
    'a.localhost.',
    'nas.local',
  ];
  for (const host of hosts) assert.equal(await lack(`https://${host}/hook`), privately, host);
  assert.equal(await lack('http://farm.example.org/'), 'the webhook must start with https://');
  assert.equal(await lack('https://farm.example.org/localhost'), undefined);
});
