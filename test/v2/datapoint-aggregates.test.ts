import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readCsvTexts } from '../csv-reader.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { minute, openSensor, refusalOf, type SensorEndpoint } from './sensor-endpoint.ts';

let service: Service;
/** Values 0 to 179, one a minute from midnight, pushed in no order, and one text at the end. */
let minutes: SensorEndpoint;

before(async () => {
  service = await startService();
  minutes = await openSensor(service);
  const numbers = Array.from({ length: 180 }, (_, n) => (n * 7) % 180);
  await minutes.push([
    ...numbers.map((n) => ({ value: n, timestamp: minute(n) })),
    { value: 'error', timestamp: minute(180) },
  ]);
});

after(() => service[Symbol.asyncDispose]());

async function buckets(query: string): Promise<unknown> {
  const reply = await minutes.read(query);
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
}

const counts = (reply: Reply) =>
  ['x-total-count', 'x-skipped-count'].map((name) => reply.headers.get(name));

test('one aggregate answers the start of each bucket and its value', async () => {
  const reply = await minutes.read('?aggregate=avg&interval=1h');
  assert.deepEqual(reply.json, [
    { timestamp: minute(0), value: 29.5 },
    { timestamp: minute(60), value: 89.5 },
    { timestamp: minute(120), value: 149.5 },
  ]);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(counts(reply), ['3', '1']);
});

test('several aggregates answer a key each, in the order asked for', async () => {
  const expected = { timestamp: minute(60), max: 119, min: 60, count: 60, sum: 5_370 };
  for (const query of [
    'aggregate=max,min,count,sum',
    'aggregate=max&aggregate=min,count&aggregate=sum,max',
  ]) {
    const reply = await minutes.read(`?${query}&interval=1h&limit=1&offset=1`);
    assert.equal(reply.text, JSON.stringify([expected]));
  }
});

test('first and last answer any value, and a bucket without numbers has no average', async () => {
  assert.deepEqual(await buckets('?aggregate=avg,first,last,count&interval=1h&sort=dsc&limit=1'), [
    { timestamp: minute(180), first: 'error', last: 'error', count: 1 },
  ]);
});

test('without an interval one bucket holds the range', async () => {
  const query = `?aggregate=count,first&dateFrom=${minute(10)}&dateTo=${minute(19)}`;
  assert.deepEqual(await buckets(query), [{ timestamp: minute(10), count: 10, first: 10 }]);
  assert.deepEqual(await buckets(`?aggregate=avg&dateFrom=${minute(900)}`), []);
});

test('the range and lastN say which datapoints, limit, offset and sort which buckets', async () => {
  const starts = async (query: string) =>
    ((await buckets(`?aggregate=count&interval=30m${query}`)) as { timestamp: string }[]).map(
      ({ timestamp }) => (Date.parse(timestamp) - Date.parse(minute(0))) / 60_000,
    );
  assert.deepEqual(await starts(''), [0, 30, 60, 90, 120, 150, 180]);
  assert.deepEqual(await starts('&limit=2'), [0, 30]);
  assert.deepEqual(await starts('&limit=2&offset=3'), [90, 120]);
  assert.deepEqual(await starts('&limit=0'), []);
  assert.deepEqual(await starts('&sort=dsc&limit=2'), [180, 150]);
  assert.deepEqual(await starts(`&date_from=${minute(70)}&date_to=${minute(100)}`), [60, 90]);
  const last = await buckets('?aggregate=count&interval=30m&lastN=40');
  assert.deepEqual(last, [
    { timestamp: minute(180), value: 1 },
    { timestamp: minute(150), value: 30 },
    { timestamp: minute(120), value: 9 },
  ]);
  const oldestFirst = await buckets('?aggregate=count&interval=30m&lastN=40&sort=asc');
  assert.deepEqual(oldestFirst, (last as unknown[]).toReversed());
});

test('more than twenty buckets are answered without a limit', async () => {
  const reply = await minutes.read('?aggregate=max&interval=1m');
  assert.equal((reply.json as unknown[]).length, 180);
});

test('days begin at midnight of the zone, also where the clocks are changed', async () => {
  const sensor = await openSensor(service);
  const hours = Array.from({ length: 24 * 4 }, (_, n) =>
    new Date(Date.parse('2024-03-29T23:00Z') + n * 3_600_000).toISOString(),
  );
  await sensor.push(hours.map((timestamp) => ({ value: 1, timestamp })));
  const days = async (zone: string) =>
    (await sensor.read(`?aggregate=count&interval=1d&timezone=${zone}`)).json;
  assert.deepEqual(await days('Europe/Paris'), [
    { timestamp: '2024-03-29T23:00:00.000Z', value: 24 },
    { timestamp: '2024-03-30T23:00:00.000Z', value: 23 },
    { timestamp: '2024-03-31T22:00:00.000Z', value: 24 },
    { timestamp: '2024-04-01T22:00:00.000Z', value: 24 },
    { timestamp: '2024-04-02T22:00:00.000Z', value: 1 },
  ]);
  const utc = (await days('UTC')) as { value: number }[];
  assert.deepEqual(
    utc.map(({ value }) => value),
    [1, 24, 24, 24, 23],
  );
});

