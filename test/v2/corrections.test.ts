import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import {
  datapointsOf,
  doorOf,
  minute,
  openSensor,
  type SensorEndpoint,
  valuesOf,
} from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

interface Made {
  readonly removed?: number;
  readonly corrected?: number;
  readonly missing?: readonly string[];
  readonly correction?: string;
}

/** What can be corrected of a sensor. */
function correctable(sensor: SensorEndpoint, on: Pick<Service, 'call'> = service) {
  const made = (reply: Reply): Made => {
    assert.equal(reply.status, 200, reply.text);
    return reply.json as Made;
  };
  const send = (method: string, query: string, json?: unknown) =>
    on.call({ method, path: `${sensor.path}/${query}`, ...(json !== undefined && { json }) });
  return {
    send,
    remove: async (query: string) => made(await send('DELETE', `values?${query}`)),
    correct: async (items: unknown) => made(await send('PATCH', 'values', items)),
    list: async () => {
      const reply = await send('GET', 'corrections');
      assert.equal(reply.status, 200, reply.text);
      return reply.json as readonly Readonly<Record<string, unknown>>[];
    },
    undo: (id: string | undefined) => send('DELETE', `corrections/${id}`),
  };
}

/** A sensor with a value for each of some minutes: its number. */
async function filled(count = 10): Promise<SensorEndpoint> {
  const sensor = await openSensor(service);
  await sensor.push(Array.from({ length: count }, (_, n) => ({ value: n, timestamp: minute(n) })));
  return sensor;
}

const lastOf = async (sensor: SensorEndpoint): Promise<unknown> =>
  ((await sensor.get())['last_value'] as { value?: unknown } | undefined)?.value;

const range = (from: number, to: number): string => `dateFrom=${minute(from)}&dateTo=${minute(to)}`;

