// In a process of its own: it is about what a disk keeps.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { type ClientOptions, connect, ended, makeDevice } from './mqtt-clients.ts';

let directory: string;
let service: Service;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-mqtt-'));
  service = await open();
  await makeDevice(service, 'ana', 'd', { visibility: 'private', sensors: ['t', 'u', 'v'] });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function open(): Promise<Service> {
  return startService({ directory });
}

async function restart(): Promise<void> {
  await service[Symbol.asyncDispose]();
  service = await open();
}

const topic = 'devices/d/sensors/t/value';
const kept: ClientOptions = { clean: false, properties: { sessionExpiryInterval: 3_600 } };

for (const protocolVersion of [4, 5] as const) {
  test(`a session of version ${protocolVersion} gets what it missed over a restart`, async () => {
    const clientId = `kept-${protocolVersion}`;
    const mine = {
      ...(protocolVersion === 5 ? kept : { clean: false }),
      protocolVersion,
      clientId,
    };
    const first = await connect(service, { ...mine, as: 'ana' });
    await first.subscribe('devices/d/#', 2);
    await first.mqtt.endAsync();
    {
      await using other = await connect(service, { as: 'ana' });
      await other.publish(topic, { value: 'one' }, { qos: 1 });
      await other.publish(topic, { value: 'two' }, { qos: 2 });
    }
    await restart();
    await using publisher = await connect(service, { as: 'ana' });
    await publisher.publish(topic, { value: 'three' }, { qos: 1 });
    await using again = await connect(service, { ...mine, as: 'ana' });
    const got = await again.got(3);
    // The client shows a message of QoS 2 at the end of its exchange, so out of line.
    const shown = got.map(({ payload, packet }) => `${payload} ${packet.qos}`);
    const missed = ['{"value":"one"} 1', '{"value":"three"} 1', '{"value":"two"} 2'];
    assert.deepEqual(shown.toSorted(), missed);
  });
}

test('a session waits for nobody else with its client id', async () => {
  const mine = { ...kept, clientId: 'mine' };
  const first = await connect(service, { ...mine, as: 'ana' });
  await first.subscribe('devices/d/#');
  const end = ended(first);
  // Neither takes the other's connection over.
  await using guest = await connect(service, mine);
  await using eve = await connect(service, { ...mine, as: 'eve' });
  for (const client of [guest, eve]) await client.subscribe('devices/d/#');
  await first.publish(topic, { value: 'mine alone' });
  await first.got(1);
  await first.mqtt.endAsync();
  assert.equal(await end, undefined);
  await using publisher = await connect(service, { as: 'ana' });
  await publisher.publish(topic, { value: 'queued' });
  await using again = await connect(service, { ...mine, as: 'ana' });
  await again.got(1);
  assert.deepEqual(again.texts, [`${topic} {"value":"queued"}`]);
  assert.deepEqual([...guest.texts, ...eve.texts], []);
});

test('what waits is not handed over once the right is gone', async () => {
  await makeDevice(service, 'ana', 'shared', { visibility: 'private' });
  const grants = '/devices/shared/grants/bob';
  await service.tokenOf('bob');
  await service.as('ana')({ method: 'PUT', path: grants, json: ['devices-data:view'] });
  const bob = { ...kept, clientId: 'bob', as: 'bob' };
  const first = await connect(service, bob);
  await first.subscribe(['devices/shared/#', 'devices/open/#']);
  await first.mqtt.endAsync();
  await makeDevice(service, 'ana', 'open');
  await using ana = await connect(service, { as: 'ana' });
  await ana.publish('devices/shared/sensors/t/value', '1');
  await service.as('ana')({ method: 'DELETE', path: grants });
  await ana.publish('devices/shared/sensors/t/value', '2');
  await ana.publish('devices/open/sensors/t/value', '3');
  await using again = await connect(service, bob);
  await again.got(1);
  assert.deepEqual(again.texts, ['devices/open/sensors/t/value {"value":3}']);
});

test('the same user with the same client id takes the session over', async () => {
  const first = await connect(service, { clientId: 'taken', as: 'ana' });
  const end = ended(first);
  await using second = await connect(service, { clientId: 'taken', as: 'ana' });
  assert.equal(await end, 0x8e);
  await second.subscribe('devices/d/#');
  await second.publish(topic, { value: 'second' });
  await second.got(1);
});

