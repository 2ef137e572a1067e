import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readCsvTexts } from '../csv-reader.ts';
import { type Service, startService } from '../service.ts';
import { assertDone } from './refusal.ts';
import { datapointsOf, minute, refusalOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
  for (const id of ['ma-1', 'ma-2']) {
    const json = { id, sensors: [{ id: 'TC1' }, { id: 'SM1' }] };
    const reply = await service.call({ method: 'POST', path: '/devices', json });
    assert.equal(reply.status, 204, reply.text);
    for (const [sensor, base] of [
      ['TC1', 0],
      ['SM1', 1_000],
    ] as const) {
      const values = Array.from({ length: 90 }, (_, n) => ({
        value: base + n,
        timestamp: minute(n),
      }));
      const path = `/devices/${id}/sensors/${sensor}/values`;
      assert.equal((await service.call({ method: 'POST', path, json: values })).status, 204);
    }
  }
});

after(() => service[Symbol.asyncDispose]());

const read = (query: string) => service.call({ path: `/sensors_data?${query}` });

test('buckets of many sensors name their sensor and come in order of time', async () => {
  const reply = await read('device_id=ma-1,ma-2&sensor_id=TC1&aggregate=avg&interval=1h');
  const bucket = (device_id: string, at: number, value: number) => ({
    device_id,
    sensor_id: 'TC1',
    timestamp: minute(at),
    value,
  });
  assert.deepEqual(reply.json, [
    bucket('ma-1', 0, 29.5),
    bucket('ma-2', 0, 29.5),
    bucket('ma-1', 60, 74.5),
    bucket('ma-2', 60, 74.5),
  ]);
  assert.equal(reply.headers.get('x-total-count'), '4');
  assert.equal(reply.headers.get('x-skipped-count'), '0');
});

test('without sensor_id all sensors of a device are aggregated, each for itself', async () => {
  const reply = await read('device_id=ma-1&aggregate=min,max');
  assert.deepEqual(reply.json, [
    { device_id: 'ma-1', sensor_id: 'TC1', timestamp: minute(0), min: 0, max: 89 },
    { device_id: 'ma-1', sensor_id: 'SM1', timestamp: minute(0), min: 1_000, max: 1_089 },
  ]);
});

test('lastN counts for each sensor, limit and sort for the buckets of all', async () => {
  const last = await read('device_id=ma-1&aggregate=count,min&lastN=10&sort=asc');
  assert.deepEqual(
    (last.json as { count: number; min: number }[]).map(({ count, min }) => [count, min]),
    [
      [10, 80],
      [10, 1_080],
    ],
  );
  const page = await read('device_id=ma-1&aggregate=max&interval=30m&sort=dsc&limit=2');
  assert.deepEqual(
    (page.json as { timestamp: string }[]).map(({ timestamp }) => timestamp),
    [minute(60), minute(60)],
  );
});

test('thousands of buckets are a list like a few, of one sensor and of many', async () => {
  const count = 6_000;
  const sensors = [{ id: 'A' }, { id: 'B' }];
  const json = { id: 'ma-long', sensors };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  for (const { id } of sensors) {
    const values = Array.from({ length: count }, (_, n) => ({
      value: n / 8,
      timestamp: minute(n),
    }));
    const path = `/devices/ma-long/sensors/${id}/values`;
    assert.equal((await service.call({ method: 'POST', path, json: values })).status, 204);
  }
  const ofOne = (n: number) => ({ timestamp: minute(n), value: n / 8 });
  const one = await service.call({
    path: `/devices/ma-long/sensors/A/values?aggregate=avg&interval=1m&limit=${count}&sort=asc`,
  });
  const all = Array.from({ length: count }, (_, n) => ofOne(n));
  assert.deepEqual(one.json, all);
  const both = all.flatMap((bucket) =>
    sensors.map(({ id }) => ({ device_id: 'ma-long', sensor_id: id, ...bucket })),
  );
  const query = 'device_id=ma-long&aggregate=avg&interval=1m';
  assert.deepEqual((await read(`${query}&sort=asc&limit=${2 * count}`)).json, both);
  const newest = await read(`${query}&sort=dsc&limit=5001&offset=3`);
  assert.deepEqual(newest.json, both.toReversed().slice(3, 5_004));
});

test('buckets of many sensors are CSV under the same header as those of one', async () => {
  const reply = await read('device_id=ma-2&sensor_id=SM1&aggregate=sum&interval=1h&format=csv');
  assert.deepEqual(readCsvTexts(reply.text), [
    ['device_id', 'sensor_id', 'timestamp', 'value'],
    ['ma-2', 'SM1', minute(0), '61770'],
    ['ma-2', 'SM1', minute(60), '32235'],
  ]);
});

test('points counts for each sensor, and the datapoints that are left are merged', async () => {
  const downsampled = datapointsOf(await read('device_id=ma-1&points=4'));
  assert.deepEqual(
    downsampled.map(({ sensor_id, timestamp }) => [sensor_id, timestamp]),
    [
      ['TC1', minute(0)],
      ['SM1', minute(0)],
      ['TC1', minute(89)],
      ['SM1', minute(89)],
    ],
  );
  const newestFirst = datapointsOf(await read('device_id=ma-1&sensor_id=TC1&points=4&sort=dsc'));
  assert.deepEqual(
    newestFirst.map(({ value }) => value),
    [89, 0],
  );
});

