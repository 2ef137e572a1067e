import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { openSensor, refusalOf, valuesOf } from './sensor-endpoint.ts';

const now = '2026-03-04T05:06:07.008Z';
const hourMs = 3_600_000;
const clock = createManualClock(Date.parse(now));
let service: Service;

before(async () => {
  service = await startService({ clock });
});

after(() => service[Symbol.asyncDispose]());

test('timestamps of every ISO 8601 spelling come back in UTC with milliseconds', async () => {
  const spellings: readonly (readonly [string, string])[] = [
    ['2016-06-08T18:20:27.873Z', '2016-06-08T18:20:27.873Z'],
    ['2016-06-08T18:20:27Z', '2016-06-08T18:20:27.000Z'],
    ['2016-06-08T20:20:27.873+02:00', '2016-06-08T18:20:27.873Z'],
    ['2016-06-08T13:35:27.873-0445', '2016-06-08T18:20:27.873Z'],
    ['2016-06-08T20:20:27+02', '2016-06-08T18:20:27.000Z'],
    ['2016-06-08T18:20:27.873456789Z', '2016-06-08T18:20:27.873Z'],
    ['2016-06-08T18:20:27.9Z', '2016-06-08T18:20:27.900Z'],
    ['2016-06-08T18:20:27.873', '2016-06-08T18:20:27.873Z'],
    ['2016-06-08T18:20:27', '2016-06-08T18:20:27.000Z'],
    ['2016-06-08', '2016-06-08T00:00:00.000Z'],
    ['2016-02-29T12:00:00Z', '2016-02-29T12:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['2017-01-01T00:30:00+01:00', '2016-12-31T23:30:00.000Z'],
  ];
  for (const [sent, shown] of spellings) {
    const sensor = await openSensor(service);
    await sensor.push({ value: 1, timestamp: sent });
    const [datapoint] = await sensor.all();
    assert.equal(datapoint?.timestamp, shown, sent);
    const { last_value: lastValue } = await sensor.get();
    assert.deepEqual(lastValue, { value: 1, timestamp: shown, date_received: now });
  }
});

test('a datapoint without a timestamp has none when read, only the time of receipt', async () => {
  const sensor = await openSensor(service);
  await sensor.push({ value: 1 });
  const { deviceId: device_id, sensorId: sensor_id } = sensor;
  assert.deepEqual(await sensor.all(), [{ device_id, sensor_id, value: 1, date_received: now }]);
  assert.deepEqual((await sensor.get())['value'], { value: 1, date_received: now });
});

test('without a timestamp, the time of receipt is what orders and filters', async () => {
  const sensor = await openSensor(service);
  await sensor.push({ value: 'undated' });
  await sensor.push([
    { value: 'before', timestamp: '2026-03-04T05:06:07.007Z' },
    { value: 'after', timestamp: '2026-03-04T05:06:07.009Z' },
  ]);
  assert.deepEqual(valuesOf(await sensor.all()), ['before', 'undated', 'after']);
  const { json } = await sensor.read(`?dateFrom=${now}&dateTo=${now}`);
  assert.deepEqual(valuesOf(json as never), ['undated']);
});

test('a timestamp up to a day ahead is accepted, one beyond tells the server clock', async () => {
  const sensor = await openSensor(service);
  const ahead = (ms: number) => new Date(clock.now() + ms).toISOString();
  await sensor.push({ value: 'a day', timestamp: ahead(24 * hourMs) });
  for (const timestamp of [ahead(24 * hourMs + 1), '9999-12-31T23:59:59Z']) {
    const reply = await sensor.send(JSON.stringify({ value: 'later', timestamp }));
    const description = refusalOf(reply, 400, 'invalid');
    assert.ok(description.includes(now), reply.text);
    assert.ok(description.includes(timestamp.slice(0, 19)), 'what was read');
    const inArray = [{ timestamp }, { value: 'later', timestamp }];
    const refused = await sensor.send(JSON.stringify(inArray));
    assert.match(refusalOf(refused, 400, 'invalid'), /datapoint 1\b/);
  }
  assert.deepEqual(valuesOf(await sensor.all()), ['a day']);
});

test('dates that do not exist and texts that are no dates are refused by name', async () => {
  const sensor = await openSensor(service);
  const wrong = [
    '2016-02-30T00:00:00Z',
    '2015-02-29T00:00:00Z',
    '2016-13-01T00:00:00Z',
    '2016-06-31',
    '2016-06-08T25:00:00Z',
    '2016-06-08T18:60:00Z',
    '2016-06-08T18:20:27.Z',
    '2016-06-08T18:20:27+25:00',
    'yesterday',
    '',
    '08/06/2016',
    'Wed, 08 Jun 2016 18:20:27 GMT',
    '12016-06-08T18:20:27Z',
    1_465_410_027,
    true,
    {},
  ];
  for (const timestamp of wrong) {
    const reply = await sensor.send(JSON.stringify({ value: 1, timestamp }));
    assert.match(refusalOf(reply, 400, 'invalid'), /timestamp/);
  }
  assert.deepEqual(await sensor.all(), []);
});

test('the time of receipt is the time of the service, whatever the timestamp says', async () => {
  const sensor = await openSensor(service);
  await sensor.push({ value: 1, timestamp: '2016-06-08T18:20:27Z', date_received: '2001-01-01' });
  const [datapoint] = await sensor.all();
  assert.equal(datapoint?.date_received, now);
});
