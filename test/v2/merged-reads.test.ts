import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { readCsvTexts } from '../csv-reader.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertRefused } from './refusal.ts';
import { datapointsOf, minute, valuesOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

interface Row {
  readonly device_id: string;
  readonly sensor_id: string;
  readonly value: unknown;
  readonly timestamp?: string;
}

async function openDevice(sensors: readonly string[], username = 'guest'): Promise<string> {
  const id = `merge-${randomUUID()}`;
  const json = { id, visibility: 'private', sensors: sensors.map((sensor) => ({ id: sensor })) };
  const reply = await service.as(username)({ method: 'POST', path: '/devices', json });
  assert.equal(reply.status, 204, reply.text);
  return id;
}

async function push(rows: readonly Row[]): Promise<void> {
  const reply = await service.as('admin')({ method: 'POST', path: '/sensors_data', json: rows });
  assert.deepEqual(reply.json, { stored: rows.length, refused: [], refused_count: 0 });
}

const read = (query: string, username = 'guest'): Promise<Reply> =>
  service.as(username)({ path: `/sensors_data?${query}` });

test('datapoints of all named sensors are merged in order of time', async () => {
  const [a, b] = [await openDevice(['S1', 'S2']), await openDevice(['S1', 'S3'])];
  await push([
    { device_id: a, sensor_id: 'S1', value: 1, timestamp: minute(1) },
    { device_id: a, sensor_id: 'S1', value: 4, timestamp: minute(4) },
    { device_id: a, sensor_id: 'S2', value: 2, timestamp: minute(2) },
    { device_id: b, sensor_id: 'S1', value: 3, timestamp: minute(3) },
    { device_id: b, sensor_id: 'S3', value: 0, timestamp: minute(0) },
  ]);
  const both = await read(`device_id=${a},${b}`);
  assert.deepEqual(valuesOf(datapointsOf(both)), [0, 1, 2, 3, 4]);
  assert.equal(both.headers.get('x-total-count'), '5');
  const [first] = datapointsOf(both);
  assert.deepEqual([first?.device_id, first?.sensor_id], [b, 'S3']);
  const values = async (query: string) => valuesOf(datapointsOf(await read(query)));
  assert.deepEqual(await values(`device_id=${a}&device_id=${b}&sensor_id=S1`), [1, 3, 4]);
  assert.deepEqual(await values(`device_id=${a}&sensor_id=S1,S2&sort=dsc`), [4, 2, 1]);
  assert.deepEqual(await values(`device_id=${a},${b}&lastN=2`), [4, 3]);
  assert.deepEqual(await values(`device_id=${a},${b}&lastN=2&sort=asc`), [3, 4]);
  assert.deepEqual(await values(`device_id=${a},${b}&limit=2&offset=1`), [1, 2]);
  assert.deepEqual(
    await values(`device_id=${a},${b}&dateFrom=${minute(1)}&date_to=${minute(3)}`),
    [1, 2, 3],
  );
});

test('a merged page equals the same page of everything sorted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ sensor: fc.nat({ max: 4 }), at: fc.nat({ max: 30 }) }), {
        maxLength: 60,
      }),
      fc.nat({ max: 70 }),
      fc.nat({ max: 70 }),
      fc.boolean(),
      async (points, offset, limit, isDescending) => {
        const sensors = ['S0', 'S1', 'S2', 'S3', 'S4'];
        const device_id = await openDevice(sensors);
        const rows = points.map(({ sensor, at }, value) => ({
          device_id,
          sensor_id: `S${sensor}`,
          value,
          timestamp: minute(at),
        }));
        await push(rows);
        const sort = isDescending ? 'dsc' : 'asc';
        const reply = await read(
          `device_id=${device_id}&offset=${offset}&limit=${limit}&sort=${sort}`,
        );
        const expected = rows.toSorted((x, y) => x.timestamp.localeCompare(y.timestamp));
        if (isDescending) expected.reverse();
        const times = (list: readonly { timestamp?: string }[]) =>
          list.map(({ timestamp }) => timestamp);
        assert.deepEqual(times(datapointsOf(reply)), times(expected.slice(offset, offset + limit)));
        const all = datapointsOf(await read(`device_id=${device_id}&limit=100&sort=${sort}`));
        assert.deepEqual(new Set(valuesOf(all)), new Set(rows.map(({ value }) => value)));
      },
    ),
    { numRuns: 25 },
  );
});

