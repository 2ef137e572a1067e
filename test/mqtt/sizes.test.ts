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
