import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { type Client, connect, makeDevice } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ana', 'd', { visibility: 'private' });
  await makeDevice(service, 'ana', 'open');
  await service.tokenOf('bob');
});

after(() => service[Symbol.asyncDispose]());

const asAna = (method: string, path: string, json?: unknown) =>
  service.as('ana')({ method, path: `/devices/${path}`, ...(json !== undefined && { json }) });

/** Pushes to the private device, then to the public one; answers what came of the first. */
async function sees(client: Client, value: string): Promise<boolean> {
  await asAna('POST', 'd/sensors/t/value', { value });
  await asAna('POST', 'open/sensors/t/value', { value: `after ${value}` });
  const marker = `devices/open/sensors/t/value {"value":"after ${value}"}`;
  for (let count = 1; !client.texts.includes(marker); count += 1) await client.got(count);
  return client.texts.includes(`devices/d/sensors/t/value {"value":"${value}"}`);
}

test('rights that come and go are effective on open subscriptions at once', async () => {
  await using bob = await connect(service, { as: 'bob' });
  await using guest = await connect(service);
  await bob.subscribe('devices/+/sensors/+/value');
  await guest.subscribe('#');
  const both = async (value: string) => [await sees(bob, value), await sees(guest, `g${value}`)];
  assert.deepEqual(await both('1'), [false, false]);
  await asAna('PUT', 'd/grants/bob', ['devices-data:view']);
  assert.deepEqual(await both('2'), [true, false]);
  await asAna('PUT', 'd/grants/bob', ['devices:view']);
  assert.deepEqual(await both('3'), [false, false]);
  await service.as('ana')({ method: 'PUT', path: '/devices/d/visibility', body: 'public' });
  assert.deepEqual(await both('4'), [true, true]);
  await service.as('ana')({ method: 'PUT', path: '/devices/d/visibility', body: 'private' });
  assert.deepEqual(await both('5'), [false, false]);
  await asAna('PUT', 'd/grants/bob', ['devices-data:view']);
  assert.deepEqual(await both('6'), [true, false]);
  await asAna('DELETE', 'd/grants/bob');
  assert.deepEqual(await both('7'), [false, false]);
});

test('groups and projects are effective on open subscriptions at once, too', async () => {
  await makeDevice(service, 'ana', 'grouped', { visibility: 'private' });
  await using bob = await connect(service, { as: 'bob' });
  await bob.subscribe('devices/+/sensors/+/value');
  const ana = service.as('ana');
  const seesGrouped = async (value: string): Promise<boolean> => {
    const json = { value };
    await ana({ method: 'POST', path: '/devices/grouped/sensors/t/value', json });
    await sees(bob, `marker ${value}`);
    return bob.texts.includes(`devices/grouped/sensors/t/value {"value":"${value}"}`);
  };
  assert.equal(await seesGrouped('1'), false);
  const json = { name: 'Class', usernames: [] };
  const group = (await ana({ method: 'POST', path: '/groups', json })).text;
  const listed = { id: 'of-ana', device_ids: ['grouped'] };
  await ana({ method: 'POST', path: '/projects', json: listed });
  const path = `/projects/of-ana/grants/groups/${group}`;
  await ana({ method: 'PUT', path, json: ['projects:view'] });
  assert.equal(await seesGrouped('2'), false);
  await ana({ method: 'PUT', path: `/groups/${group}/usernames/bob` });
  assert.equal(await seesGrouped('3'), true);
  await ana({ method: 'DELETE', path: `/groups/${group}/usernames/bob` });
  assert.equal(await seesGrouped('4'), false);
  await ana({ method: 'PUT', path: '/projects/of-ana/grants/bob', json: ['projects:view'] });
  assert.equal(await seesGrouped('5'), true);
  await ana({ method: 'PUT', path: '/projects/of-ana/device_ids', json: [] });
  assert.equal(await seesGrouped('6'), false);
});

test('a new owner sees what the old one no longer does', async () => {
  await makeDevice(service, 'ana', 'given', { visibility: 'private' });
  await using ana = await connect(service, { as: 'ana' });
  await using bob = await connect(service, { as: 'bob' });
  for (const client of [ana, bob]) await client.subscribe('devices/given/#');
  await ana.publish('devices/given/sensors/t/value', '1');
  await service.as('ana')({ method: 'PUT', path: '/devices/given/owner', body: 'bob' });
  await service.as('bob')({ method: 'PUT', path: '/devices/given/accept' });
  await assert.rejects(ana.publish('devices/given/sensors/t/value', '2'), { code: 0x87 });
  await bob.publish('devices/given/sensors/t/value', '3');
  await bob.got(1);
  assert.deepEqual(bob.texts, ['devices/given/sensors/t/value {"value":3}']);
  assert.deepEqual(ana.texts, ['devices/given/sensors/t/value {"value":1}']);
});

