import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Service, startService } from '../service.ts';
import { assertDone } from './refusal.ts';
import { minute } from './sensor-endpoint.ts';

/** More than a sensor keeps in memory: most of them are in chunks, with their summaries. */
const size = 6_000;
const devices = ['tc-1', 'tc-2', 'tc-3'];
const minuteMs = 60_000;
const zones = { UTC: 0, 'Africa/Nairobi': 3 * 3_600_000, 'Asia/Kolkata': 5.5 * 3_600_000 };
const intervals = { '15m': 900_000, '1h': 3_600_000, '6h': 6 * 3_600_000, '1d': 86_400_000 };
const falling = {
  linear: {
    enabled: true,
    value_min: { sensor_value: 0, real_value: 100 },
    value_max: { sensor_value: 60, real_value: 70 },
  },
};

interface Point {
  readonly time: number;
  readonly number: number | undefined;
}

let service: Service;
const stored = new Map<string, readonly Point[]>();

/** A counter in steps of 0.1 that starts again, of some texts and numbers as text as well. */
function valueAt(device: number, n: number): number | string {
  if (n % 997 === 5) return 'none';
  const number = ((n * (3 + device)) % 541) / 10;
  return n % 1_499 === 7 ? `${number}` : number;
}

before(async () => {
  service = await startService();
  for (const [at, id] of devices.entries()) {
    const sensor = { id: 'E', ...(at === 1 && { calib: falling }) };
    const json = { id, sensors: at === 2 ? [sensor, { id: 'other' }] : [sensor] };
    assertDone(await service.call({ method: 'POST', path: '/devices', json }));
    const values = Array.from({ length: size }, (_, n) => ({
      ...{ value: valueAt(at, n), timestamp: minute(n) },
    }));
    const path = `/devices/${id}/sensors/E/values`;
    // The hundredth comes late, into the middle of what is stored.
    const [late, timely] = [values.slice(99, 100), values.toSpliced(99, 1)];
    for (const some of [timely, late]) {
      assertDone(await service.call({ method: 'POST', path, json: some }));
    }
    stored.set(
      id,
      values.map(({ value, timestamp }) => {
        const number = Number(value);
        const real = at === 1 && typeof value === 'number' ? 100 - number / 2 : number;
        return { time: Date.parse(timestamp), number: Number.isNaN(real) ? undefined : real };
      }),
    );
  }
  const json = { id: 'totals', name: 'Totals', device_ids: devices };
  assert.equal((await service.call({ method: 'POST', path: '/projects', json })).status, 200);
});

after(() => service[Symbol.asyncDispose]());

interface Tally {
  count: number;
  numbers: number[];
  increase: number;
}

/** What a counter grew by at each point, over all of its points. */
function growthsOf(points: readonly Point[]): ReadonlyMap<Point, number> {
  const all = points.filter(({ number }) => number !== undefined);
  const numbers = all.map(({ number = 0 }) => number);
  const kept = all.filter((_, at) => {
    const [before, number = 0, next] = [numbers[at - 1], numbers[at], numbers[at + 1]];
    if (before === undefined || next === undefined || next < before) return true;
    return number >= before && number <= next;
  });
  return new Map(
    kept.slice(1).map((point, at) => {
      const [before, number] = [kept[at]?.number ?? 0, point.number ?? 0];
      return [point, number < before ? Math.max(0, number) : number - before];
    }),
  );
}