test('a retained value comes to those who may see it when they ask, also later', async () => {
  await using ana = await connect(service, { as: 'ana' });
  await ana.publish('devices/d/sensors/u/value', '25.5', { qos: 1, retain: true });
  await ana.publish('devices/d/actuators/a/value', '"on"', { qos: 1, retain: true });
  await ana.publish('devices/d/config', 'kept', { qos: 1, retain: true });
  const array = JSON.stringify([
    { value: 1, timestamp: '2026-01-02T00:00:00Z' },
    { value: 2, timestamp: '2026-01-01T00:00:00Z' },
  ]);
  await ana.publish('devices/d/sensors/v/values', array, { qos: 1, retain: true });
  await service.as('ana')({
    method: 'POST',
    path: '/devices/d/sensors/u/value',
    json: { value: 1 },
  });
  await restart();
  const expected = [
    'devices/d/actuators/a/value "on"',
    'devices/d/config kept',
    'devices/d/sensors/u/value {"value":25.5}',
    'devices/d/sensors/v/value {"value":1,"timestamp":"2026-01-02T00:00:00.000Z"}',
  ];
  await using again = await connect(service, { as: 'ana' });
  await again.subscribe('devices/d/#');
  const got = await again.got(4);
  assert.deepEqual(again.texts.toSorted(), expected);
  assert.ok(got.every(({ packet }) => packet.retain));
  await using eve = await connect(service, { as: 'eve' });
  await eve.subscribe('devices/#');
  await makeDevice(service, 'guest', 'marker');
  await again.publish('devices/marker/sensors/t/value', '1');
  await eve.got(1);
  assert.deepEqual(eve.texts, ['devices/marker/sensors/t/value {"value":1}']);
});

test('an empty payload forgets what was retained, for those who may push', async () => {
  await makeDevice(service, 'ana', 'forget', { visibility: 'private' });
  await using ana = await connect(service, { as: 'ana' });
  await using eve = await connect(service, { as: 'eve' });
  const path = 'devices/forget/sensors/t/value';
  const settable = 'devices/forget/actuators/a/value';
  const retain = { qos: 1, retain: true } as const;
  for (const one of [path, settable]) {
    await ana.publish(one, '1', retain);
    await assert.rejects(eve.publish(one, '', retain), { code: 0x87 });
    await using before = await connect(service, { as: 'ana' });
    await before.subscribe(one);
    await before.got(1);
    await ana.publish(one, '', retain);
  }
  await ana.publish('devices/forget/sensors/t/value', '2');
  await using late = await connect(service, { as: 'ana' });
  await late.subscribe('devices/forget/#');
  await ana.publish(path, '3');
  await late.got(1);
  assert.deepEqual(late.texts, [`${path} {"value":3}`]);
  const reply = await service.as('ana')({ path: '/devices/forget/sensors/t/values' });
  assert.equal((reply.json as unknown[]).length, 3);
});

test('what was retained goes with its device, also for the next one of that name', async () => {
  await makeDevice(service, 'ana', 'again');
  const path = 'devices/again/sensors/t/value';
  {
    await using ana = await connect(service, { as: 'ana' });
    await ana.publish(path, '"old"', { qos: 1, retain: true });
  }
  await service.as('ana')({ method: 'DELETE', path: '/devices/again' });
  await makeDevice(service, 'bob', 'again');
  for (let start = 0; start < 2; start += 1) {
    await using client = await connect(service);
    await client.subscribe('devices/again/#');
    await client.publish(path, '"new"');
    await client.got(1);
    assert.deepEqual(client.texts, [`${path} {"value":"new"}`]);
    if (start === 0) await restart();
  }
});

test('a last will is stored and delivered with the rights of that moment', async () => {
  await using watcher = await connect(service, { as: 'ana' });
  await watcher.subscribe(topic);
  const will = (payload: string, as?: string) =>
    connect(service, {
      ...(as !== undefined && { as }),
      will: { topic, payload: Buffer.from(payload), qos: 1, retain: false },
    });
  const dying = [await will('"eve"', 'eve'), await will('"guest"'), await will('"ana"', 'ana')];
  for (const client of dying) {
    client.mqtt.stream.destroy();
    await ended(client);
  }
  await watcher.got(1);
  assert.deepEqual(watcher.texts, [`${topic} {"value":"ana"}`]);
  const reply = await service.as('ana')({ path: '/devices/d/sensors/t/values?lastN=1' });
  assert.equal((reply.json as { value: unknown }[])[0]?.value, 'ana');
});

test('stopping the service says goodbye and loses nothing that was acknowledged', async () => {
  const clients = [
    await connect(service, { as: 'ana' }),
    await connect(service, { as: 'ana', url: service.url.replace('http', 'mqtt') }),
    await connect(service, { as: 'ana', url: `${service.url.replace('http', 'ws')}/mqtt` }),
  ];
  const ends = clients.map(ended);
  const [first] = clients;
  const acknowledged: number[] = [];
  const publishing = Array.from({ length: 200 }, (_, index) =>
    first?.publish('devices/d/sensors/u/value', { value: `n${index}` }).then(
      () => acknowledged.push(index),
      () => undefined,
    ),
  );
  await publishing[20];
  await restart();
  assert.deepEqual(await Promise.all(ends), [0x8b, 0x8b, 0x8b]);
  const reply = await service.as('ana')({ path: '/devices/d/sensors/u/values?limit=1000' });
  const stored = new Set((reply.json as { value: unknown }[]).map(({ value }) => value));
  assert.ok(acknowledged.length >= 21);
  for (const index of acknowledged) assert.ok(stored.has(`n${index}`), `n${index}`);
});
