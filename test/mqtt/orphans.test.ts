import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { inStored } from '../stored-rows.ts';
import { type ClientOptions, connect, makeDevice } from './mqtt-clients.ts';

const kept: ClientOptions = { clean: false, properties: { sessionExpiryInterval: 3_600 } };
const value = (device: string, sensor: string) => `devices/${device}/sensors/${sensor}/value`;

/** Sessions and retained messages of everybody, which wait for their next connection. */
async function leaveThings(service: Service): Promise<void> {
  for (const id of ['gone', 'stays']) await makeDevice(service, 'ana', id, { sensors: ['t', 'u'] });
  const gateway = { method: 'POST', path: '/gateways', json: { id: 'g' } };
  assert.equal((await service.as('ana')(gateway)).status, 200);
  for (const as of ['ana', 'bob', 'eve']) {
    await using client = await connect(service, { ...kept, clientId: 'waits', as });
    await client.subscribe('devices/#', 1);
  }
  const key = await service.as('ana')({ method: 'POST', path: '/auth/keys', json: { name: 'k' } });
  const { key: password } = key.json as { key: string };
  for (const login of [{ username: 'ana', password }, {}]) {
    await using client = await connect(service, { ...kept, clientId: 'waits', ...login });
    await client.subscribe('devices/#', 1);
  }
  await using ana = await connect(service, { as: 'ana' });
  const topics = [value('gone', 't'), value('stays', 't'), value('stays', 'u'), 'gateways/g/x'];
  for (const topic of topics) await ana.publish(topic, '1', { qos: 1, retain: true });
}

async function keptBy(directory: string) {
  const sessions = await inStored(directory, 'select identity from mqtt_sessions');
  const retained = await inStored(directory, 'select topic from mqtt_retained order by topic');
  return { sessions: sessions.length, topics: retained.map(({ topic }) => topic) };
}

test('what a crash left of removed things and accounts is dropped at the start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-orphans-'));
  try {
    {
      await using service = await startService({ directory });
      await leaveThings(service);
    }
    // As after a crash between the commit of the removals and the clean-up.
    const before = await keptBy(directory);
    assert.deepEqual([before.sessions, before.topics.length], [5, 4]);
    await inStored(
      directory,
      `delete from sensors where device_id = 'gone';
       delete from devices where id = 'gone';
       delete from sensors where device_id = 'stays' and sensor_id = 'u';
       delete from gateways where id = 'g';
       delete from users where username = 'bob';
       update users set is_disabled = 1 where username = 'eve';
       delete from access_keys;`,
    );
    {
      await using service = await startService({ directory });
      await makeDevice(service, 'ana', 'gone');
      await using client = await connect(service);
      await client.subscribe('devices/#');
      await client.publish(value('gone', 't'), '"new"');
      await client.got(2);
      const expected = [
        `${value('stays', 't')} {"value":1}`,
        `${value('gone', 't')} {"value":"new"}`,
      ];
      assert.deepEqual(client.texts.toSorted(), expected.toSorted());
    }
    // Those of ana herself and of the guest.
    const left = { sessions: 2, topics: [value('stays', 't')] };
    assert.deepEqual(await keptBy(directory), left);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
