import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noon } from '../../../../test/contract/storage/builders.ts';
import { toColumnBatch, toDatapoints } from '../../../domain/datapoints/column-batch.ts';
import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import { PackedPushes } from './packed-pushes.ts';

test('packed pushes of a series come back in their order, as they were', () => {
  const values = [1, 'text', true, 2.5, null];
  const places = new Map<number, number>();
  const given = new Map<number, unknown[]>();
  const packed = new PackedPushes();
  for (let row = 0; row < 500; row += 1) {
    const series = row % 7;
    const datapoints = Array.from({ length: row % 3 }, (_, n): Datapoint => {
      const one = { value: values[(row + n) % 5] ?? null, receivedAt: noon + row };
      return row % 2 === 0 ? one : { ...one, timestamp: noon - n };
    });
    const push = { series, sequenceNumber: row, batch: toColumnBatch(datapoints) };
    const last = row % 4 === 0 ? { last: row % 3 } : {};
    const one = { push: { ...push, ...last }, row, startedAt: 32 * row };
    places.set(series, packed.add(places.get(series), one));
    const known = given.get(series) ?? [];
    given.set(series, [...known, { ...one, push: { ...one.push, batch: datapoints } }]);
  }
  for (const [series, place] of places) {
    const found = [...packed.of(series, place)].map(({ push, ...rest }) => ({
      push: { ...push, batch: toDatapoints(push.batch) },
      ...rest,
    }));
    assert.deepEqual(found, given.get(series));
    assert.equal(packed.head(place).firstRow, series);
  }
});