/** Buckets of all these devices together, of the points of a range. */
function totalsOf(
  ids: readonly string[],
  range: readonly [from: number, to: number],
  bucketOf: (time: number) => number,
): ReadonlyMap<number, Tally> {
  const buckets = new Map<number, Tally>();
  for (const id of ids) {
    const points = stored.get(id) ?? [];
    const growths = growthsOf(points);
    for (const point of points) {
      const { time, number } = point;
      if (time < range[0] || time > range[1]) continue;
      const at = bucketOf(time);
      const bucket = buckets.get(at) ?? { count: 0, numbers: [], increase: 0 };
      buckets.set(at, bucket);
      bucket.count += 1;
      if (number === undefined) continue;
      bucket.numbers.push(number);
      bucket.increase += growths.get(point) ?? 0;
    }
  }
  return new Map([...buckets].toSorted(([a], [b]) => a - b));
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

function assertNear(found: unknown, expected: number, what: string): void {
  const off = Math.abs(Number(found) - expected);
  assert.ok(off <= 1e-11 * Math.max(1, Math.abs(expected)), `${what}: ${found}, not ${expected}`);
}

const question = fc.record({
  named: fc.constantFrom('device_id=tc-1,tc-2,tc-3', 'q=id~=^tc-', 'project_id=totals', 'alone'),
  zone: fc.constantFrom(...(Object.keys(zones) as (keyof typeof zones)[])),
  interval: fc.constantFrom(...(Object.keys(intervals) as (keyof typeof intervals)[])),
  range: fc.option(fc.tuple(fc.nat({ max: size }), fc.nat({ max: size })), { nil: undefined }),
});

test('totals of devices are those of a look at every datapoint', async () => {
  const beginning = Date.parse(minute(0));
  await fc.assert(
    fc.asyncProperty(question, async ({ named, zone, interval, range }) => {
      const [offset, length] = [zones[zone], intervals[interval]];
      const within = (range ?? [0, size]).toSorted((a, b) => a - b);
      const [from = 0, to = 0] = within.map((n) => beginning + n * minuteMs);
      const devicesOf = named === 'alone' ? 'device_id=tc-2' : named;
      const { status, json, text } = await service.call({
        path:
          `/sensors_data?${devicesOf}&sensor_id=E&across=devices&interval=${interval}` +
          `&aggregate=count,sum,avg,min,max,increase&timezone=${zone}` +
          `&dateFrom=${new Date(from).toISOString()}&dateTo=${new Date(to).toISOString()}`,
      });
      assert.equal(status, 200, text);
      const ids = named === 'alone' ? ['tc-2'] : devices;
      const bucketOf = (time: number) => Math.floor((time + offset) / length) * length - offset;
      const expected = totalsOf(ids, [from, to], bucketOf);
      const found = json as readonly Record<string, unknown>[];
      assert.deepEqual(
        found.map(({ timestamp }) => Date.parse(String(timestamp))),
        [...expected.keys()],
      );
      for (const [at, { count, numbers, increase }] of [...expected.values()].entries()) {
        const bucket = found[at] ?? {};
        assert.equal(bucket['count'], count);
        if (numbers.length === 0) continue;
        assertNear(bucket['min'], Math.min(...numbers), 'min');
        assertNear(bucket['max'], Math.max(...numbers), 'max');
        assertNear(bucket['sum'], sumOf(numbers), 'sum');
        assertNear(bucket['avg'], sumOf(numbers) / numbers.length, 'avg');
        assertNear(bucket['increase'], increase, 'increase');
      }
    }),
    { numRuns: 40 },
  );
});

test('a plot of a few points of many datapoints is made of those that stand out', async () => {
  // Two pushes, so long that stretches of several thousand stand for theirs.
  const path = '/devices/tc-3/sensors/other/values';
  const values = Array.from({ length: 40_000 }, (_, n) => ({
    value: n === 31_313 ? 900 : Math.round(200 * Math.sin(n / 3_000)) / 10,
    timestamp: minute(n),
  }));
  for (const some of [values.slice(0, 20_000), values.slice(20_000)]) {
    assertDone(await service.call({ method: 'POST', path, json: some }));
  }
  const plot = await service.call({ path: `${path}?points=6` });
  assert.equal(plot.headers.get('x-total-count'), '40000');
  const found = plot.json as readonly { value: number; timestamp: string }[];
  const [left, right] = [values.slice(0, 20_000), values.slice(20_000)].map((half) => {
    const numbers = half.map(({ value }) => value);
    return [Math.min(...numbers), Math.max(...numbers)].map((peak) =>
      half.find(({ value }) => value === peak),
    );
  });
  const expected = [values[0], ...(left ?? []), ...(right ?? []), values.at(-1)]
    .filter((one) => one !== undefined)
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  assert.deepEqual(
    found.map(({ value, timestamp }) => ({ value, timestamp })),
    expected,
  );
});
