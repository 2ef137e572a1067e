import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { type Client, connect, makeDevice } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ana', 'pub');
});

after(() => service[Symbol.asyncDispose]());

const mebibyte = 1_048_576;

/** The code with which the service ends the connection. */
const endOf = ({ mqtt }: Client): Promise<number | undefined> =>
  new Promise((resolve) => mqtt.once('disconnect', ({ reasonCode }) => resolve(reasonCode)));

test('a web page of 1 MiB passes through a topic below a device, and 3 MiB do not', async () => {
  await using reader = await connect(service, { as: 'ana' });
  await reader.subscribe('devices/pub/tunnel-up/#', 1);
  await using client = await connect(service, { as: 'ana' });
  await client.publish('devices/pub/tunnel-up/page', 'x'.repeat(mebibyte), { qos: 1 });
  const [got] = await reader.got(1);
  // The test's client sends texts as JSON.
  assert.ok((got?.payload.length ?? 0) >= mebibyte);
  client.mqtt.publish('devices/pub/tunnel-up/page', Buffer.alloc(3 * mebibyte), { qos: 1 });
  assert.equal(await endOf(client), 0x95);
});

test('a topic of a value takes no more than a value', async () => {
  await using client = await connect(service, { as: 'ana' });
  const topic = 'devices/pub/sensors/t/value';
  client.mqtt.publish(topic, Buffer.alloc(mebibyte), { qos: 1 });
  assert.equal(await endOf(client), 0x95);
});

test('a large publish on a topic that is too long is acknowledged and not stored', async () => {
  await using client = await connect(service, { as: 'ana' });
  const page = Buffer.alloc(300_000);
  for (const name of ['a/'.repeat(17), 'a'.repeat(1_100)]) {
    const sent = client.mqtt.publishAsync(`devices/pub/${name}`, page, { qos: 1 });
    const refused = await sent.catch((error) => error);
    assert.equal(refused.code ?? refused.reasonCode, 0x90);
  }
});

test('a value over the limit is acknowledged and not stored, with its code in MQTT 5', async () => {
  const topic = 'devices/pub/sensors/t/value';
  const value = JSON.stringify('v'.repeat(70_000));
  await using fresh = await connect(service, { as: 'ana' });
  const refused = await fresh.mqtt.publishAsync(topic, value, { qos: 1 }).catch((error) => error);
  assert.equal(refused.code ?? refused.reasonCode, 0x99);
  await using old = await connect(service, { as: 'ana', protocolVersion: 4 });
  await old.mqtt.publishAsync(topic, value, { qos: 1 });
  await old.mqtt.publishAsync(topic, '7', { qos: 1 });
  const reply = await service.as('ana')({ path: '/devices/pub/sensors/t/values' });
  assert.deepEqual(
    (reply.json as { value: unknown }[]).map((one) => one.value),
    [7],
  );
});

for (const qos of [0, 1, 2] as const) {
  test(`what is published behind a long array with QoS ${qos} is stored behind it`, async () => {
    const id = `long${qos}`;
    await service.as('ana')({ method: 'POST', path: '/devices/pub/sensors', json: { id } });
    const topic = `devices/pub/sensors/${id}/value`;
    await using reader = await connect(service, { as: 'ana' });
    await reader.subscribe(`${topic}s`, 2);
    await using client = await connect(service, { as: 'ana' });
    const array = `[${'{"value":1},'.repeat(40_000)}{"value":2}]`;
    const sent = client.mqtt.publishAsync(`${topic}s`, array, { qos });
    const behind = client.mqtt.publishAsync(topic, '3', { qos });
    await Promise.all([sent, behind]);
    const got = (await reader.got(2)).map(({ payload }) => payload);
    assert.deepEqual([got[0] === array, got[1]], [true, '[{"value":3}]']);
    const path = `/devices/pub/sensors/${id}`;
    const [sensor, stored] = await Promise.all([
      service.as('ana')({ path }),
      service.as('ana')({ path: `${path}/values?limit=0` }),
    ]);
    assert.equal((sensor.json as { last_value: { value: number } }).last_value.value, 3);
    assert.equal(stored.headers.get('x-total-count'), '40002');
  });
}

test('a long array is refused, or its good elements are stored, as a short one is', async () => {
  const id = 'parts';
  await service.as('ana')({ method: 'POST', path: '/devices/pub/sensors', json: { id } });
  const topic = `devices/pub/sensors/${id}/values`;
  await using client = await connect(service, { as: 'ana' });
  const long = '{"value":1},'.repeat(20_000);
  await client.publish(topic, `[${long}nonsense,{"v":1},{"value":2}]`, { qos: 1 });
  for (const payload of [`[${long}{"value":1}`, `"${'x'.repeat(300_000)}"`]) {
    const refused = await client.mqtt.publishAsync(topic, payload, { qos: 1 }).catch((one) => one);
    assert.equal(refused.code ?? refused.reasonCode, 0x99);
  }
  const { headers } = await service.as('ana')({
    path: `/devices/pub/sensors/${id}/values?limit=0`,
  });
  assert.equal(headers.get('x-total-count'), '20001');
});
