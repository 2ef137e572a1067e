import assert from 'node:assert/strict';
import { orderTime } from '../../../src/domain/datapoints/datapoint.ts';
import {
  type DatapointStore,
  type Page,
  readDatapoints,
} from '../../../src/domain/datapoints/datapoint-store.ts';
import { isStretchRun } from '../../../src/domain/datapoints/stretches.ts';
import type { JsonValue } from '../../../src/lib/json.ts';
import { writeJson } from '../../../src/lib/long-json.ts';
import { noon } from './builders.ts';
import { allValues, at, push, sensor, untimed } from './datapoint-builders.ts';
import type { Promises } from './promises.ts';

async function valuesOf(store: DatapointStore, page: Partial<Page>): Promise<JsonValue[]> {
  const whole = { order: 'asc', skip: 0, limit: 1_000, ...page } as const;
  return (await readDatapoints(store, sensor(), whole)).map(({ value }) => value);
}

const second = (count: number): number => noon + count * 1_000;

/** What an engine promises about reading datapoints. */
export const datapointReads: Promises = {
  'datapoints come in order of their time, however they arrived': async ({ datapoints }) => {
    await datapoints.append([push([at(5, 5), at(1, 1)])]);
    await datapoints.append([push([at(3, 3)])]);
    await datapoints.append([push([untimed(4, 4), at(2, 2)])]);
    assert.deepEqual(await allValues(datapoints), [1, 2, 3, 4, 5]);
    assert.deepEqual(await valuesOf(datapoints, { order: 'desc' }), [5, 4, 3, 2, 1]);
  },

  'datapoints of one time keep the order of their arrival, or its reverse': async ({
    datapoints,
  }) => {
    await datapoints.append([push([at(2, 'c'), at(2, 'a'), at(1, 'x')])]);
    await datapoints.append([push([untimed(2, 'b'), at(3, 'y'), at(2, 'd')])]);
    const forwards = ['x', 'c', 'a', 'b', 'd', 'y'];
    assert.deepEqual(await allValues(datapoints), forwards);
    assert.deepEqual(await valuesOf(datapoints, { order: 'desc' }), forwards.toReversed());
  },

  'skip and limit cut a page out of either order': async ({ datapoints }) => {
    for (let n = 0; n < 20; n += 1)
      await datapoints.append([push([at((n * 7) % 20, (n * 7) % 20)])]);
    assert.deepEqual(await valuesOf(datapoints, { skip: 3, limit: 4 }), [3, 4, 5, 6]);
    assert.deepEqual(await valuesOf(datapoints, { order: 'desc', skip: 3, limit: 2 }), [16, 15]);
    assert.deepEqual(await valuesOf(datapoints, { skip: 18 }), [18, 19]);
    assert.deepEqual(await valuesOf(datapoints, { order: 'desc', skip: 19 }), [0]);
    assert.deepEqual(await valuesOf(datapoints, { skip: 20 }), []);
    assert.deepEqual(await valuesOf(datapoints, { limit: 0 }), []);
  },

  'a summarised page gives each datapoint once, however short its steps': async ({
    datapoints,
  }) => {
    // Three of each time, in pushes of their own: some lie in chunks, some outside of them.
    const values = Array.from({ length: 30 }, (_, n) => n);
    for (const n of values) await datapoints.append([push([at(Math.floor(n / 3), n)])]);
    const room = { charactersMax: 1_000, mayStand: () => false };
    for (const rowsMax of [1, 2, 5]) {
      for (const skip of [0, 1, 2, 13, 28, 29]) {
        const found: number[] = [];
        const all = { order: 'asc', skip, limit: Number.POSITIVE_INFINITY } as const;
        for (let page: Page | undefined = all; page !== undefined; ) {
          const step = await datapoints.summarise(sensor(), page, { ...room, rowsMax });
          for (const part of step.parts) {
            if (!isStretchRun(part)) found.push(...part.numbers.subarray(0, part.count));
          }
          page = step.next;
        }
        assert.deepEqual(found, values.slice(skip), `${rowsMax} at a time, without ${skip}`);
      }
    }
  },

  'both ends of a range belong to it': async ({ datapoints }) => {
    const points = Array.from({ length: 20 }, (_, n) => at(n, n));
    await datapoints.append([push(points)]);
    const range = { from: second(5), to: second(8) };
    assert.deepEqual(await valuesOf(datapoints, range), [5, 6, 7, 8]);
    assert.equal(await datapoints.count(sensor(), range), 4);
    assert.equal(await datapoints.count(sensor(), { from: second(19) }), 1);
    assert.equal(await datapoints.count(sensor(), { from: second(19) + 1 }), 0);
    assert.equal(await datapoints.count(sensor(), { to: second(0) }), 1);
    assert.equal(await datapoints.count(sensor(), { to: second(0) - 1 }), 0);
    assert.equal(await datapoints.count(sensor(), {}), 20);
  },

  'a range has pages in either order': async ({ datapoints }) => {
    await datapoints.append([push(Array.from({ length: 20 }, (_, n) => at(n, n)))]);
    const range = { from: second(2) + 1, to: second(12) - 1, skip: 2, limit: 3 };
    assert.deepEqual(await valuesOf(datapoints, range), [5, 6, 7]);
    assert.deepEqual(await valuesOf(datapoints, { ...range, order: 'desc' }), [9, 8, 7]);
  },

  'a range whose ends are the wrong way round is empty': async ({ datapoints }) => {
    await datapoints.append([push(Array.from({ length: 9 }, (_, n) => at(n, n)))]);
    const range = { from: second(6), to: second(3) };
    assert.deepEqual(await valuesOf(datapoints, range), []);
    assert.equal(await datapoints.count(sensor(), range), 0);
  },

  'a range of one moment finds all datapoints of it': async ({ datapoints }) => {
    for (let n = 0; n < 9; n += 1) await datapoints.append([push([at(1, n), at(n + 2, 'other')])]);
    const range = { from: second(1), to: second(1) };
    assert.deepEqual(await valuesOf(datapoints, range), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert.equal(await datapoints.count(sensor(), range), 9);
  },

  'a scan is the same as a read, column by column': async ({ datapoints }) => {
    const values: JsonValue[] = [1, '2', null, 2.5, { a: [1] }, 'wet', true, -4, [5]];
    for (let n = 0; n < 27; n += 1) {
      const value = values[n % values.length] ?? null;
      const datapoint = n % 4 === 3 ? untimed((n * 5) % 23, value) : at((n * 7) % 19, value);
      await datapoints.append([push([datapoint])]);
    }
    for (const order of ['asc', 'desc'] as const) {
      for (const part of [{}, { skip: 3, limit: 9 }, { from: second(4), to: second(11) }]) {
        const page = { order, skip: 0, limit: 100, ...part };
        const read = await readDatapoints(datapoints, sensor(), page);
        const { columns: scanned } = await datapoints.scan(sensor(), page, 1_000);
        assert.equal(scanned.count, read.length);
        assert.deepEqual(
          read.map((_, row) => scanned.at(row)),
          read,
        );
        assert.deepEqual([...scanned.times], read.map(orderTime));
        const numbers = read.map(({ value }) => (typeof value === 'number' ? value : Number.NaN));
        assert.deepEqual([...scanned.numbers], numbers);
      }
    }
    const page = { order: 'asc', skip: 0, limit: 9 } as const;
    const nowhere = await datapoints.scan(sensor('nope'), page, 1_000);
    assert.equal(nowhere.columns.count, 0);
    assert.equal(nowhere.isCut, false);
  },

  'a page of long values is scanned in parts': async ({ datapoints }) => {
    const values = Array.from({ length: 9 }, (_, n) => `${n}`.repeat(100));
    await datapoints.append([push(values.map((value, n) => at(n, value)))]);
    for (const order of ['asc', 'desc'] as const) {
      const expected = order === 'asc' ? values : values.toReversed();
      const found: unknown[] = [];
      for (let isCut = true; isCut; ) {
        const page = { order, skip: found.length, limit: 100 };
        const { columns, ...part } = await datapoints.scan(sensor(), page, 250);
        for (let row = 0; row < columns.count; row += 1) found.push(columns.at(row).value);
        assert.ok(columns.count <= 3, `${columns.count} at once`);
        isCut = part.isCut;
      }
      assert.deepEqual(found, expected);
    }
  },

  'large last values are marked in lists, and read one by one': async ({ datapoints }) => {
    const large = 'x'.repeat(100_000);
    const { deviceId, sensorId } = sensor();
    const none = await datapoints.briefLastValues([deviceId]);
    assert.equal(none.get(deviceId)?.get(sensorId), undefined);
    await datapoints.append([push([at(1, large)])]);
    const last = await datapoints.lastValue(sensor());
    // An engine may leave a long value unread.
    assert.equal(writeJson(last?.value), JSON.stringify(large));
    const all = await datapoints.lastValues([deviceId]);
    const listed = all.get(deviceId)?.get(sensorId);
    assert.equal(writeJson(listed?.value), JSON.stringify(large));
    const brief = (await datapoints.briefLastValues([deviceId])).get(deviceId)?.get(sensorId);
    assert.ok(brief === 'large' || writeJson(brief?.value) === JSON.stringify(large));
    await datapoints.append([push([at(2, 'small')])]);
    const small = (await datapoints.briefLastValues([deviceId])).get(deviceId)?.get(sensorId);
    assert.ok(small !== 'large' && small?.value === 'small');
    assert.equal(await datapoints.lastValue(sensor('nope')), undefined);
  },

  'times far in the past and at the end of time are times': async ({ datapoints }) => {
    const times = [8.64e15, -8.64e15, 0, -1];
    for (const timestamp of times) {
      await datapoints.append([push([{ value: timestamp, timestamp, receivedAt: noon }])]);
    }
    assert.deepEqual(await allValues(datapoints), [-8.64e15, -1, 0, 8.64e15]);
    assert.deepEqual(await valuesOf(datapoints, { from: -1, to: 0 }), [-1, 0]);
  },
};
