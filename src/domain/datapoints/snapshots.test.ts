import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFilter } from '../devices/query-evaluation.ts';
import { searchDevices } from './snapshots.ts';

test('a search rests between slices in which it finds no device', async () => {
  let [slices, rests] = [0, 0];
  const store = {
    list: async () => ({ devices: [], total: 0 }),
    async candidates() {
      slices += 1;
      return { devices: [], next: slices < 5 ? slices : undefined };
    },
    readSome: async () => ({ devices: [], taken: 0 }),
  };
  const datapoints = { briefLastValues: async () => new Map(), lastValue: async () => undefined };
  const pace = {
    isOver: () => true,
    async rest() {
      rests += 1;
    },
    begin: () => undefined,
  };
  const filter = parseFilter('name==none');
  await searchDevices(
    { store, datapoints },
    { visibleTo: { who: 'public' }, filter, limit: 20, offset: 0, pace },
  );
  assert.deepEqual([slices, rests], [5, 5]);
});
