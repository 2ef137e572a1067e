import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSensor, deviceId, sensorId } from '../../../test/contract/storage/builders.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { AggregationStep, Bucket } from './aggregation.ts';
import { readBucketPage } from './bucket-page.ts';
import type { Source } from './sensor-selection.ts';

const hold = (): void => undefined;
const pace = { isOver: () => false, rest: async () => {}, begin: () => {} };
const perStep = 4_000;

/** Sensors whose n-th bucket starts at n times the sensor's stride, with a value of its own. */
function sensorsOf(sizes: readonly number[], valueAt = (n: number): Bucket['values'][number] => n) {
  const sources = sizes.map((_, at): Source => {
    const id = sensorId(`S${at}`);
    return { ref: { deviceId: deviceId('D'), sensorId: id }, sensor: aSensor(id) };
  });
  let passes = 0;
  async function* read(source: Source): AsyncGenerator<AggregationStep> {
    passes += 1;
    const place = sources.indexOf(source);
    const size = sizes[place] ?? 0;
    for (let from = 0; from < size; from += perStep) {
      const length = Math.min(perStep, size - from);
      const buckets = Array.from({ length }, (_, n) => ({
        start: (from + n) * (place + 1),
        values: [valueAt(from + n)],
      }));
      yield { buckets, skipped: 1 };
    }
  }
  return { sources, read, passesOf: () => passes };
}

const everything = Number.POSITIVE_INFINITY;

test('more buckets than fit in memory are paged through in either order', async () => {
  const sizes = [0, 70_000, 50_000, 1];
  const all = sizes
    .flatMap((size, place) =>
      Array.from({ length: size }, (_, n) => ({ start: n * (place + 1), place })),
    )
    .toSorted((a, b) => a.start - b.start || a.place - b.place);
  for (const order of ['asc', 'desc'] as const) {
    const expected = order === 'asc' ? all : all.toReversed();
    for (const [skip, limit] of [
      [0, 3],
      [99_990, 20],
      [119_999, 10],
      [130_000, 10],
      [10, 0],
    ] as const) {
      const { sources, read } = sensorsOf(sizes);
      const answer = await readBucketPage({
        sources,
        read,
        page: { order, skip, limit },
        pace,
        hold,
      });
      assert.deepEqual(
        answer.buckets.map(({ sensor, bucket: { start } }) => ({
          start,
          place: Number(sensor.sensorId.slice(1)),
        })),
        expected.slice(skip, skip + limit),
      );
      assert.deepEqual([answer.total, answer.skipped], [all.length, 32]);
    }
  }
});

test('a page of buckets is as long as memory allows, however many are asked for', async () => {
  const { sources, read } = sensorsOf([limits.bucketsMax + 5]);
  const page = { order: 'asc', skip: 1, limit: 1_000_000 } as const;
  const { buckets } = await readBucketPage({ sources, read, page, pace, hold });
  assert.equal(buckets.length, limits.bucketsMax);
  assert.deepEqual(buckets.at(-1)?.bucket.values, [limits.bucketsMax]);
});

test('buckets that fit in memory are read once', async () => {
  const { sources, read, passesOf } = sensorsOf([limits.bucketsMax - 1, 1]);
  const page = { order: 'asc', skip: 0, limit: everything } as const;
  const { buckets, total } = await readBucketPage({ sources, read, page, pace, hold });
  assert.deepEqual([buckets.length, total, passesOf()], [limits.bucketsMax, limits.bucketsMax, 2]);
});

test('all of too many buckets are refused with what to change', async () => {
  const { sources, read } = sensorsOf([limits.bucketsMax, 1]);
  const page = { order: 'asc', skip: 0, limit: everything } as const;
  await assert.rejects(readBucketPage({ sources, read, page, pace, hold }), (error) => {
    assert.ok(error instanceof DomainError);
    assert.equal(error.code, 'invalid');
    assert.match(error.message, /100000 buckets: .*longer interval.*pages by limit and offset/);
    return true;
  });
});

test('values that are too long for one answer are refused, and paged through', async () => {
  const long = 'x'.repeat(limits.bucketsTextCharactersMax / 4);
  const answer = (size: number, limit: number) => {
    const { sources, read } = sensorsOf([size], () => long);
    return readBucketPage({ sources, read, page: { order: 'asc', skip: 0, limit }, pace, hold });
  };
  assert.equal((await answer(4, everything)).buckets.length, 4);
  await assert.rejects(answer(5, everything), /too long for one answer/);
  await assert.rejects(answer(5, 5), /too long for one answer/);
  assert.equal((await answer(5, 4)).buckets.length, 4);
});

test('what is kept counts while it grows, then the page alone', async () => {
  const { sources, read } = sensorsOf([limits.bucketsMax + 5_000]);
  const levels: number[] = [];
  const page = { order: 'asc', skip: 0, limit: 10 } as const;
  const { keptBytes } = await readBucketPage({
    ...{ sources, read, page, pace },
    hold: (bytes) => levels.push(bytes),
  });
  const most = Math.max(...levels);
  assert.ok(most > 0.9 * limits.bucketsMax * limits.summaryItemBytes, `${most}`);
  assert.ok(levels.indexOf(0) > 0);
  assert.equal(levels.at(-1), keptBytes);
  assert.equal(keptBytes, 10 * limits.summaryItemBytes);
});
