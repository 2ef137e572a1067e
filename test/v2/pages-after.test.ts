import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import {
  datapointsOf,
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

/** Reads page after page, with something else in between, and answers all values. */
async function walk(
  sensor: SensorEndpoint,
  options: { readonly limit: number; readonly between?: (page: number) => Promise<void> },
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  let cursor: string | null = '';
  let latest = '';
  for (let page = 0; cursor !== null; page += 1) {
    const query: string = `?after=${encodeURIComponent(cursor)}&limit=${options.limit}`;
    const reply = await sensor.read(query);
    assert.equal(reply.status, 200, reply.text);
    const datapoints = datapointsOf(reply);
    assert.ok(datapoints.length <= options.limit);
    assert.ok(datapoints.length > 0 || found.length === 0 || !reply.headers.has('x-after'));
    for (const { timestamp, date_received } of datapoints) {
      const time = timestamp ?? date_received;
      assert.ok(time >= latest, `${time} comes after ${latest}`);
      latest = time;
    }
    found.push(...valuesOf(datapoints));
    cursor = reply.headers.get('x-after');
    await options.between?.(page);
  }
  return found;
}

test('pages have all datapoints in the order of time, and the last one no X-After', async () => {
  const sensor = await openSensor(service);
  assert.deepEqual(await walk(sensor, { limit: 3 }), []);
  await sensor.push([4, 2, 0, 3, 1].map((value) => ({ value, timestamp: minute(value) })));
  for (const limit of [1, 2, 5, 6, 1_000_000]) {
    assert.deepEqual(await walk(sensor, { limit }), [0, 1, 2, 3, 4], `${limit}`);
  }
  const first = await sensor.read('?after=&limit=2');
  assert.equal(first.headers.get('x-total-count'), '5');
  const rest = `?after=${first.headers.get('x-after')}&dateTo=${minute(3)}`;
  assert.deepEqual(valuesOf(datapointsOf(await sensor.read(rest))), [2, 3]);
  const csv = await sensor.read(`${rest}&format=csv`);
  assert.equal(csv.text.split('\r\n').length, 4);
});

test('what was there at the first page comes once, whatever arrives between pages', async () => {
  const time = fc.nat(6);
  const change = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), times: fc.array(time, { maxLength: 5 }) }),
    fc.record({ kind: fc.constant('stamped' as const), count: fc.nat(2) }),
    fc.record({ kind: fc.constant('remove' as const), from: time, length: fc.nat(2) }),
    fc.record({ kind: fc.constant('undo' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(
      ...[fc.array(time, { maxLength: 14 }), fc.array(change, { maxLength: 8 })],
      ...[fc.integer({ min: 1, max: 4 }), fc.nat(3)],
      async (begin, changes, limit, corrected) => {
        const sensor = await openSensor(service);
        let count = 0;
        const push = (times: readonly (number | undefined)[]) =>
          sensor.push(
            times.map((at) => ({
              value: count++,
              ...(at !== undefined && { timestamp: minute(at) }),
            })),
          );
        const made: string[] = [];
        const removed = new Set<unknown>();
        const allOf = async () => valuesOf(await sensor.all());
        async function apply(one: (typeof changes)[number]): Promise<void> {
          if (one.kind === 'push') return push(one.times);
          if (one.kind === 'stamped') return push(Array.from({ length: one.count }));
          if (one.kind === 'undo') {
            const id = made.pop();
            if (id === undefined) return;
            const path = `${sensor.path}/corrections/${id}`;
            return assertDone(await service.call({ method: 'DELETE', path }));
          }
          const before = await allOf();
          const to = minute(one.from + one.length);
          const path = `${sensor.path}/values?dateFrom=${minute(one.from)}&dateTo=${to}`;
          const reply = await service.call({ method: 'DELETE', path });
          const { correction } = reply.json as { readonly correction?: string };
          if (correction !== undefined) made.push(correction);
          const left = new Set(await allOf());
          for (const value of before) if (!left.has(value)) removed.add(value);
        }
        await push(begin);
        if (corrected > 0) await apply({ kind: 'remove', from: corrected, length: 1 });
        removed.clear();
        const there = await allOf();
        const waiting = [...changes];
        const found = await walk(sensor, {
          limit,
          between: async () => {
            const next = waiting.shift();
            if (next !== undefined) await apply(next);
          },
        });
        assert.equal(new Set(found).size, found.length, 'nothing twice');
        const missing = there.filter((value) => !found.includes(value) && !removed.has(value));
        assert.deepEqual(missing, []);
      },
    ),
    { numRuns: 60 },
  );
});

test('retention between two pages takes nothing of what is left', async () => {
  const day = 86_400_000;
  const clock = createManualClock(Date.UTC(2026, 5, 20, 10));
  await using retaining = await startService({ clock });
  const sensor = await openSensor(retaining);
  const at = (days: number) => new Date(clock.now() - days * day).toISOString();
  const old = Array.from({ length: 5 }, (_, value) => ({ value, timestamp: at(9) }));
  await sensor.push([...old, { value: 5, timestamp: at(1) }, { value: 6, timestamp: at(0) }]);
  const found = await walk(sensor, {
    limit: 3,
    between: async (page) => {
      if (page > 0) return;
      const path = `${sensor.path}/retention`;
      assertDone(await retaining.call({ method: 'PUT', path, json: { raw_days: 3 } }));
      clock.advance(3_600_000);
      while ((await sensor.all()).length > 2) await wait(20);
    },
  });
  assert.deepEqual(found, [0, 1, 2, 5, 6]);
});

test('a cursor holds over a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-pages-'));
  let running = await startService({ directory });
  try {
    const pushed = Array.from({ length: 6 }, (_, value) => ({ value, timestamp: minute(1) }));
    const sensor = await openSensor({ call: (request) => running.call(request) });
    await sensor.push(pushed);
    const found = await walk(sensor, {
      limit: 2,
      between: async () => {
        await running[Symbol.asyncDispose]();
        running = await startService({ directory });
      },
    });
    assert.deepEqual(found, [0, 1, 2, 3, 4, 5]);
  } finally {
    await running[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a cursor that no page gave, or that asks for another order, is refused', async () => {
  const sensor = await openSensor(service);
  await sensor.push([1, 2, 3].map((value) => ({ value, timestamp: minute(value) })));
  const cursor = (await sensor.read('?after=&limit=1')).headers.get('x-after') ?? '';
  const other = await openSensor(service);
  const swapped = cursor.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A'));
  for (const wrong of ['x', '0', '%00', '..', `${cursor}A`, swapped, cursor.slice(1), '%20']) {
    assertRefused(await sensor.read(`?after=${wrong}`), 400, { saying: /after must be/ });
  }
  assertRefused(await other.read(`?after=${cursor}`), 400, { saying: /of this sensor/ });
  for (const query of ['sort=dsc', 'lastN=2', 'offset=1', 'aggregate=max', 'points=5', 'limit=0']) {
    assertRefused(await sensor.read(`?after=&${query}`), 400, { saying: /order of time/ });
  }
});
