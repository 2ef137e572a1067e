import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertRefused } from './refusal.ts';
import { doorOf, minute, openSensor, valuesOf } from './sensor-endpoint.ts';

interface Report {
  readonly stored: number;
  readonly refused: readonly { line: number; error: string; description: string }[];
  readonly refused_count: number;
}

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const path = '/sensors_data';
const lines = (elements: readonly unknown[]) =>
  elements.map((element) => `${JSON.stringify(element)}\n`).join('');
const pushArray = (json: unknown, token?: string) =>
  service.call({ method: 'POST', path, json, ...(token !== undefined && { token }) });
const pushLines = (body: string | Uint8Array) =>
  service.call({ method: 'POST', path, body, type: 'application/x-ndjson' });

function reportOf(reply: Reply): Report {
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Report;
}

async function openDevice(sensors: readonly string[], token?: string): Promise<string> {
  const id = `bulk-${randomUUID()}`;
  const json = { id, sensors: sensors.map((sensor) => ({ id: sensor })), visibility: 'private' };
  const reply = await service.call({
    method: 'POST',
    path: '/devices',
    json,
    ...(token !== undefined && { token }),
  });
  assert.equal(reply.status, 204, reply.text);
  return id;
}

test('an array with datapoints of several devices reaches every sensor', async () => {
  const [one, two] = [await openDevice(['TC1', 'SM1']), await openDevice(['TC1'])];
  const reply = await pushArray([
    { device_id: one, sensor_id: 'TC1', value: 1, timestamp: minute(1) },
    { device_id: two, sensor_id: 'TC1', value: 'text', timestamp: minute(2) },
    { device_id: one, sensor_id: 'SM1', value: { a: [1, null] } },
    { device_id: one, sensor_id: 'TC1', value: 3, timestamp: minute(0) },
  ]);
  assert.deepEqual(reportOf(reply), { stored: 4, refused: [], refused_count: 0 });
  assert.deepEqual(valuesOf(await doorOf(service, one, 'TC1').all()), [3, 1]);
  assert.deepEqual(valuesOf(await doorOf(service, two, 'TC1').all()), ['text']);
  const [structure] = await doorOf(service, one, 'SM1').all();
  assert.deepEqual(structure?.value, { a: [1, null] });
  assert.equal(structure?.timestamp, undefined);
});

test('the last value is the newest by timestamp of the request', async () => {
  const sensor = await openSensor(service);
  const { deviceId: device_id, sensorId: sensor_id } = sensor;
  await pushArray([
    { device_id, sensor_id, value: 'new', timestamp: minute(2) },
    { device_id, sensor_id, value: 'old', timestamp: minute(1) },
  ]);
  assert.equal(((await sensor.get())['last_value'] as { value: string }).value, 'new');
});

test('each refused line tells its number and why, and the others are stored', async () => {
  const device_id = await openDevice(['TC1']);
  const ok = { device_id, sensor_id: 'TC1', value: 1 };
  const body =
    `${JSON.stringify(ok)}\n` +
    '{"device_id":\r\n' +
    '\n' +
    lines([
      { ...ok, device_id: 'nowhere' },
      { ...ok, sensor_id: 'none' },
      { ...ok, device_id: 'a b' },
      { device_id, sensor_id: 'TC1' },
      { ...ok, timestamp: 'yesterday' },
      { ...ok, timestamp: '2999-01-01T00:00:00Z' },
      [ok],
    ]) +
    JSON.stringify({ ...ok, value: 2 });
  const { stored, refused, refused_count } = reportOf(await pushLines(body));
  assert.equal(stored, 2);
  assert.equal(refused_count, 8);
  assert.deepEqual(
    refused.map(({ line, error }) => [line, error]),
    [
      [2, 'invalid'],
      [4, 'not_found'],
      [5, 'not_found'],
      [6, 'invalid'],
      [7, 'invalid'],
      [8, 'invalid'],
      [9, 'invalid'],
      [10, 'invalid'],
    ],
  );
  assert.ok(refused.every(({ description }) => /\w \w/.test(description)));
  assert.deepEqual(valuesOf(await doorOf(service, device_id, 'TC1').all()), [1, 2]);
});

test('rights are those of single pushes, device by device', async () => {
  const ama = await service.tokenOf('ama');
  const kofi = await service.tokenOf('kofi');
  const [hers, everybodys] = [await openDevice(['TC1'], ama), await openDevice(['TC1'])];
  const both = [hers, everybodys].map((device_id) => ({ device_id, sensor_id: 'TC1', value: 1 }));
  assert.equal(reportOf(await pushArray(both, ama)).stored, 2);
  for (const token of [kofi, undefined]) {
    const { stored, refused } = reportOf(await pushArray(both, token));
    assert.equal(stored, 1);
    assert.deepEqual(
      refused.map(({ line, error }) => [line, error]),
      [[1, 'forbidden']],
    );
  }
});

