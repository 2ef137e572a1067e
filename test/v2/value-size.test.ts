import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../mqtt/mqtt-clients.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { openSensor, valuesOf } from './sensor-endpoint.ts';

const bytesMax = 65_536;
/** As JSON text, with its quotes, exactly the limit. */
const largest = 'x'.repeat(bytesMax - 2);
const tooLarge = `${largest}x`;
const saying = /65536 bytes.*KIPIMO_VALUE_BYTES_MAX/;

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

test('a value up to the limit is stored, one byte more is 413 and nothing is', async () => {
  const sensor = await openSensor(service);
  assertDone(await sensor.send(largest, { type: 'text/plain', to: 'value' }));
  const wide = 'é'.repeat(bytesMax / 2 - 1);
  assertDone(await sensor.send(JSON.stringify({ value: wide })));
  for (const to of ['value', 'values'] as const) {
    const bodies = [JSON.stringify(tooLarge), JSON.stringify({ value: [tooLarge] }), `"${wide}é"`];
    for (const body of bodies) assertRefused(await sensor.send(body, { to }), 413, { saying });
    assertRefused(await sensor.send(tooLarge, { to, type: 'text/plain' }), 413, { saying });
    const csv = `timestamp,value\n2026-01-01T00:00:00Z,${tooLarge}\n`;
    assertRefused(await sensor.send(csv, { to, type: 'text/csv' }), 413, { saying });
  }
  const many = JSON.stringify([{ value: 1 }, { value: tooLarge }]);
  const others = await sensor.send(many);
  assertDone(others);
  assert.equal(others.headers.get('x-refused'), '1');
  const none = JSON.stringify([{ value: tooLarge }, { value: tooLarge }]);
  assertRefused(await sensor.send(none), 413, { saying: /of datapoint 1/ });
  assert.deepEqual(valuesOf(await sensor.all()), [largest, wide, 1]);
});

test('in bulk a value that is too large is a refused line, and the others are stored', async () => {
  const { deviceId, sensorId, all } = await openSensor(service);
  const values = [1, tooLarge, 2];
  const json = values.map((value) => ({ device_id: deviceId, sensor_id: sensorId, value }));
  const reply = await service.call({ method: 'POST', path: '/sensors_data', json });
  const { stored, refused } = reply.json as {
    stored: number;
    refused: { line: number; error: string }[];
  };
  assert.equal(stored, 2);
  assert.deepEqual(
    refused.map(({ line, error }) => [line, error]),
    [[2, 'too_large']],
  );
  const body = `m,device_id=${deviceId} ${sensorId}="${tooLarge}"`;
  const line = await service.call({ method: 'POST', path: '/write', body });
  assert.equal(line.status, 400, line.text);
  assert.deepEqual(valuesOf(await all()), [1, 2]);
});

test('over MQTT a value that is too large is acknowledged and not stored', async () => {
  const { deviceId, sensorId, all } = await openSensor(service);
  await using client = await connect(service, { protocolVersion: 4 });
  await client.publish(`devices/${deviceId}/sensors/${sensorId}/value`, tooLarge, { qos: 1 });
  await client.publish(`devices/${deviceId}/sensors/${sensorId}/value`, 7, { qos: 1 });
  assert.deepEqual(valuesOf(await all()), [7]);
});

test('an actuator takes no larger value either', async () => {
  const path = '/devices/pumps/actuators/p';
  const json = { id: 'pumps', actuators: [{ id: 'p' }] };
  assertDone(await service.call({ method: 'POST', path: '/devices', json }));
  assertRefused(await service.call({ method: 'PUT', path: `${path}/value`, json: tooLarge }), 413);
  assertDone(await service.call({ method: 'PUT', path: `${path}/value`, json: largest }));
});

test('only an import by an administrator brings larger values, and they are readable', async () => {
  const sensor = await openSensor(service);
  const path = `${sensor.path}/values`;
  const headers = { 'kipimo-import': 'true' };
  const request = { method: 'POST', path, json: { value: tooLarge }, headers };
  for (const name of ['guest', 'ama']) {
    assertRefused(await service.as(name)(request), 413);
    assertRefused(await service.as(name)({ ...request, headers: {} }), 413);
  }
  assertRefused(await service.as('admin')({ ...request, headers: {} }), 413);
  assertDone(await service.as('admin')(request));
  assert.deepEqual(valuesOf(await sensor.all()), [tooLarge]);
  const { last_value: last } = (await sensor.get()) as { last_value: { value: string } };
  assert.equal(last.value, tooLarge);
});

test('KIPIMO_VALUE_BYTES_MAX sets the limit', async () => {
  await using small = await startService({ environment: { KIPIMO_VALUE_BYTES_MAX: '1024' } });
  const sensor = await openSensor(small);
  assertDone(await sensor.send(JSON.stringify('x'.repeat(1_022))));
  assertRefused(await sensor.send(JSON.stringify('x'.repeat(1_023))), 413, {
    saying: /1024 bytes/,
  });
});

test('the sensors and actuators of a device have 2 MiB together', async () => {
  const { deviceId } = await openSensor(service);
  const path = `/devices/${deviceId}`;
  const meta = { note: 'x'.repeat(60_000) };
  const put = (to: string, json: unknown, method: 'POST' | 'PUT' = 'POST') =>
    service.call({ method, path: `${path}${to}`, json });
  const parts = Math.floor((2 * 1_048_576) / 60_100);
  for (let at = 0; at < parts; at += 1) {
    const to = at % 2 === 0 ? '/sensors' : '/actuators';
    assertDone(await put(to, { id: `p${at}`, meta, ...(at % 2 && { actuator_kind: 'Valve' }) }));
  }
  const assertFull = (reply: Reply): void => {
    assert.equal(reply.status, 403, reply.text);
    assert.match(reply.text, /limit_reached.*2097152 bytes as JSON text/);
  };
  assertFull(await put('/sensors', { id: 'more', meta }));
  assertFull(await put('/actuators', { id: 'more', meta }));
  assertDone(await put('/sensors', { id: 'small' }));
  assertDone(await put('/actuators', { id: 'valve' }));
  assertFull(await put('/sensors/small/meta', meta, 'PUT'));
  assertFull(await put('/actuators/valve/value', meta, 'PUT'));
  assertDone(await put('/actuators/valve/value', 1, 'PUT'));
  assertDone(await put('/sensors/p0/meta', { note: 'short' }, 'PUT'));
  assertDone(await put('/sensors', { id: 'more', meta }));
});