test('other topics below a device pass between those who may update it', async () => {
  await makeDevice(service, 'ana', 'tunnel');
  await using ana = await connect(service, { as: 'ana' });
  await using bob = await connect(service, { as: 'bob' });
  await using admin = await connect(service, { as: 'admin' });
  await using guest = await connect(service);
  for (const client of [ana, bob, admin, guest]) await client.subscribe('devices/tunnel/#', 2);
  await ana.publish('devices/tunnel/config/rate', 'any bytes', { qos: 2 });
  await assert.rejects(bob.publish('devices/tunnel/config/rate', 'x'), { code: 0x87 });
  await service.as('ana')({
    method: 'PUT',
    path: '/devices/tunnel/grants/bob',
    json: ['devices:update'],
  });
  await bob.publish('devices/tunnel/answer', 'y');
  await ana.publish('devices/tunnel/sensors/t/value', '1');
  for (const client of [ana, admin]) {
    await client.got(3);
    assert.deepEqual(client.texts, [
      'devices/tunnel/config/rate any bytes',
      'devices/tunnel/answer y',
      'devices/tunnel/sensors/t/value {"value":1}',
    ]);
  }
  await bob.got(2);
  assert.equal(bob.texts[0], 'devices/tunnel/answer y');
  await guest.got(1);
  assert.deepEqual(guest.texts, ['devices/tunnel/sensors/t/value {"value":1}']);
});

test('topics below a gateway pass between those who may update it', async () => {
  await service.as('ana')({ method: 'POST', path: '/gateways', json: { id: 'gw' } });
  await service.call({ method: 'POST', path: '/gateways', json: { id: 'free' } });
  await using ana = await connect(service, { as: 'ana' });
  await using bob = await connect(service, { as: 'bob' });
  await using guest = await connect(service);
  for (const client of [ana, bob, guest]) await client.subscribe('gateways/#');
  await ana.publish('gateways/gw/command', 'reboot');
  await assert.rejects(bob.publish('gateways/gw/command', 'no'), { code: 0x87 });
  await assert.rejects(ana.publish('gateways/none/command', 'no'), { code: 0x87 });
  await guest.publish('gateways/free/command', 'everybody');
  await ana.got(2);
  assert.equal(ana.texts[0], 'gateways/gw/command reboot');
  for (const client of [bob, guest]) {
    await client.got(1);
    assert.deepEqual(client.texts, ['gateways/free/command everybody']);
  }
});

test('the metrics of the service are for admins', async () => {
  await using admin = await connect(service, { as: 'admin' });
  await using bob = await connect(service, { as: 'bob' });
  await using old = await connect(service, { as: 'bob', protocolVersion: 4 });
  const granted = await admin.subscribe(['$SYS/#', '$share/g/$SYS/metrics/x']);
  assert.deepEqual(
    granted.map(({ qos }) => qos),
    [1, 1],
  );
  for (const filter of ['$SYS/#', '$SYS', '$share/g/$SYS/#', '$other/x']) {
    for (const [client, code] of [
      [bob, 0x87],
      [old, 0x80],
    ] as const) {
      const refused = await client.subscribe(filter).then(
        (grants) => grants[0]?.qos,
        (error: { packet?: { granted: number[] } }) => error.packet?.granted[0],
      );
      assert.equal(refused, code, filter);
    }
  }
});

test('what the broker counts is among the metrics', async () => {
  await using client = await connect(service, { as: 'bob' });
  await client.subscribe('devices/open/#');
  await client.publish('devices/open/sensors/t/value', '1');
  await client.got(1);
  const { text } = await service.as('admin')({ path: '//metrics' });
  const names = ['connections', 'sessions', 'subscriptions', 'messages_sent_total'];
  for (const name of names) assert.match(text, new RegExp(`^kipimo_mqtt_${name} [1-9]`, 'm'));
  assert.match(text, /^kipimo_mqtt_messages_dropped_total\{reason="not_allowed"\} \d+$/m);
});

test('nobody widens anything by a client id or a username of wildcards', async () => {
  for (const name of ['#', '+', 'devices/#', '$share/x/#']) {
    await using client = await connect(service, { clientId: name });
    await client.subscribe(`devices/${name.replaceAll('#', '+')}`);
    assert.equal(await sees(await subscribedToAll(client), name), false);
  }
});

async function subscribedToAll(client: Client): Promise<Client> {
  await client.subscribe('#');
  return client;
}