test('a long answer streams all of 30 000 datapoints once, as JSON and as CSV', async () => {
  const device_id = await openDevice(['S0', 'S1', 'S2']);
  const rows = Array.from({ length: 30_000 }, (_, n) => ({
    device_id,
    sensor_id: `S${n % 3}`,
    value: n,
    timestamp: minute(n),
  }));
  await push(rows);
  const numbers = rows.map(({ value }) => value);
  const json = datapointsOf(await read(`device_id=${device_id}&limit=1000000`));
  assert.deepEqual(valuesOf(json), numbers);
  const csv = await read(`device_id=${device_id}&limit=1000000&format=csv`);
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  assert.deepEqual(
    readCsvTexts(csv.text)
      .slice(1)
      .map((record) => Number(record[2])),
    numbers,
  );
});

test('an export is one CSV: sensor after sensor, oldest first, raw values', async () => {
  const device_id = await openDevice(['B', 'A']);
  const calib = {
    linear: {
      enabled: true,
      value_min: { sensor_value: 0, real_value: 10 },
      value_max: { sensor_value: 1, real_value: 11 },
    },
  };
  const put = await service.call({
    method: 'PUT',
    path: `/devices/${device_id}/sensors/A/calib`,
    json: calib,
  });
  assert.equal(put.status, 204, put.text);
  await push([
    { device_id, sensor_id: 'A', value: 2, timestamp: minute(2) },
    { device_id, sensor_id: 'B', value: 3, timestamp: minute(3) },
    { device_id, sensor_id: 'A', value: 1, timestamp: minute(1) },
  ]);
  const reply = await service.call({ path: `/devices/${device_id}/export` });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('content-disposition'), `attachment; filename="${device_id}.csv"`);
  const cells = (text: string) =>
    readCsvTexts(text)
      .slice(1)
      .map((record) => [record[1], record[2]]);
  assert.deepEqual(cells(reply.text), [
    ['B', '3'],
    ['A', '1'],
    ['A', '2'],
  ]);
  const calibrated = await service.call({
    path: `/devices/${device_id}/export?calibrated=true&dateFrom=${minute(2)}`,
  });
  assert.deepEqual(cells(calibrated.text), [
    ['B', '3'],
    ['A', '12'],
  ]);
});

test('every named device must be viewable, and every named sensor on one of them', async () => {
  const hers = await openDevice(['S1'], 'ama');
  const open = await openDevice(['S1', 'S2']);
  assert.equal((await read(`device_id=${hers},${open}`, 'ama')).status, 200);
  for (const username of ['guest', 'kofi']) {
    assertRefused(await read(`device_id=${open},${hers}`, username), 403);
    const path = `/devices/${hers}/export`;
    assertRefused(await service.as(username)({ path }), 403);
  }
  assertRefused(await read(`device_id=${open},nowhere`), 404);
  assert.equal((await read(`device_id=${open},${hers}&sensor_id=S2`, 'ama')).status, 200);
  assertRefused(await read(`device_id=${open},${hers}&sensor_id=S3`, 'ama'), 404);
  assertRefused(await service.call({ path: '/devices/nowhere/export' }), 404);
  assertRefused(await read('sensor_id=S1'), 400, { saying: /device_id/ });
  assertRefused(await read('device_id=,'), 400, { saying: /device_id/ });
  assertRefused(await read('device_id=a%20b'), 400);
  const many = Array.from({ length: 101 }, (_, n) => `d${n}`).join(',');
  assertRefused(await read(`device_id=${many}`), 400, { saying: /100/ });
});
