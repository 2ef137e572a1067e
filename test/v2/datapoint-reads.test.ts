import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import {
  datapointsOf,
  minute,
  openSensor,
  refusalOf,
  type SensorEndpoint,
} from './sensor-endpoint.ts';

let service: Service;
/** Values 0 to 24, one a minute, pushed in no particular order. */
let minutes: SensorEndpoint;

before(async () => {
  service = await startService();
  minutes = await openSensor(service);
  const numbers = Array.from({ length: 25 }, (_, n) => (n * 7) % 25);
  await minutes.push(numbers.map((n) => ({ value: n, timestamp: minute(n) })));
});

after(() => service[Symbol.asyncDispose]());

async function numbers(query: string): Promise<readonly unknown[]> {
  return datapointsOf(await minutes.read(query)).map(({ value }) => value);
}

/** first, first + step, … last. */
function series(first: number, last: number): readonly number[] {
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => first + step * index);
}

test('each item tells device, sensor, timestamp, value, date_received, no more', async () => {
  const [item] = datapointsOf(await minutes.read('?limit=1'));
  const { date_received: received, ...rest } = item ?? {};
  assert.deepEqual(rest, {
    device_id: minutes.deviceId,
    sensor_id: 'TC1',
    timestamp: minute(0),
    value: 0,
  });
  assert.match(String(received), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a read without parameters answers the 20 oldest, oldest first', async () => {
  const reply = await minutes.read();
  assert.deepEqual(datapointsOf(reply).length, 20);
  assert.deepEqual(await numbers(''), series(0, 19));
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
});

test('limit and offset page through all, and X-Total-Count has their number', async () => {
  assert.deepEqual(await numbers('?limit=10'), series(0, 9));
  assert.deepEqual(await numbers('?limit=10&offset=10'), series(10, 19));
  assert.deepEqual(await numbers('?limit=10&offset=20'), series(20, 24));
  assert.deepEqual(await numbers('?offset=25'), []);
  assert.deepEqual(await numbers('?limit=1000000'), series(0, 24));
  const page = await minutes.read('?limit=3&offset=4');
  assert.equal(page.headers.get('x-total-count'), '25');
  const range = await minutes.read(`?limit=3&dateFrom=${minute(20)}`);
  assert.equal(range.headers.get('x-total-count'), '5');
});

test('lastN answers the newest by timestamp, newest first', async () => {
  assert.deepEqual(await numbers('?lastN=5'), series(24, 20));
  assert.deepEqual(await numbers('?lastN=1'), [24]);
  assert.deepEqual(await numbers('?lastN=1000'), series(24, 0));
  assert.deepEqual(await numbers(`?lastN=3&dateTo=${minute(10)}`), series(10, 8));
});

test('sort=dsc answers newest first and pages from there', async () => {
  assert.deepEqual(await numbers('?sort=dsc&limit=3'), series(24, 22));
  assert.deepEqual(await numbers('?sort=dsc&limit=3&offset=3'), series(21, 19));
  assert.deepEqual(await numbers('?sort=asc&limit=3'), series(0, 2));
});

test('dateFrom and dateTo, in both spellings, include both ends', async () => {
  const between = series(5, 9);
  for (const [from, to] of [
    ['dateFrom', 'dateTo'],
    ['date_from', 'date_to'],
  ]) {
    assert.deepEqual(await numbers(`?${from}=${minute(5)}&${to}=${minute(9)}`), between);
    assert.deepEqual(await numbers(`?${from}=${minute(20)}`), series(20, 24));
    assert.deepEqual(await numbers(`?${to}=${minute(3)}`), series(0, 3));
  }
  assert.deepEqual(await numbers(`?dateFrom=${minute(9)}&dateTo=${minute(5)}`), []);
  assert.deepEqual(await numbers('?dateFrom=2016-06-08T00:05:00.001Z&limit=1'), [6]);
  assert.deepEqual(await numbers('?dateTo=2016-06-08T00:04:59.999Z&sort=dsc&limit=1'), [4]);
});

test('dates may have an offset, no zone, or a space where the URL lost its plus sign', async () => {
  const queries = [
    '?dateFrom=2016-06-08T02:05:00%2B02:00&dateTo=2016-06-08T02:09:00%2B02:00',
    '?dateFrom=2016-06-08T02:05:00+02:00&dateTo=2016-06-08T02:09:00+02:00',
    '?dateFrom=2016-06-07T22:05:00-02:00&dateTo=2016-06-07T22:09:00-02:00',
    '?dateFrom=2016-06-08T00:05:00&dateTo=2016-06-08T00:09',
    '?dateFrom=2016-06-08%2000:05:00&dateTo=2016-06-08+00:09:00',
  ];
  for (const query of queries) assert.deepEqual(await numbers(query), series(5, 9), query);
});

test('a parameter that makes no sense is refused by name', async () => {
  const wrong = {
    limit: ['-1', 'ten', '1.5'],
    offset: ['-1', 'x'],
    lastN: ['-5', 'all'],
    sort: ['up', 'DESC'],
    dateFrom: ['yesterday', '2016-02-30', '2016-06-08T25:00:00Z'],
    dateTo: ['1465410027'],
    calibrated: ['yes'],
    format: ['xml'],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const reply = await minutes.read(`?${name}=${encodeURIComponent(value)}`);
      const description = refusalOf(reply, 400, 'invalid');
      assert.ok(description.includes(name), `"${description}" must name ${name}`);
    }
  }
});

test('HEAD on the values answers the headers of GET and no body', async () => {
  const reply = await service.call({ method: 'HEAD', path: `${minutes.path}/values` });
  assert.equal(reply.status, 200);
  assert.equal(reply.text, '');
  assert.equal(reply.headers.get('x-total-count'), '25');
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
});

test('datapoints of one moment keep the order of their arrival, on every page', async () => {
  const sensor = await openSensor(service);
  const values = Array.from({ length: 30 }, (_, n) => `v${n}`);
  for (let from = 0; from < 30; from += 10) {
    const slice = values.slice(from, from + 10);
    await sensor.push(slice.map((value) => ({ value, timestamp: minute(1) })));
  }
  const pages = [];
  for (let offset = 0; offset < 30; offset += 7) {
    pages.push(...datapointsOf(await sensor.read(`?limit=7&offset=${offset}`)));
  }
  assert.deepEqual(
    pages.map(({ value }) => value),
    values,
  );
});

test('values are calibrated when read, unless calibrated=false asks for the raw ones', async () => {
  const sensor = await openSensor(service);
  const linear = {
    enabled: true,
    value_min: { sensor_value: 0, real_value: 100 },
    value_max: { sensor_value: 10, real_value: 200 },
  };
  await sensor.push([
    { value: 5, timestamp: minute(1) },
    { value: '5', timestamp: minute(2) },
    { value: [5], timestamp: minute(3) },
  ]);
  const calib = { method: 'PUT', path: `${sensor.path}/calib`, json: { linear } };
  assert.equal((await service.call(calib)).status, 204);
  const values = async (query: string) =>
    datapointsOf(await sensor.read(query)).map(({ value }) => value);
  assert.deepEqual(await values(''), [150, '5', [5]]);
  assert.deepEqual(await values('?calibrated=true'), [150, '5', [5]]);
  assert.deepEqual(await values('?calibrated=false'), [5, '5', [5]]);
  const csv = await sensor.read('?format=csv&limit=1');
  assert.match(csv.text, /,150,/);
  const rawCsv = await sensor.read('?format=csv&limit=1&calibrated=false');
  assert.match(rawCsv.text, /,5,/);
});