test('what was taken away is gone from every read, and back when that is undone', async () => {
  const sensor = await filled();
  const { remove, undo } = correctable(sensor);
  const { removed, correction } = await remove(range(3, 5));
  assert.equal(removed, 3);
  assert.deepEqual(valuesOf(await sensor.all()), [0, 1, 2, 6, 7, 8, 9]);
  const page = await sensor.read('?limit=2&offset=2');
  assert.deepEqual(valuesOf(datapointsOf(page)), [2, 6]);
  assert.equal(page.headers.get('x-total-count'), '7');
  assert.deepEqual(valuesOf(datapointsOf(await sensor.read('?lastN=5'))), [9, 8, 7, 6, 2]);
  assert.deepEqual(valuesOf(datapointsOf(await sensor.read(`?${range(4, 7)}`))), [6, 7]);
  const sums = await sensor.read('?aggregate=count,sum,min');
  const [bucket] = sums.json as [Record<string, number>];
  assert.deepEqual([bucket['count'], bucket['sum'], bucket['min']], [7, 33, 0]);
  const csv = await sensor.read('?format=csv');
  assert.equal(csv.text.trim().split('\r\n').length, 8);
  const merged = await service.call({ path: `/sensors_data?device_id=${sensor.deviceId}` });
  assert.deepEqual(valuesOf(datapointsOf(merged)), [0, 1, 2, 6, 7, 8, 9]);
  assertDone(await undo(correction));
  assert.deepEqual(valuesOf(await sensor.all()), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('either end of the range, all of it, or equal values alone are taken away', async () => {
  const sensor = await filled();
  const { remove, undo } = correctable(sensor);
  for (const [query, left] of [
    [`dateFrom=${minute(8)}`, [0, 1, 2, 3, 4, 5, 6, 7]],
    [`date_to=${minute(7)}`, [8, 9]],
    ['all=true', []],
    ['all=true&value=4', [0, 1, 2, 3, 5, 6, 7, 8, 9]],
    [`${range(2, 5)}&value=4.0`, [0, 1, 2, 3, 5, 6, 7, 8, 9]],
  ] as const) {
    const { correction } = await remove(query);
    assert.deepEqual(valuesOf(await sensor.all()), left, query);
    assertDone(await undo(correction));
  }
});

test('a value in a query is JSON, or else a text', async () => {
  const sensor = await openSensor(service);
  const { remove } = correctable(sensor);
  const values = ['on', 'off', '4', 4, true, null, { a: 1 }];
  await sensor.push(values.map((value, n) => ({ value, timestamp: minute(n) })));
  for (const text of ['on', '"4"', 'true', 'null', '{"a":1}']) {
    const { removed } = await remove(`all=true&value=${encodeURIComponent(text)}`);
    assert.equal(removed, 1, text);
  }
  assert.deepEqual(valuesOf(await sensor.all()), ['off', 4]);
});

test('values are put right at their times, and what is not there is told', async () => {
  const sensor = await filled(4);
  const { correct, undo } = correctable(sensor);
  const { corrected, missing, correction } = await correct([
    { timestamp: minute(1), value: 100 },
    { timestamp: minute(3), value: 'wet' },
    { timestamp: minute(99), value: 5 },
  ]);
  assert.equal(corrected, 2);
  assert.deepEqual(missing, [minute(99)]);
  assert.deepEqual(valuesOf(await sensor.all()), [0, 100, 2, 'wet']);
  assert.equal(await lastOf(sensor), 'wet');
  const [bucket] = (await sensor.read('?aggregate=max')).json as [{ value: number }];
  assert.equal(bucket.value, 100);
  assertDone(await undo(correction));
  assert.deepEqual(valuesOf(await sensor.all()), [0, 1, 2, 3]);
});

test('datapoints without a timestamp are put right by the time of their receipt', async () => {
  const sensor = await openSensor(service);
  const { correct } = correctable(sensor);
  await sensor.push({ value: 1 });
  const [{ date_received } = { date_received: '' }] = await sensor.all();
  const wrong = await correct([{ timestamp: date_received, value: 2 }]);
  assert.deepEqual(wrong, { corrected: 0, missing: [date_received] });
  const { corrected } = await correct([{ date_received, value: 2 }]);
  assert.equal(corrected, 1);
  assert.deepEqual(valuesOf(await sensor.all()), [2]);
});

test('the last value goes back to the newest that is left, and comes again', async () => {
  const sensor = await filled(5);
  const { remove, undo } = correctable(sensor);
  const { correction } = await remove(`dateFrom=${minute(3)}`);
  assert.equal(await lastOf(sensor), 2);
  const listed = await service.call({ path: `/devices/${sensor.deviceId}` });
  assert.match(listed.text, /"value":2[,}]/);
  const found = await service.call({ path: `/devices?q=id==${sensor.deviceId};TC1==2` });
  assert.equal((found.json as unknown[]).length, 1);
  const last = await service.call({ path: `/sensors_data/last?device_id=${sensor.deviceId}` });
  assert.deepEqual(valuesOf(datapointsOf(last)), [2]);
  await remove('all=true');
  assert.ok(!('last_value' in (await sensor.get())));
  const [newest] = await correctable(sensor).list();
  assertDone(await undo(String(newest?.['id'])));
  assertDone(await undo(correction));
  assert.equal(await lastOf(sensor), 4);
});

test('what is pushed again stays removed, and a new value at its time is shown', async () => {
  const sensor = await filled(4);
  const { remove } = correctable(sensor);
  for (let round = 0; round < 3; round += 1) {
    await remove('all=true');
    // At once: the same millisecond must do.
    await sensor.push([
      { value: 2, timestamp: minute(2) },
      { value: 20 + round, timestamp: minute(2) },
    ]);
    assert.deepEqual(valuesOf(await sensor.all()), [20 + round]);
    await sensor.push({ value: `without ${round}` });
    assert.deepEqual(valuesOf(await sensor.all()), [20 + round, `without ${round}`]);
    assert.equal(await lastOf(sensor), `without ${round}`);
  }
});

test('raw shows what was pushed, with the correction that changed it', async () => {
  const sensor = await filled(3);
  const { remove, correct } = correctable(sensor);
  const removal = await remove(range(1, 1));
  const change = await correct([{ timestamp: minute(2), value: 50 }]);
  const raw = (await sensor.read('?raw=true')).json as readonly Record<string, unknown>[];
  assert.deepEqual(
    raw.map(({ value, correction }) => [value, correction]),
    [
      [0, undefined],
      [1, removal.correction],
      [2, change.correction],
    ],
  );
  const [bucket] = (await sensor.read('?raw=true&aggregate=sum')).json as [{ value: number }];
  assert.equal(bucket.value, 3);
  assert.doesNotMatch((await sensor.read()).text, /correction/);
});

test('raw is without calibration, unless that is asked for', async () => {
  const calib = {
    linear: {
      value_min: { sensor_value: 0, real_value: 100 },
      value_max: { sensor_value: 10, real_value: 200 },
    },
  };
  const sensor = await openSensor(service, {
    id: 'TC1',
    calib: { enabled: true, type: 'linear', ...calib },
  });
  await sensor.push({ value: 5, timestamp: minute(1) });
  const shown = valuesOf(await sensor.all());
  assert.deepEqual(valuesOf(datapointsOf(await sensor.read('?raw=true'))), [5]);
  assert.deepEqual(valuesOf(datapointsOf(await sensor.read('?raw=true&calibrated=true'))), shown);
});

test('corrections are listed newest first, with who made them', async () => {
  const sensor = await filled();
  const { remove, correct, list } = correctable(sensor);
  await remove(range(2, 4));
  await correct([{ timestamp: minute(6), value: 1 }]);
  const [second, first] = await list();
  const { date, ...rest } = first ?? {};
  assert.deepEqual(
    { ...rest, id: typeof rest['id'] },
    { id: 'string', kind: 'removed', count: 3, from: minute(2), to: minute(4), by: 'guest' },
  );
  assert.ok(Math.abs(Date.parse(String(date)) - Date.now()) < 60_000);
  assert.equal(second?.['kind'], 'corrected');
});

test('of corrections that overlap the newest is undone first', async () => {
  const sensor = await filled();
  const { remove, correct, undo } = correctable(sensor);
  const low = await remove(range(2, 4));
  const beside = await remove(range(8, 9));
  const above = await correct([
    { timestamp: minute(1), value: 9 },
    { timestamp: minute(5), value: 9 },
  ]);
  assertRefused(await undo(low.correction), 409, { saying: new RegExp(`${above.correction}`) });
  assertDone(await undo(beside.correction));
  assertDone(await undo(above.correction));
  assertDone(await undo(low.correction));
  assertRefused(await undo(low.correction), 404);
  assert.equal((await sensor.all()).length, 10);
});

test('what touches nothing is no correction', async () => {
  const sensor = await filled(2);
  const { remove, correct, list } = correctable(sensor);
  assert.deepEqual(await remove(range(50, 60)), { removed: 0 });
  assert.deepEqual(await correct([]), { corrected: 0, missing: [] });
  assert.deepEqual(await list(), []);
});

test('a removal needs a range or all=true, and a value its time', async () => {
  const sensor = await filled(2);
  const { send } = correctable(sensor);
  for (const query of ['values', 'values?value=1', 'values?all=false', 'values?dateFrom=never']) {
    assertRefused(await send('DELETE', query), 400, { of: query });
  }
  // What a script left out would take away more than was meant.
  for (const empty of [
    'all=true&value=',
    `dateTo=${minute(5)}&value=`,
    'dateFrom=&dateTo=',
    'all=',
  ]) {
    assertRefused(await send('DELETE', `values?${empty}`), 400, { of: empty });
  }
  for (const empty of ['dateFrom', 'date_to']) {
    assertRefused(await send('DELETE', `values?all=true&${empty}=`), 400, { of: empty });
  }
  const timestamp = minute(1);
  for (const items of [
    { timestamp, value: 1 },
    [1],
    [{ timestamp }],
    [{ value: 1 }],
    [{ timestamp: 'never', value: 1 }],
    Array.from({ length: 5_001 }, (_, n) => ({ timestamp: minute(n), value: n })),
  ]) {
    assertRefused(await send('PATCH', 'values', items), 400);
  }
  assertRefused(await send('DELETE', 'corrections/nonsense'), 404);
  const long = [{ timestamp, value: 'x'.repeat(70_000) }];
  assertRefused(await send('PATCH', 'values', long), 413);
  assert.deepEqual(valuesOf(await sensor.all()), [0, 1]);
});

test('corrections go with their sensor', async () => {
  const sensor = await filled(3);
  const { remove, list } = correctable(sensor);
  await remove('all=true');
  await service.call({ method: 'DELETE', path: sensor.path });
  await service.call({
    ...{ method: 'POST', path: `/devices/${sensor.deviceId}/sensors` },
    json: { id: sensor.sensorId },
  });
  await sensor.push({ value: 1, timestamp: minute(1) });
  assert.deepEqual(valuesOf(await sensor.all()), [1]);
  assert.deepEqual(await list(), []);
});

test('an undo is final after thirty days', async () => {
  const clock = createManualClock(Date.parse('2026-11-22T12:00:00Z'));
  await using late = await startService({ clock });
  const sensor = await openSensor(late);
  await sensor.push({ value: 1, timestamp: minute(1) });
  const { remove, undo } = correctable(sensor, late);
  const { correction } = await remove('all=true');
  clock.advance(30 * 86_400_000 + 1);
  assertRefused(await undo(correction), 409, { saying: /30 days/ });
});

test('what was received while the clock was ahead can be taken away once it is right', async () => {
  const clock = createManualClock(Date.parse('2030-01-01T00:00:00Z'));
  await using moved = await startService({ clock });
  const sensor = await openSensor(moved);
  await sensor.push({ value: 1 });
  clock.set(Date.parse('2026-11-22T12:00:00Z'));
  const { remove } = correctable(sensor, moved);
  assert.equal((await remove('all=true')).removed, 1);
  await sensor.push({ value: 2 });
  const [shown] = await sensor.all();
  assert.equal(shown?.value, 2);
  assert.equal(shown?.date_received.slice(0, 10), '2026-11-22');
});

test('corrections outlive a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-corrections-'));
  try {
    let sensor: SensorEndpoint;
    let correction: string | undefined;
    {
      await using first = await startService({ directory });
      sensor = await openSensor(first);
      await sensor.push([1, 2, 3].map((n) => ({ value: n, timestamp: minute(n) })));
      await correctable(sensor, first).correct([{ timestamp: minute(1), value: 10 }]);
      ({ correction } = await correctable(sensor, first).remove(range(3, 3)));
    }
    await using second = await startService({ directory });
    const again = doorOf(second, sensor.deviceId, sensor.sensorId);
    assert.deepEqual(valuesOf(await again.all()), [10, 2]);
    assert.equal(await lastOf(again), 2);
    await again.push({ value: 3, timestamp: minute(3) });
    assert.deepEqual(valuesOf(await again.all()), [10, 2]);
    assertDone(await correctable(again, second).undo(correction));
    assert.deepEqual(valuesOf(await again.all()), [10, 2, 3]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
