import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor, deviceId } from '../../../test/contract/storage/builders.ts';
import type { Access } from '../access/policy.ts';
import type { DeviceStore } from '../devices/device.ts';
import { createSourceOpening } from './sensor-selection.ts';

const everybodyMay = { require: async () => undefined, allows: async () => true };

/** A pace whose slices are over at once; counts them. */
function countedPace() {
  const count = { rests: 0 };
  const pace = {
    isOver: () => true,
    async rest() {
      count.rests += 1;
    },
    begin: () => undefined,
  };
  return { pace, count };
}

test('devices are looked for in turns, and what is kept of their sensors is told', async () => {
  const notes = 'x'.repeat(10_000);
  const points = Array.from({ length: 100 }, (_, at) => ({ measured: at, real: at + 1 }));
  const sensor = {
    ...aSensor('s1'),
    meta: { notes },
    calibration: { points, spelling: 'current' } as never,
  };
  const open = createSourceOpening({
    devices: {
      find: async (id: string) => aDevice(id, { sensors: [sensor] }),
    } as never as DeviceStore,
    access: everybodyMay as never as Access,
  });
  const deviceIds = Array.from({ length: 30 }, (_, at) => deviceId(`d${at}`));
  const { pace, count } = countedPace();
  let held = 0;
  const sources = await open({ kind: 'guest' }, { deviceIds }, pace, (bytes) => {
    held = bytes;
  });
  assert.equal(count.rests, deviceIds.length);
  assert.equal(sources.length, deviceIds.length);
  assert.ok(held > 30 * 100 * 64, `${held} bytes were told`);
  assert.ok(!JSON.stringify(sources).includes(notes), 'notes are kept while values are read');
});