test('the same request twice is stored once, and both answers count it as stored', async () => {
  const sensor = await openSensor(service);
  const body = lines(
    [1, 2, 3].map((n) => ({
      device_id: sensor.deviceId,
      sensor_id: sensor.sensorId,
      value: n,
      timestamp: minute(n),
    })),
  );
  assert.equal(reportOf(await pushLines(body)).stored, 3);
  assert.equal(reportOf(await pushLines(body)).stored, 3);
  assert.equal((await sensor.all()).length, 3);
});

test('50 000 lines keep their order, and of 1 500 refused ones 1 000 are told', async () => {
  const sensor = await openSensor(service);
  const body = lines(
    Array.from({ length: 50_000 }, (_, n) => ({
      device_id: sensor.deviceId,
      sensor_id: n < 1_500 ? 'none' : sensor.sensorId,
      value: n,
    })),
  );
  const { stored, refused, refused_count } = reportOf(await pushLines(body));
  assert.deepEqual([stored, refused_count, refused.length], [48_500, 1_500, 1_000]);
  assert.deepEqual([refused[0]?.line, refused.at(-1)?.line], [1, 1_000]);
  const values = valuesOf(await sensor.all());
  assert.equal(values.length, 48_500);
  assert.ok(values.every((value, index) => value === index + 1_500));
});

test('a line beyond a megabyte or not in UTF-8 is refused alone', async () => {
  const sensor = await openSensor(service);
  const one = { device_id: sensor.deviceId, sensor_id: sensor.sensorId };
  const large = JSON.stringify({ ...one, value: 'x'.repeat(1_100_000) });
  const good = JSON.stringify({ ...one, value: 'é' });
  const broken = Buffer.from(`${good.slice(0, -3)}\xff"}`, 'latin1');
  const body = Buffer.concat([Buffer.from(`${large}\n`), broken, Buffer.from(`\n${good}\n`)]);
  const byLine = reportOf(await pushLines(body));
  assert.deepEqual(
    byLine.refused.map(({ line, error }) => [line, error]),
    [
      [1, 'too_large'],
      [2, 'invalid'],
    ],
  );
  const byArray = reportOf(
    await service.call({
      method: 'POST',
      path,
      body: `[${large}, ${good}]`,
      type: 'application/json',
    }),
  );
  assert.deepEqual([byArray.stored, byArray.refused[0]?.line], [1, 1]);
  assert.deepEqual(valuesOf(await sensor.all()), ['é', 'é']);
});

test('an array that breaks off is refused, and the answer counts what was stored', async () => {
  const sensor = await openSensor(service);
  const element = JSON.stringify({ device_id: sensor.deviceId, sensor_id: 'TC1', value: 1 });
  const send = (body: string) =>
    service.call({ method: 'POST', path, body, type: 'application/json' });
  assertRefused(await send(`[${element},${element},{"dev`), 400);
  assertRefused(await send(`[${element}] []`), 400);
  assertRefused(await send(element), 400, { saying: /array/ });
  assertRefused(await send(''), 400);
  assert.equal(reportOf(await send(`[${element},,${element},]`)).refused_count, 2);
  assert.deepEqual(reportOf(await send(' [ ] ')), { stored: 0, refused: [], refused_count: 0 });
  assert.deepEqual(reportOf(await pushLines('')), { stored: 0, refused: [], refused_count: 0 });
});

test('other content types, and a bad token, are refused', async () => {
  const reply = await service.call({ method: 'POST', path, body: 'x', type: 'text/plain' });
  assertRefused(reply, 415, { saying: /ndjson/ });
  assertRefused(await pushArray([], 'no such token'), 401);
  assertRefused(await service.call({ method: 'DELETE', path }), 405);
});

test('when the store refuses, the answer is 503 and says how many lines are stored', async () => {
  let commits = 0;
  await using failing = await startService({
    wrapStorage: (storage) => ({
      ...storage,
      datapoints: {
        ...storage.datapoints,
        append: async (batch) => {
          // A long push takes its turn without its datapoints before it is stored.
          if (batch.some((push) => push.batch.count > 0)) commits += 1;
          if (commits > 1) throw new DomainError('storage_full', 'the disk is full');
          return storage.datapoints.append(batch);
        },
      },
    }),
  });
  const sensor = await openSensor(failing);
  const body = lines(
    Array.from({ length: 40_000 }, (_, value) => ({
      device_id: sensor.deviceId,
      sensor_id: 'TC1',
      value,
    })),
  );
  const reply = await failing.call({ method: 'POST', path, body, type: 'application/x-ndjson' });
  assertRefused(reply, 507, { saying: /the disk is full; \d+ lines before it are stored/ });
  const counted = Number(/; (\d+) lines/.exec(reply.text)?.[1]);
  assert.equal((await sensor.all()).length, counted);
});

test('a client that leaves in the middle keeps what was stored and harms nobody', async () => {
  const sensor = await openSensor(service);
  const line = lines([{ device_id: sensor.deviceId, sensor_id: 'TC1', value: 1 }]);
  const client = request(`${service.url}/api/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const failed = new Promise((resolve) => client.once('error', resolve));
  await new Promise((resolve) => client.write(line, resolve));
  client.destroy(new Error('left'));
  await failed;
  assert.equal(reportOf(await pushLines(line)).stored, 1);
});
