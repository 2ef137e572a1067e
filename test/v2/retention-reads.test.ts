import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { assertDone } from './refusal.ts';
import { datapointsOf, openSensor, type SensorEndpoint, valuesOf } from './sensor-endpoint.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 5, 20, 10);

/** Ten days of a value every ten minutes: its number. */
async function filled(service: Service, sensor: SensorEndpoint): Promise<number> {
  const count = 10 * 144;
  const first = start - 10 * day;
  await sensor.push(
    Array.from({ length: count }, (_, n) => ({
      value: n,
      timestamp: new Date(first + n * 600_000).toISOString(),
    })),
  );
  assertDone(
    await service.call({
      method: 'PUT',
      path: `${sensor.path}/retention`,
      json: { raw_days: 3 },
    }),
  );
  return count;
}

/** The service looks a few times in a second. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 3_000; turn += 1) {
    if (await isSo()) return;
    await wait(20);
  }
  assert.fail('retention deletes nothing');
}

test('old values go, and aggregates, plots and totals go on from their hours', async () => {
  const clock = createManualClock(start);
  await using service = await startService({ clock });
  const sensor = await openSensor(service);
  const count = await filled(service, sensor);
  const daily = '?aggregate=count,min,max,sum,first,last,increase&interval=1d';
  const before = await sensor.read(daily);
  const across = 'aggregate=sum,count&interval=1d&across=devices';
  const totals = `/sensors_data?device_id=${sensor.deviceId}&${across}`;
  const totalBefore = await service.call({ path: totals });
  assert.equal(before.headers.get('x-summarised-before'), null);
  clock.advance(3_600_000);
  await until(
    async () => (await sensor.read('?limit=1')).headers.get('x-total-count') !== `${count}`,
  );
  await until(async () => {
    const reply = await service.call({ path: `${sensor.path}/retention` });
    return (reply.json as { next: { datapoints: number } }).next.datapoints <= 144;
  });

  const limit = new Date(Math.floor((start - 3 * day) / day) * day).toISOString();
  const left = await sensor.read('?limit=5000');
  assert.equal(datapointsOf(left)[0]?.timestamp, limit);
  assert.equal(left.headers.get('x-summarised-before'), limit);
  assert.match(left.headers.get('access-control-expose-headers') ?? '', /X-Summarised-Before/);
  const csv = await sensor.read('?format=csv&limit=5000');
  assert.equal(csv.headers.get('x-summarised-before'), limit);
  assert.equal(csv.text.trim().split('\n').length, datapointsOf(left).length + 1);
  const recent = await sensor.read(`?dateFrom=${limit}`);
  assert.equal(recent.headers.get('x-summarised-before'), null);

  const after = await sensor.read(daily);
  assert.deepEqual(after.json, before.json);
  assert.equal(after.headers.get('x-summarised-before'), limit);
  assert.equal(
    (await sensor.read(`${daily}&format=csv`)).headers.get('x-summarised-before'),
    limit,
  );
  const totalAfter = await service.call({ path: totals });
  assert.deepEqual(totalAfter.json, totalBefore.json);
  assert.equal(totalAfter.headers.get('x-summarised-before'), limit);

  const exported = await service.call({ path: `/devices/${sensor.deviceId}/export` });
  assert.equal(exported.headers.get('x-summarised-before'), limit);
  const project = { id: 'farm', name: 'Farm', device_ids: [sensor.deviceId] };
  await service.call({ method: 'POST', path: '/projects', json: project });
  const inProject = (query: string) => service.call({ path: `/projects/farm/export${query}` });
  assert.equal((await inProject('')).headers.get('x-summarised-before'), limit);
  const kept = await inProject(`?dateFrom=${limit}`);
  assert.equal(kept.headers.get('x-summarised-before'), null);
  const { text: metrics } = await service.as('admin')({ path: '//metrics' });
  assert.match(metrics, /^kipimo_retention_datapoints_deleted_total [1-9]/m);
  assert.match(metrics, /^kipimo_retention_hourly_values_kept_total [1-9]/m);

  const plot = datapointsOf(await sensor.read('?points=200'));
  const values = valuesOf(plot).map(Number);
  assert.ok(plot.length <= 200 && plot.length > 100, `${plot.length} points`);
  assert.deepEqual([values[0], values.at(-1)], [0, count - 1]);
  assert.deepEqual(
    values,
    values.toSorted((a, b) => a - b),
  );
  const last = (await sensor.get())['last_value'] as { value: number };
  assert.equal(last.value, count - 1);
});

test('calibration leaves text alone also where hours stand for it', async () => {
  const clock = createManualClock(start);
  await using service = await startService({ clock });
  const [low, high] = [
    { sensor_value: 0, real_value: 0 },
    { sensor_value: 10, real_value: 20 },
  ];
  const calib = { linear: { enabled: true, value_min: low, value_max: high } };
  const sensor = await openSensor(service, { id: 'TC1', calib });
  const at = (minutes: number) => new Date(start - 8 * day + minutes * 60_000).toISOString();
  await sensor.push([
    { value: 5, timestamp: at(0) },
    { value: '40', timestamp: at(10) },
    { value: '30', timestamp: at(60) },
    { value: 6, timestamp: at(120) },
    { value: 7, timestamp: new Date(start).toISOString() },
  ]);
  const names = 'count,sum,avg,min,max,first,last,increase';
  const read = async (query = '') => {
    const reply = await sensor.read(`?aggregate=${names}&interval=1h&dateTo=${at(180)}${query}`);
    const text = reply.text.replaceAll(/"(first|last)":"(\d+)"/g, '"$1":$2');
    return [JSON.parse(text), reply.headers.get('x-summarised-before') !== null] as const;
  };
  const [before, isTaken] = await read();
  const [raw] = await read('&calibrated=false');
  assert.equal(isTaken, false);
  assert.partialDeepStrictEqual(before[0], {
    ...{ count: 2, sum: 50, avg: 25, min: 10, max: 40, first: 10, last: 40, increase: 0 },
  });
  const path = `${sensor.path}/retention`;
  assertDone(await service.call({ method: 'PUT', path, json: { raw_days: 3 } }));
  clock.advance(3_600_000);
  await until(async () => (await read())[1]);
  await until(async () => (await sensor.read('?limit=1')).headers.get('x-total-count') === '1');
  assert.deepEqual((await read())[0], before);
  assert.deepEqual((await read('&calibrated=false'))[0], raw);
  const plot = valuesOf(datapointsOf(await sensor.read('?points=100')));
  assert.deepEqual(plot, [10, 40, 30, 12, 14]);
});
