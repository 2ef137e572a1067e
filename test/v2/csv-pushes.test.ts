import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { minute, openSensor, valuesOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const type = 'text/csv; charset=utf-8';

test('rows of timestamp and value are stored', async () => {
  const sensor = await openSensor(service);
  assertDone(
    await sensor.send(`timestamp,value\r\n${minute(2)},2\r\n${minute(1)},"1"\r\n`, { type }),
  );
  assertDone(await sensor.send(`${minute(3)};3,5\n`, { type, to: 'value' }));
  const datapoints = await sensor.all();
  assert.deepEqual(valuesOf(datapoints), ['1', 2, 3.5]);
  assert.deepEqual(
    datapoints.map(({ timestamp }) => timestamp),
    [minute(1), minute(2), minute(3)],
  );
});

test('what a read answered as CSV gives the same datapoints when it is pushed', async () => {
  const sensor = await openSensor(service);
  const values = [
    1.5,
    '25',
    '=1+1',
    "'x",
    'a,"b"\r\nc',
    { t: [1, null] },
    null,
    true,
    '',
    '测量 🌱',
  ];
  await sensor.push(values.map((value, n) => ({ value, timestamp: minute(n) })));
  const csv = (await sensor.read('?format=csv')).text;
  const before = await sensor.all();
  assertDone(await sensor.send(csv, { type }));
  assert.deepEqual(await sensor.all(), before);
  const reply = await service.call({ method: 'DELETE', path: sensor.path });
  assertDone(reply);
  const path = `/devices/${sensor.deviceId}/sensors`;
  assertDone(await service.call({ method: 'POST', path, json: { id: sensor.sensorId } }));
  assertDone(await sensor.send(csv, { type }));
  const plain = (list: typeof before) => list.map(({ date_received: _, ...others }) => others);
  assert.deepEqual(plain(await sensor.all()), plain(before));
});

test('one wrong row refuses the whole, by its line', async () => {
  const sensor = await openSensor(service);
  const send = (body: string) => sensor.send(body, { type });
  assertRefused(await send(`${minute(1)},1\nyesterday,2\n`), 400, { saying: /line 2/ });
  assertRefused(await send(`${minute(1)},1\n${minute(2)},"open`), 400, { saying: /line 2/ });
  assertRefused(await send('a,b,c\n'), 400, { saying: /line 1/ });
  assertRefused(await send(''), 400);
  const other = 'device_id,sensor_id,value\nsome-other,TC1,1\n';
  assertRefused(await send(other), 400, { saying: /some-other/ });
  assert.deepEqual(await sensor.all(), []);
});
