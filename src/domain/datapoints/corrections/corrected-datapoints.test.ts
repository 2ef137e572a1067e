import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CorrectionId, DeviceId, SensorId, Username } from '../../ids.ts';
import type { Datapoint } from '../datapoint.ts';
import { toDatapointColumns } from '../datapoint-columns.ts';
import { type DatapointStore, type Range, readDatapoints } from '../datapoint-store.ts';
import type { Correction } from './correction.ts';
import { createCorrectedDatapoints, createCorrectionBook } from './correction-book.ts';

const sensor = { deviceId: 'd1' as DeviceId, sensorId: 's1' as SensorId };
const minuteMs = 60_000;
const minutes = 100_000;

const aCorrection = (changes: Partial<Correction>): Correction => ({
  ...{ id: 'c1' as CorrectionId, ...sensor, kind: 'removed', from: 0, to: 0, items: [], count: 1 },
  ...{ createdAt: 1_000, by: 'ana' as Username, reach: { until: 1_000 } },
  ...changes,
});

/** Minutes of one sensor in a list, and how many of them were read. */
function createMinutes(correction: Correction, valueAt = (minute: number) => minute, late = -1) {
  const all = Array.from(
    { length: minutes },
    (_, minute): Datapoint => ({
      ...{ value: valueAt(minute), timestamp: minute * minuteMs },
      receivedAt: minute === late ? 2_000 : 500,
    }),
  );
  const minuteOf = (time: number) => Math.min(minutes, Math.max(0, Math.ceil(time / minuteMs)));
  let kept = 0;
  const within = ({ from = 0, to = minutes * minuteMs }: Range): [number, number] => [
    Math.max(kept, minuteOf(from)),
    minuteOf(to + 1),
  ];
  const count = async (_: unknown, range: Range): Promise<number> => {
    const [first, end] = within(range);
    return Math.max(0, end - first);
  };
  let [read, scans] = [0, 0];
  let excluded: readonly Required<Range>[] = [];
  const pushed: Partial<DatapointStore> = {
    count,
    async scan(_, page, charactersMax) {
      const [first, end] = within(page);
      const isAscending = page.order === 'asc';
      // Each value has one character.
      const limit = Math.min(page.limit, charactersMax);
      const from = isAscending ? first + page.skip : Math.max(first, end - page.skip - limit);
      const to = isAscending ? Math.min(end, from + limit) : end - page.skip;
      const rows = all.slice(from, Math.max(from, to));
      [read, scans] = [read + rows.length, scans + 1];
      const columns = toDatapointColumns(isAscending ? rows : rows.reverse());
      return { columns, isCut: limit < page.limit };
    },
    async summarise(_, __, { exclude = [] }) {
      excluded = exclude;
      return { parts: [] };
    },
    standsFrom: async () => undefined,
  };
  const book = createCorrectionBook(
    {
      reaches: async () => [],
      heads: async () => [correction],
      list: async () => [correction],
    } as never,
    [correction],
  );
  // The double has the methods that corrected datapoints ask for here.
  const datapoints = createCorrectedDatapoints(pushed as DatapointStore, book);
  return {
    datapoints,
    /** Another process takes all that is older. */
    takeBefore(minute: number): void {
      kept = minute;
    },
    /** How many datapoints are read for the page when it is read again. */
    async readFor(page: Parameters<typeof readDatapoints>[2]): Promise<[unknown, number]> {
      await datapoints.count(sensor, {});
      [read, scans] = [0, 0];
      const [one] = await readDatapoints(datapoints, sensor, page);
      return [one?.value, read];
    },
    /** How often the store is asked for one datapoint of few characters, and which it is. */
    async scansFor(page: Parameters<typeof readDatapoints>[2]): Promise<[unknown, number]> {
      await datapoints.count(sensor, {});
      scans = 0;
      const { columns } = await datapoints.scan(sensor, page, 1);
      assert.equal(columns.count, 1);
      return [columns.at(0).value, scans];
    },
    async excludedMs(): Promise<number> {
      const room = { rowsMax: 10, charactersMax: 10, mayStand: () => true };
      const all = { order: 'asc', skip: 0, limit: Number.POSITIVE_INFINITY } as const;
      await datapoints.summarise(sensor, all, room);
      return excluded.reduce((sum, { from, to }) => sum + to - from, 0);
    },
  };
}

