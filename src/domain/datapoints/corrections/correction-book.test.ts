import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import type { CorrectionId, DeviceId, SensorId, Username } from '../../ids.ts';
import type { Correction, CorrectionStore } from './correction.ts';
import { createCorrectionBook } from './correction-book.ts';
import { loadOverlay } from './overlay.ts';

const sensor = { deviceId: 'd1' as DeviceId, sensorId: 's1' as SensorId };

const aCorrection = (id: string, time: number): Correction => ({
  ...sensor,
  ...{ id: id as CorrectionId, kind: 'corrected', from: time, to: time, count: 1 },
  ...{ items: [{ time, isTimed: true, value: id }], by: 'ana' as Username, createdAt: 1_000 },
  reach: { until: 1_000 },
});

/** A store that counts how often values are read. */
function countingStore() {
  let corrections: readonly Correction[] = [];
  let valuesRead = 0;
  const store: CorrectionStore = {
    reaches: async () => corrections,
    heads: async () => corrections,
    async list() {
      valuesRead += 1;
      const found = corrections;
      await new Promise(setImmediate);
      return found;
    },
    async insert(correction) {
      corrections = [...corrections, correction];
      return 'inserted';
    },
    async remove(_sensor, id) {
      corrections = corrections.filter((one) => one.id !== id);
      return 'removed';
    },
  };
  return { store, valuesRead: () => valuesRead };
}

test('values are loaded once, and what is made and undone loads none again', async () => {
  const { store, valuesRead } = countingStore();
  const book = createCorrectionBook(store);
  const shown = async (time: number) =>
    (await book.overlayOf(sensor))?.follow({ value: 0, timestamp: time, receivedAt: 1 }).shown
      ?.value;
  await book.insert(aCorrection('c1', 10));
  await book.insert(aCorrection('c2', 20));
  assert.equal(valuesRead(), 0);
  assert.deepEqual(await Promise.all([shown(10), shown(20), shown(30)]), ['c1', 'c2', 0]);
  assert.equal(valuesRead(), 1);
  await book.insert(aCorrection('c3', 10));
  assert.equal(await shown(10), 'c3');
  await book.remove(sensor, 'c3' as CorrectionId);
  await book.heads(sensor);
  assert.deepEqual([await shown(10), await shown(20)], ['c1', 'c2']);
  assert.equal(valuesRead(), 1);
});

test('a write of which nobody knows how it ended has the values loaded anew', async () => {
  const { store, valuesRead } = countingStore();
  const book = createCorrectionBook({
    ...store,
    async insert(correction) {
      await store.insert(correction);
      if (correction.id === 'c2') throw new Error('the disk failed');
      return 'inserted';
    },
  });
  const shown = async () =>
    (await book.overlayOf(sensor))?.follow({ value: 0, timestamp: 10, receivedAt: 1 }).shown?.value;
  await book.insert(aCorrection('c1', 10));
  assert.equal(await shown(), 'c1');
  await assert.rejects(book.insert(aCorrection('c2', 10)), /disk failed/);
  assert.equal(await shown(), 'c2');
  assert.equal(valuesRead(), 2);
});

test('corrections are taken apart in turns', async () => {
  let rests = 0;
  const pace: Pace = {
    isOver: () => true,
    async rest() {
      rests += 1;
    },
    begin: () => undefined,
  };
  const made = Array.from({ length: 40 }, (_, at) => aCorrection(`c${at}`, at));
  const overlay = await loadOverlay(made, pace);
  assert.equal(rests, made.length);
  assert.ok(overlay.bytes > 40 * 512, `${overlay.bytes} bytes`);
});
