import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createNaiveDatapoints } from '../../../test/contract/storage/naive-datapoints.ts';
import { parseDeviceId, parseSensorId } from '../ids.ts';
import type { Datapoint } from './datapoint.ts';
import type { Page } from './datapoint-store.ts';
import { pageBehindSkipped } from './merged-history.ts';

const pace = { isOver: () => true, rest: async () => undefined, begin: () => undefined };
const sensors = ['a', 'b', 'c'].map((id) => ({
  deviceId: parseDeviceId('d'),
  sensorId: parseSensorId(id),
}));
const instant = fc.integer({ min: -20, max: 20 });
const times = fc.array(instant, { maxLength: 15 });
const anyPage = fc
  .record({
    order: fc.constantFrom('asc', 'desc'),
    skip: fc.nat(50),
    limit: fc.integer({ min: 1, max: 50 }),
    from: fc.option(instant, { nil: undefined }),
    to: fc.option(instant, { nil: undefined }),
  })
  .map(
    ({ from, to, ...page }): Page => ({
      ...page,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    }),
  );

test('a page behind what is counted is the page behind what is read', async () => {
  const run = async (lists: readonly number[][], page: Page, skipMax: number) => {
    const datapoints = createNaiveDatapoints();
    for (const [at, list] of lists.entries()) {
      const sensor = sensors[at] as (typeof sensors)[0];
      const points = list.map(
        (time, n): Datapoint => ({
          ...{ timestamp: time, receivedAt: time, value: n },
        }),
      );
      datapoints.append(sensor, points);
    }
    const merged = ({ skip, limit, ...range }: Page) => {
      const all = sensors.flatMap((sensor) => [
        ...datapoints.read(sensor, { ...range, skip: 0, limit: 1_000 }),
      ]);
      const sign = range.order === 'asc' ? 1 : -1;
      const sorted = all.toSorted((a, b) => sign * ((a.timestamp ?? 0) - (b.timestamp ?? 0)));
      return sorted.slice(skip, skip + limit);
    };
    const count = async (...asked: Parameters<typeof datapoints.count>) =>
      datapoints.count(...asked);
    const all = merged({ ...page, skip: 0, limit: 1_000 });
    const read = { store: { count }, sensors, page, total: all.length, skipMax, pace };
    const later = await pageBehindSkipped(read);
    assert.deepEqual(merged(later), merged(page));
    const [first] = merged(page);
    const atOnce = lists.flat().filter((time) => time === first?.timestamp);
    if (first !== undefined) assert.ok(later.skip <= Math.max(skipMax, atOnce.length));
  };
  await fc.assert(fc.asyncProperty(fc.tuple(times, times, times), anyPage, fc.nat(3), run));
});

test('a page near the end of a million datapoints takes some forty counts of each', async () => {
  const all = 1_000_000;
  let counts = 0;
  const count = async (_sensor: unknown, { from = 0, to = all }) => {
    counts += 1;
    return Math.max(0, Math.min(all, to + 1) - Math.max(0, from));
  };
  const page = { order: 'asc', skip: 3 * all - 20, limit: 20 } as const;
  const read = { store: { count }, sensors, page, total: 3 * all, skipMax: 1_000, pace };
  const { from, skip } = await pageBehindSkipped(read);
  assert.ok(counts <= 3 * 50, `${counts} counts`);
  assert.ok(skip <= 1_000 && (from ?? 0) * 3 + skip === page.skip);
});