test('buckets are CSV under their own header, and cells may be empty', async () => {
  const query = `?aggregate=avg,count&interval=1h&dateFrom=${minute(120)}`;
  for (const reply of [
    await minutes.read(`${query}&format=csv`),
    await minutes.read(query, { accept: 'text/csv' }),
  ]) {
    assert.match(reply.headers.get('content-type') ?? '', /^text\/csv/);
    assert.deepEqual(readCsvTexts(reply.text), [
      ['device_id', 'sensor_id', 'timestamp', 'avg', 'count'],
      [minutes.deviceId, 'TC1', minute(120), '149.5', '60'],
      [minutes.deviceId, 'TC1', minute(180), '', '1'],
    ]);
  }
  const one = await minutes.read('?aggregate=max&interval=1d&format=csv');
  assert.deepEqual(readCsvTexts(one.text)[0], ['device_id', 'sensor_id', 'timestamp', 'value']);
});

test('aggregates are of calibrated values unless the raw ones are asked for', async () => {
  const sensor = await openSensor(service, {
    id: 'TC1',
    calib: {
      linear: {
        enabled: true,
        value_min: { sensor_value: 0, real_value: 10 },
        value_max: { sensor_value: 10, real_value: 30 },
      },
    },
  });
  await sensor.push([
    { value: 0, timestamp: minute(0) },
    { value: 10, timestamp: minute(1) },
  ]);
  const bucket = async (query: string) => (await sensor.read(`?aggregate=avg,last${query}`)).json;
  assert.deepEqual(await bucket(''), [{ timestamp: minute(0), avg: 20, last: 30 }]);
  assert.deepEqual(await bucket('&calibrated=false'), [{ timestamp: minute(0), avg: 5, last: 10 }]);
});

test('a series longer than one step of the store is aggregated whole', async () => {
  const sensor = await openSensor(service);
  const size = 20_000;
  for (let from = 0; from < 3; from += 1) {
    await sensor.push(
      Array.from({ length: size }, (_, n) => ({ value: 1, timestamp: minute(from * size + n) })),
    );
  }
  const reply = await sensor.read('?aggregate=sum&interval=1d');
  const sums = (reply.json as { value: number }[]).map(({ value }) => value);
  assert.equal(sums.length, 42);
  assert.deepEqual([...new Set(sums.slice(0, -1))], [1_440]);
  assert.equal(
    sums.reduce((total, sum) => total + sum, 0),
    3 * size,
  );
});

test('a parameter that makes no sense is refused by name', async () => {
  const wrong: Readonly<Record<string, string>> = {
    'aggregate=mean': 'aggregate',
    'aggregate=avg,': '',
    'aggregate=avg,median': 'aggregate',
    'interval=1d': 'interval needs aggregate',
    'aggregate=avg&interval=0d': 'interval',
    'aggregate=avg&interval=day': 'interval',
    'aggregate=avg&interval=1M': 'interval',
    'aggregate=avg&interval=200y': 'interval',
    'aggregate=avg&interval=1d&timezone=Paris': 'timezone',
    'timezone=Mars/Olympus': 'timezone',
    'aggregate=avg&points=100': 'points',
  };
  for (const [query, naming] of Object.entries(wrong)) {
    const reply = await minutes.read(`?${query}`);
    if (naming === '') assert.equal(reply.status, 200, query);
    else assert.ok(refusalOf(reply, 400, 'invalid').includes(naming), query);
  }
});

test('aggregates and downsampled reads need the right to view the data', async () => {
  const [owner, stranger, guest] = ['alice', 'mallory', 'guest'].map((name) => service.as(name));
  assert.ok(owner !== undefined && stranger !== undefined && guest !== undefined);
  const json = { id: 'aggregates-private', visibility: 'private', sensors: [{ id: 'TC1' }] };
  assert.equal((await owner({ method: 'POST', path: '/devices', json })).status, 204);
  const path = `/devices/${json.id}/sensors/TC1/values`;
  for (const query of ['?aggregate=avg', '?points=10']) {
    assert.equal((await owner({ path: path + query })).status, 200);
    for (const other of [stranger, guest]) {
      refusalOf(await other({ path: path + query }), 403, 'forbidden');
    }
    refusalOf(await owner({ path: path.replace('TC1', 'TC2') + query }), 404, 'not_found');
    refusalOf(await owner({ path: path.replace(json.id, 'none') + query }), 404, 'not_found');
  }
});

test('all buckets and pages of them have the same bytes, with texts and gaps', async () => {
  const sensor = await openSensor(service);
  const count = 12_000;
  const datapoints = Array.from({ length: count }, (_, n) => ({
    value: n % 7 === 3 ? 'error' : n % 11 === 0 ? `${n / 8}` : ((n * 7_919) % 1_000) / 30,
    timestamp: minute(n),
  }));
  for (let at = 0; at < count; at += 4_000) await sensor.push(datapoints.slice(at, at + 4_000));
  for (const names of ['avg', 'min,max,increase', 'sum,count']) {
    for (const range of ['', `&dateTo=${minute(3_000)}`, '&lastN=7000', '&sort=dsc']) {
      const query = `?aggregate=${names}&interval=1m${range}`;
      const all = await sensor.read(query);
      const page = await sensor.read(`${query}&limit=100000`);
      assert.equal(all.status, 200, all.text);
      assert.ok((all.json as unknown[]).length > 2_000);
      assert.equal(all.text, page.text);
      assert.deepEqual(counts(all), counts(page));
    }
  }
});
