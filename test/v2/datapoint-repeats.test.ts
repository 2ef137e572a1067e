import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { doorOf, minute, openSensor, type SensorEndpoint, valuesOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

async function lastValueOf(sensor: SensorEndpoint): Promise<unknown> {
  const { last_value: lastValue } = await sensor.get();
  return (lastValue as { value?: unknown } | undefined)?.value;
}

test('a single datapoint that is pushed again is stored once', async () => {
  const sensor = await openSensor(service);
  for (let time = 0; time < 3; time += 1) await sensor.push({ value: 1.5, timestamp: minute(1) });
  assert.deepEqual(valuesOf(await sensor.all()), [1.5]);
});

test('the same moment and value in other spellings is the same datapoint', async () => {
  const sensor = await openSensor(service);
  await sensor.send('{"value":1.5,"timestamp":"2016-06-08T18:20:27.873Z"}');
  await sensor.send('{"value":1.50,"timestamp":"2016-06-08T20:20:27.873+02:00"}');
  await sensor.send('{"timestamp":"2016-06-08T18:20:27.873","value":15e-1}');
  assert.deepEqual(valuesOf(await sensor.all()), [1.5]);
});

test('an array that is pushed again, whole or in part, adds only what is new', async () => {
  const sensor = await openSensor(service);
  const points = [1, 2, 3, 4].map((n) => ({ value: n, timestamp: minute(n) }));
  await sensor.push(points.slice(0, 3));
  await sensor.push(points.slice(0, 3));
  await sensor.push(points.slice(1));
  assert.deepEqual(valuesOf(await sensor.all()), [1, 2, 3, 4]);
});

test('a repeat inside one array is stored once', async () => {
  const sensor = await openSensor(service);
  const twin = { value: { t: [1] }, timestamp: minute(1) };
  await sensor.push([twin, { value: 2, timestamp: minute(1) }, twin, twin]);
  assert.deepEqual(valuesOf(await sensor.all()), [{ t: [1] }, 2]);
});

test('repeats that arrive at the same time are stored once', async () => {
  const sensor = await openSensor(service);
  const points = Array.from({ length: 10 }, (_, n) => ({ value: n, timestamp: minute(n) }));
  await Promise.all(Array.from({ length: 20 }, () => sensor.push(points)));
  assert.equal((await sensor.all()).length, 10);
});

test('another value or another kind of value at the same timestamp is kept', async () => {
  const sensor = await openSensor(service);
  const values = [25, '25', [25], true, 'true', null, 'null', { value: 25 }, 25.000000000000004];
  await sensor.push(values.map((value) => ({ value, timestamp: minute(1) })));
  for (const value of values) await sensor.push({ value, timestamp: minute(1) });
  assert.deepEqual(valuesOf(await sensor.all()), values);
});

test('numbers that differ only beyond the digits of a double are different values', async () => {
  const sensor = await openSensor(service);
  const timestamp = minute(1);
  for (const digits of ['12345678901234567890', '12345678901234567891', '12345678901234567890']) {
    await sensor.send(`{"value":${digits},"timestamp":"${timestamp}"}`);
  }
  const { text } = await sensor.read();
  assert.deepEqual(text.match(/\d{20}/g), ['12345678901234567890', '12345678901234567891']);
});

test('equal values without a timestamp are separate measurements', async () => {
  const sensor = await openSensor(service);
  await sensor.push([{ value: 1 }, { value: 1 }]);
  await sensor.push({ value: 1 });
  assert.deepEqual(valuesOf(await sensor.all()), [1, 1, 1]);
});

test('the same datapoint of two sensors is stored for both', async () => {
  const endpoints = [await openSensor(service), await openSensor(service)];
  for (const endpoint of endpoints) await endpoint.push({ value: 1, timestamp: minute(1) });
  for (const endpoint of endpoints) assert.deepEqual(valuesOf(await endpoint.all()), [1]);
});

test('the last value is the one pushed last, even when it was measured earlier', async () => {
  const sensor = await openSensor(service);
  await sensor.push({ value: 'newer', timestamp: minute(9) });
  await sensor.push({ value: 'older', timestamp: minute(1) });
  assert.equal(await lastValueOf(sensor), 'older');
  await sensor.push({ value: 'undated' });
  assert.equal(await lastValueOf(sensor), 'undated');
});

test('of one array the newest by timestamp is the last value', async () => {
  const sensor = await openSensor(service);
  await sensor.push([
    { value: 'second', timestamp: minute(2) },
    { value: 'third', timestamp: minute(3) },
    { value: 'first', timestamp: minute(1) },
  ]);
  assert.equal(await lastValueOf(sensor), 'third');
});

test('of one array without timestamps the last element is the last value', async () => {
  const sensor = await openSensor(service);
  await sensor.push([{ value: 'a' }, { value: 'c' }, { value: 'b' }]);
  assert.equal(await lastValueOf(sensor), 'b');
});

test('a resent old datapoint does not take the place of the last value', async () => {
  const sensor = await openSensor(service);
  await sensor.push({ value: 'old', timestamp: minute(1) });
  await sensor.push({ value: 'new', timestamp: minute(2) });
  await sensor.push({ value: 'old', timestamp: minute(1) });
  assert.equal(await lastValueOf(sensor), 'new');
});

test('values, last values and the knowledge of repeats survive a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  try {
    const points = [3, 1, 2].map((n) => ({ value: n, timestamp: minute(n) }));
    let deviceId: string;
    {
      await using first = await startService({ directory });
      const sensor = await openSensor(first);
      await sensor.push(points);
      await sensor.push({ value: 'undated' });
      deviceId = sensor.deviceId;
    }
    await using second = await startService({ directory });
    const sensor = doorOf(second, deviceId, 'TC1');
    assert.deepEqual(valuesOf(await sensor.all()), [1, 2, 3, 'undated']);
    assert.equal(await lastValueOf(sensor), 'undated');
    await sensor.push(points);
    await sensor.push({ value: 2, timestamp: minute(2) });
    assert.deepEqual(valuesOf(await sensor.all()), [1, 2, 3, 'undated']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
