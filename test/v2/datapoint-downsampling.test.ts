import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readCsvTexts } from '../csv-reader.ts';
import { type Service, startService } from '../service.ts';
import {
  datapointsOf,
  minute,
  openSensor,
  refusalOf,
  type SensorEndpoint,
} from './sensor-endpoint.ts';

const size = 2_000;
let service: Service;
/** A slow wave with one spike and one text. */
let wave: SensorEndpoint;

const valueAt = (n: number): unknown => {
  if (n === 777) return 99;
  return n === 1_234 ? 'error' : Math.round(Math.sin(n / 100) * 1_000) / 100;
};

before(async () => {
  service = await startService();
  wave = await openSensor(service);
  await wave.push(
    Array.from({ length: size }, (_, n) => ({ value: valueAt(n), timestamp: minute(n) })),
  );
});

after(() => service[Symbol.asyncDispose]());

test('points downsamples a range to real datapoints, in order, with peaks and ends', async () => {
  const all = await wave.all();
  const reply = await wave.read('?points=100');
  const downsampled = datapointsOf(reply);
  assert.ok(downsampled.length <= 100 && downsampled.length > 80, `${downsampled.length}`);
  const places = downsampled.map((one) =>
    all.findIndex(({ timestamp }) => timestamp === one.timestamp),
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    downsampled,
    places.map((place) => all[place]),
  );
  const values = downsampled.map(({ value }) => value);
  assert.ok(values.includes(99) && values.includes(-10));
  assert.deepEqual([places.at(0), places.at(-1)], [0, size - 1]);
  assert.equal(reply.headers.get('x-total-count'), String(size));
  assert.equal(reply.headers.get('x-skipped-count'), '1');
});

test('a range that is short enough stays whole', async () => {
  const range = `dateFrom=${minute(10)}&dateTo=${minute(39)}`;
  const downsampled = datapointsOf(await wave.read(`?points=30&${range}`));
  assert.deepEqual(downsampled, datapointsOf(await wave.read(`?limit=30&${range}`)));
});

test('limit, offset, lastN and sort say what is downsampled and in which order', async () => {
  const ends = async (query: string) => {
    const downsampled = datapointsOf(await wave.read(`?points=20&${query}`));
    assert.ok(downsampled.length <= 20);
    return [downsampled.at(0)?.timestamp, downsampled.at(-1)?.timestamp];
  };
  assert.deepEqual(await ends('limit=100&offset=50'), [minute(50), minute(149)]);
  assert.deepEqual(await ends('lastN=500'), [minute(1_999), minute(1_500)]);
  assert.deepEqual(await ends('lastN=500&sort=asc'), [minute(1_500), minute(1_999)]);
  assert.deepEqual(await ends('sort=dsc'), [minute(1_999), minute(0)]);
});

test('downsampled datapoints are CSV like any others', async () => {
  const [header, ...rows] = readCsvTexts((await wave.read('?points=10&format=csv')).text);
  assert.deepEqual(header, ['device_id', 'sensor_id', 'value', 'timestamp', 'date_received']);
  assert.ok(rows.length <= 10 && rows.length >= 8);
});

test('downsampled datapoints are calibrated unless the raw ones are asked for', async () => {
  const sensor = await openSensor(service, {
    id: 'TC1',
    calib: {
      linear: {
        enabled: true,
        value_min: { sensor_value: 0, real_value: 10 },
        value_max: { sensor_value: 10, real_value: 0 },
      },
    },
  });
  const values = [1, 9, 2, 8, 3];
  await sensor.push(values.map((value, n) => ({ value, timestamp: minute(n) })));
  const read = async (query: string) =>
    datapointsOf(await sensor.read(`?points=2${query}`)).map(({ value }) => value);
  assert.deepEqual(await read(''), [9, 1]);
  assert.deepEqual(await read('&calibrated=false'), [1, 9]);
});

test('points is a whole number from 2, and more than 10 000 are taken as 10 000', async () => {
  for (const points of ['1', '0', '-5', 'many', '2.5']) {
    const reply = await wave.read(`?points=${points}`);
    assert.match(refusalOf(reply, 400, 'invalid'), /points must be a whole number from 2/);
  }
  assert.equal(datapointsOf(await wave.read('?points=1000000')).length, size - 1);
});