test('more points than one answer holds are refused', async () => {
  const json = { id: 'ma-wide', sensors: Array.from({ length: 11 }, (_, n) => ({ id: `S${n}` })) };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  assert.equal((await read('device_id=ma-wide&points=9000')).status, 200);
  const refused = refusalOf(await read('device_id=ma-wide&points=10000'), 400, 'invalid');
  assert.match(refused, /ask for fewer points/);
});

test('one device whose data is private refuses the aggregate of all', async () => {
  const owner = service.as('alice');
  const json = { id: 'ma-private', visibility: 'private', sensors: [{ id: 'TC1' }] };
  assert.equal((await owner({ method: 'POST', path: '/devices', json })).status, 204);
  for (const summary of ['aggregate=avg', 'points=10']) {
    const path = `/sensors_data?device_id=ma-1,ma-private&sensor_id=TC1&${summary}`;
    assert.equal((await owner({ path })).status, 200);
    for (const other of ['guest', 'mallory']) {
      refusalOf(await service.as(other)({ path }), 403, 'forbidden');
    }
    refusalOf(await read(`device_id=none&${summary}`), 404, 'not_found');
    refusalOf(await read(summary), 400, 'invalid');
  }
});

test('across=devices answers one bucket for all sensors together', async () => {
  const reply = await read(
    'device_id=ma-1,ma-2&sensor_id=TC1&aggregate=sum,avg,min,max,count,increase&interval=1h' +
      '&across=devices',
  );
  assert.deepEqual(reply.json, [
    { timestamp: minute(0), sum: 3_540, avg: 29.5, min: 0, max: 59, count: 120, increase: 118 },
    { timestamp: minute(60), sum: 4_470, avg: 74.5, min: 60, max: 89, count: 60, increase: 60 },
  ]);
  assert.equal(reply.headers.get('x-total-count'), '2');
  const latest = await read(
    'device_id=ma-1,ma-2&aggregate=count&interval=1h&across=devices&sort=dsc&limit=1',
  );
  assert.deepEqual(latest.json, [{ timestamp: minute(60), value: 120 }]);
  const whole = await read('device_id=ma-1,ma-2&aggregate=max&across=devices');
  assert.deepEqual(whole.json, [{ timestamp: minute(0), value: 1_089 }]);
  const csv = await read('device_id=ma-1&aggregate=max&across=devices&format=csv');
  assert.deepEqual(readCsvTexts(csv.text), [
    ['timestamp', 'value'],
    [minute(0), '1089'],
  ]);
});

test('across needs an aggregate that sensors have together', async () => {
  for (const query of [
    'across=devices',
    'points=5&across=devices',
    'aggregate=first&across=devices',
  ]) {
    refusalOf(await read(`device_id=ma-1&${query}`), 400, 'invalid');
  }
});

test('q and project_id name devices, and pass over what may not be viewed', async () => {
  const total = 'sensor_id=TC1&aggregate=count&across=devices';
  assert.deepEqual((await read(`q=id~=^ma-&${total}`)).json, [
    { timestamp: minute(0), value: 180 },
  ]);
  const json = { name: 'both', device_ids: ['ma-1', 'nowhere'] };
  const made = await service.call({ method: 'POST', path: '/projects', json });
  const ofProject = await read(`project_id=${made.text}&${total}`);
  assert.deepEqual(ofProject.json, [{ timestamp: minute(0), value: 90 }]);
  assert.equal((await read(`q=id==nowhere&${total}`)).status, 404);
  assert.equal((await read(`project_id=nowhere&${total}`)).status, 404);
  assert.equal((await read(`q=id==ma-1&device_id=ma-1&${total}`)).status, 400);
});

test('more devices come to totals than one read merges', async () => {
  const ids = Array.from({ length: 105 }, (_, at) => `meter-${at}`);
  for (const id of ids) {
    assertDone(await service.call({ method: 'POST', path: '/devices', json: { id } }));
    const path = `/devices/${id}/sensors`;
    assertDone(await service.call({ method: 'POST', path, json: { id: 'E' } }));
    const json = { value: 2, timestamp: minute(0) };
    const push = { method: 'POST', path: `${path}/E/value`, json };
    assertDone(await service.call(push));
  }
  const json = { name: 'meters', device_ids: ids };
  const made = await service.call({ method: 'POST', path: '/projects', json });
  const totals = 'sensor_id=E&aggregate=sum&across=devices';
  for (const named of [`project_id=${made.text}`, 'q=id~=^meter-', `device_id=${ids}`]) {
    const { json: sums } = await read(`${named}&${totals}`);
    assert.deepEqual(sums, [{ timestamp: minute(0), value: 210 }], named.slice(0, 20));
    refusalOf(await read(`${named}&sensor_id=E`), 400, 'invalid');
    refusalOf(await read(`${named}&sensor_id=E&aggregate=sum`), 400, 'invalid');
  }
});
