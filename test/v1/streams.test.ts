import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertEmpty, type V1Door, v1Door } from './service-in-v1.ts';

const count = 30_000;
let service: Service;
let v1: V1Door;

before(async () => {
  service = await startService();
  v1 = v1Door(service);
  const sensor = { id: 'S', measurements: [{ id: 'TC1' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json: sensor }));
  const start = Date.parse('2016-01-01T00:00:00Z');
  const json = Array.from({ length: count }, (_, index) => ({
    value: index,
    timestamp: new Date(start + index * 1_000).toISOString(),
  }));
  const path = '/sensors/S/measurements/TC1/values';
  assertEmpty(await v1({ method: 'POST', path, json }));
});

after(() => service[Symbol.asyncDispose]());

const inWordsOfV1 = (text: string): string =>
  text.replaceAll('"sensor_id":', '"measurement_id":').replaceAll('"device_id":', '"sensor_id":');

test('a long answer streams, and is that of version 2 in other words', async () => {
  const query = `values?limit=${count}`;
  const ofV1 = await v1({ path: `/sensors/S/measurements/TC1/${query}` });
  const ofV2 = await service.call({ path: `//api/v2/devices/S/sensors/TC1/${query}` });
  assert.equal(ofV1.headers.get('content-length'), null);
  assert.equal(ofV1.headers.get('x-total-count'), `${count}`);
  assert.equal((ofV1.json as readonly unknown[]).length, count);
  assert.ok(ofV1.text === inWordsOfV1(ofV2.text));
});

test('a long answer about many measurements streams in the words of version 1', async () => {
  const ofV1 = await v1({ path: `/sensors_data?sensor_id=S&limit=${count}` });
  const ofV2 = await service.call({ path: `//api/v2/sensors_data?device_id=S&limit=${count}` });
  assert.equal(ofV1.headers.get('content-length'), null);
  assert.ok(ofV1.text === inWordsOfV1(ofV2.text) && ofV1.text.length > count * 50);
});

test('a long push of many measurements is read while it arrives', async () => {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ sensor_id: 'S', measurement_id: 'TC1', value: `bulk ${index}` }),
  );
  const push = { method: 'POST', path: '/sensors_data', type: 'application/x-ndjson' };
  const { json } = await v1({ ...push, body: lines.join('\n') });
  assert.deepEqual(json, { stored: count, refused: [], refused_count: 0 });
});
