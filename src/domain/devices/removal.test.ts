import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Username } from '../ids.ts';
import type { Device, DeviceStore } from './device.ts';
import { removeDevicesOf } from './devices.ts';

const deviceOf = (id: string, owner: string): Device =>
  ({ id, owner, createdAt: 1, modifiedAt: 1, sensors: [], actuators: [] }) as unknown as Device;

test('what another account accepted while devices of its owner are removed stays', async () => {
  const ids = Array.from({ length: 100 }, (_, at) => `device-${at}`);
  const owners = new Map(ids.map((id) => [id, 'ann']));
  const read = (id: string): Device => deviceOf(id, owners.get(id) ?? '');
  const store = {
    candidates: async () => ({ devices: ids.map(read), next: undefined }),
    readSome: async (some: readonly string[]) => ({
      devices: some.filter((id) => owners.has(id)).map(read),
      taken: some.length,
    }),
    async remove(id: string) {
      // Others have their turn before the first commit ends.
      await new Promise((resolve) => setImmediate(resolve));
      if (owners.get('device-99') === 'ann') owners.set('device-99', 'bob');
      owners.delete(id);
      return 'removed';
    },
  } as unknown as DeviceStore;
  await removeDevicesOf(store, 'ann' as Username);
  assert.deepEqual([...owners], [['device-99', 'bob']]);
});