const month = () => aCorrection({ from: 10_000 * minuteMs, to: 53_199 * minuteMs });

test('a page behind a removed month reads a page, wherever it begins', async () => {
  const { readFor } = createMinutes(month());
  const ascending = { order: 'asc', skip: 0, limit: 20 } as const;
  const cases = [
    [{ ...ascending, from: 10_000 * minuteMs }, 53_200],
    [{ ...ascending, from: 30_000 * minuteMs }, 53_200],
    [{ ...ascending, skip: 9_995 }, 9_995],
    [{ ...ascending, skip: 10_000 }, 53_200],
    [{ ...ascending, skip: 50_000 }, 93_200],
    [{ ...ascending, order: 'desc', to: 30_000 * minuteMs }, 9_999],
    [{ ...ascending, order: 'desc', skip: 46_800 }, 9_999],
  ] as const;
  for (const [page, first] of cases) {
    const [value, read] = await readFor(page);
    assert.equal(value, first);
    assert.ok(read <= 3_000, `${read} were read for ${JSON.stringify(page)}`);
  }
});

test('a value that came later into a removed month is found without reading it', async () => {
  const { readFor } = createMinutes(month(), undefined, 30_000);
  const ascending = { order: 'asc', skip: 0, limit: 20 } as const;
  for (const page of [
    { ...ascending, from: 10_000 * minuteMs },
    { ...ascending, skip: 10_000 },
    { ...ascending, order: 'desc', skip: 46_800 } as const,
  ]) {
    const [value, read] = await readFor(page);
    assert.equal(value, 30_000);
    assert.ok(read <= 3_000, `${read} were read for ${JSON.stringify(page)}`);
  }
});

test('what retention elsewhere took of a removed month takes nothing of what follows', async () => {
  const { datapoints, takeBefore } = createMinutes(month());
  await datapoints.count(sensor, {});
  takeBefore(11_024);
  const page = { order: 'asc', skip: 500, limit: 1 } as const;
  assert.equal((await readDatapoints(datapoints, sensor, page))[0]?.value, 53_700);
  assert.equal(await datapoints.count(sensor, { to: 20_000 * minuteMs }), 0);
});

test('a removal by value excludes from sums the hours of those that had it', async () => {
  const whole = { value: 7, from: 0, to: (minutes - 1) * minuteMs };
  const isWrong = (minute: number) => minute % 10_000 === 0 || minute % 10_000 === 30;
  const hours = createMinutes(aCorrection(whole), (minute) => (isWrong(minute) ? 7 : 1));
  assert.ok((await hours.excludedMs()) <= 10 * 60 * minuteMs);
  const [value, read] = await hours.readFor({ order: 'asc', skip: 90_000, limit: 20 });
  assert.equal(value, 1);
  assert.ok(read <= 2_000, `${read} were read`);
});

test('corrected values exclude their own hours from sums', async () => {
  const items = [0, minutes - 1].map((minute) => ({
    ...{ time: minute * minuteMs, isTimed: true, value: 3 },
  }));
  const span = { from: 0, to: (minutes - 1) * minuteMs };
  const { excludedMs } = createMinutes(aCorrection({ kind: 'corrected', items, ...span }));
  assert.ok((await excludedMs()) <= 2 * 60 * minuteMs);
});

test('limit 1 in a mixed hour asks the store a few times, not for each row', async () => {
  const whole = { value: 7, from: 0, to: (minutes - 1) * minuteMs };
  const hours = createMinutes(aCorrection(whole), (minute) => (minute % 60 === 1 ? 1 : 7));
  const cases = [
    { order: 'desc', skip: 0, limit: 1, to: 49_980 * minuteMs },
    { order: 'asc', skip: 0, limit: 1, from: 49_982 * minuteMs },
    { order: 'asc', skip: 2, limit: 1, from: 49_982 * minuteMs },
  ] as const;
  for (const page of cases) {
    const [value, scans] = await hours.scansFor(page);
    assert.equal(value, 1);
    assert.ok(scans <= 10, `${scans} for ${JSON.stringify(page)}`);
  }
});
