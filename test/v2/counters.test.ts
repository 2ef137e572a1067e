import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { assertDone } from './refusal.ts';
import { openSensor, type SensorEndpoint } from './sensor-endpoint.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.UTC(2026, 5, 20, 10);
const begin = now - 12 * day;

interface Reading {
  readonly at: number;
  readonly value: number;
}

let service: Service;
const clock = createManualClock(now);

before(async () => {
  service = await startService({ clock });
});

after(() => service[Symbol.asyncDispose]());

const wire = ({ at, value }: Reading) => ({ value, timestamp: new Date(at).toISOString() });

/** What a counter grew by at each reading, as simply as possible, in thousandths. */
function growths(readings: readonly Reading[]): ReadonlyMap<Reading, number> {
  const kept = readings.filter(({ value }, n) => {
    const [earlier, later] = [readings[n - 1]?.value, readings[n + 1]?.value];
    if (earlier === undefined || later === undefined || later < earlier) return true;
    return value >= earlier && value <= later;
  });
  return new Map(
    kept.slice(1).map((reading, n) => {
      const [earlier, later] = [kept[n]?.value ?? 0, reading.value];
      const grown = later < earlier ? Math.max(0, later) : later - earlier;
      return [reading, Math.round(grown * 1_000)];
    }),
  );
}

async function increases(sensor: SensorEndpoint, query: string): Promise<readonly number[]> {
  const reply = await sensor.read(`?aggregate=increase${query}`);
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { value: number }[]).map(({ value }) => value);
}

const toThousandths = (numbers: readonly number[]): number =>
  Math.round(numbers.reduce((sum, one) => sum + one, 0) * 1_000);

test('a meter grows as people would say that it did', async () => {
  const cases: readonly (readonly [name: string, values: readonly number[], grown: number])[] = [
    ['Today', [20_411.3, 20_418.5, 20_418.55], 7.25],
    ['Flat', [100, 100, 100], 0],
    ['Zero', [900, 905, 0, 910, 915, 920, 927], 27],
    ['Dip', [215.6, 215.7, 215.6, 215.8], 0.2],
    ['Gap', [3.737, 0, 3.746], 0.009],
    ['Peak', [100, 900, 101], 1],
    ['Restart', [100, 5, 7], 7],
    ['Negative', [-10, -8.5, -8.5, 1], 11],
  ];
  for (const [id, values, grown] of cases) {
    const sensor = await openSensor(service, { id });
    await sensor.push(values.map((value, n) => wire({ at: begin + n * 50 * minute, value })));
    assert.deepEqual(await increases(sensor, ''), [grown], id);
    const hours = await increases(sensor, '&interval=1h');
    assert.equal(toThousandths(hours), Math.round(grown * 1_000), `${id} by the hour`);
    const from = new Date(begin + 1).toISOString();
    assert.deepEqual(await increases(sensor, `&dateFrom=${from}`), [grown], `${id} later`);
  }
});

test('the newest so many of a range grow from the value before them', async () => {
  const sensor = await openSensor(service, { id: 'Newest' });
  const values = [100, 110, 125, 125.5, 127];
  await sensor.push(values.map((value, n) => wire({ at: begin + n * minute, value })));
  // Two more of one instant, one of them a glitch.
  const again = [130, 90, 131].map((value) => wire({ at: begin + 5 * minute, value }));
  for (const one of again) await sensor.push([one]);
  const from = `&dateFrom=${new Date(begin + 2 * minute).toISOString()}`;
  for (const [query, grown] of [
    [`${from}&lastN=1000`, 21],
    [`${from}&lastN=6`, 21],
    [`${from}&lastN=5`, 6],
    ['&lastN=3', 4],
    ['&lastN=2', 1],
    ['&lastN=1', 1],
    ['&lastN=1000', 31],
  ] as const) {
    assert.deepEqual(await increases(sensor, query), [grown], query);
  }
});

test('rain is the sum of its tips, with the digits of a decimal', async () => {
  const sensor = await openSensor(service, { id: 'Rain', measures: 'amount' });
  await sensor.push([0.2, 0.4, 0.8].map((value, n) => wire({ at: begin + n * minute, value })));
  const reply = await sensor.read('?aggregate=sum,avg');
  assert.partialDeepStrictEqual(reply.json, [{ sum: 1.4, avg: 0.466666666666667 }]);
});

/** A meter that stands still, falls, starts again, shows nonsense, and is read now and then. */
const meter = fc
  .record({
    gap: fc.constantFrom(3, 7, 61, 1_440),
    first: fc.integer({ min: -3_000, max: 900_000 }),
    steps: fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 900 }) },
        { weight: 3, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.constantFrom('glitch', 'peak', 'restart', 'dip', 'again') },
      ),
      { minLength: 3, maxLength: 400 },
    ),
  })
  .map(({ gap, first, steps }) => {
    const readings: Reading[] = [];
    let [standing, at] = [first, begin];
    for (const step of steps) {
      if (typeof step === 'number') standing += step;
      else if (step === 'restart') standing = 12;
      const odd = { glitch: 0, peak: standing + 70_000, dip: standing - 100 };
      const shown =
        typeof step === 'string' && step in odd ? odd[step as keyof typeof odd] : standing;
      readings.push({ at, value: shown / 1_000 });
      // Two readings of one instant stay in the order in which they came.
      if (step !== 'again') at += gap * minute;
      if (at > now) break;
    }
    return readings.filter((one, n) => {
      const earlier = readings.slice(Math.max(0, n - 9), n);
      return !earlier.some(({ at: other, value }) => other === one.at && value === one.value);
    });
  });

const question = fc.record({
  interval: fc.constantFrom(
    '',
    '&interval=7m',
    '&interval=1h',
    '&interval=1d&timezone=Asia/Kolkata',
  ),
  from: fc.option(fc.integer({ min: 0, max: 12 * 1_440 })),
  to: fc.option(fc.integer({ min: 0, max: 12 * 1_440 })),
  lastN: fc.option(fc.integer({ min: 1, max: 400 })),
});

/** Ranges that begin and end with hours, as retention counts hours as a whole. */
async function assertGrows(
  sensor: SensorEndpoint,
  readings: readonly Reading[],
  asked: typeof question extends fc.Arbitrary<infer One> ? One : never,
  unit = 1,
): Promise<void> {
  const grown = growths(readings);
  const whole = (minutes: number): number => Math.floor(minutes / unit) * unit * minute;
  const from = asked.from === null ? Number.NEGATIVE_INFINITY : now - 12 * day + whole(asked.from);
  const to = asked.to === null ? Number.POSITIVE_INFINITY : now - 12 * day + whole(asked.to) - 1;
  const newest = asked.lastN ?? readings.length;
  const inRange = readings.filter(({ at }) => at >= from && at <= to).slice(-newest);
  const query =
    (asked.from === null ? '' : `&dateFrom=${new Date(from).toISOString()}`) +
    (asked.to === null ? '' : `&dateTo=${new Date(to).toISOString()}`) +
    (asked.lastN === null ? '' : `&lastN=${asked.lastN}`);
  const expected = inRange.reduce((sum, one) => sum + (grown.get(one) ?? 0), 0);
  const found = await increases(sensor, query + asked.interval);
  assert.equal(toThousandths(found), expected, query + asked.interval);
}

test('a meter grows as a plain model says, over any range and in any buckets', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      meter,
      fc.array(question, { minLength: 4, maxLength: 4 }),
      async (all, asked) => {
        number += 1;
        const sensor = await openSensor(service, { id: `M${number}` });
        // Every seventh comes late, but those of one instant in their order.
        const isLate = (one: Reading, n: number) =>
          n % 7 === 3 && all.filter(({ at }) => at === one.at).length === 1;
        await sensor.push(all.filter((one, n) => !isLate(one, n)).map(wire));
        const late = all.filter(isLate).map(wire);
        if (late.length > 0) await sensor.push(late);
        for (const one of asked) await assertGrows(sensor, all, one);
        for (let lastN = 1; lastN < 7; lastN += 1) {
          await assertGrows(sensor, all, { interval: '', from: null, to: null, lastN });
        }
      },
    ),
    { numRuns: 25 },
  );
});

test('a meter grows as before where retention took its values', async () => {
  const meters = fc.sample(meter, 12);
  const asked = fc
    .sample(question, 12)
    .map((one) => ({ ...one, interval: '&interval=1h' as const, lastN: null }));
  const sensors: SensorEndpoint[] = [];
  for (const [n, all] of meters.entries()) {
    const sensor = await openSensor(service, { id: `R${n}` });
    await sensor.push(all.map(wire));
    // Numbers that came later than an hour was closed count no more: those of today are newest.
    await sensor.push([wire({ at: now, value: 99_999 })]);
    const path = `${sensor.path}/retention`;
    assertDone(await service.call({ method: 'PUT', path, json: { raw_days: 2 } }));
    sensors.push(sensor);
  }
  clock.advance(hour);
  for (const [n, sensor] of sensors.entries()) {
    const all = [...(meters[n] ?? []), { at: now, value: 99_999 }];
    const limit = Math.floor((now - 2 * day) / day) * day;
    const left = all.filter(({ at }) => at >= limit).length;
    for (let turn = 0; ; turn += 1) {
      const total = (await sensor.read('?limit=1')).headers.get('x-total-count');
      if (total === `${left}`) break;
      assert.ok(turn < 2_000, 'retention deletes nothing');
      await wait(20);
    }
    for (const one of asked) await assertGrows(sensor, all, one, 60);
    // Behind hours the newest so many begin with the last value of an hour.
    for (const lastN of [1, left]) {
      await assertGrows(sensor, all, { interval: '', from: null, to: null, lastN });
    }
  }
});
