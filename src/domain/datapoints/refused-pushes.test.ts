import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice } from '../../../test/contract/storage/builders.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Actor } from '../actor.ts';
import type { Device } from '../devices/device.ts';
import { parseDeviceId, parseSensorId, parseUserId, parseUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import { createRefusedPushes, type SeenRefusal } from './refused-pushes.ts';

const ama: Actor = { kind: 'user', userId: parseUserId('u'), username: parseUsername('ama') };
const pond = aDevice('pond', { owner: parseUsername('ama') });

/** Refusals over a store that finds one device, and answers of others when it is released. */
function open() {
  const waiting: ((device: undefined) => void)[] = [];
  const pushes = createRefusedPushes({
    devices: {
      peek: () => undefined,
      find: (id) =>
        id === pond.id
          ? Promise.resolve<Device | undefined>(pond)
          : new Promise((resolve) => waiting.push(resolve)),
    },
    users: { findByUsername: async () => undefined },
    access: { requireOwner: () => undefined, tryAllow: () => 'yes' },
    clock: createManualClock(pond.createdAt),
  });
  return { pushes, waiting };
}

const aRefusal = (deviceId: string): SeenRefusal => ({
  ...{ via: 'http', code: 'not_found', deviceId: parseDeviceId(deviceId) },
  sensorId: parseSensorId('s'),
});

test('what a stranger sends to other devices keeps no owner waiting', async () => {
  const { pushes } = open();
  for (let at = 0; at < 10; at += 1)
    void pushes.note({ ...aRefusal(`x${at}`), address: '10.1.1.1' });
  void pushes.note({ ...aRefusal('pond'), address: '10.1.1.1' });
  let shown: readonly unknown[] | undefined;
  void pushes.list(ama, pond.id).then((list) => {
    shown = list;
  });
  for (let round = 0; round < 3; round += 1) await yieldToEventLoop();
  assert.equal(shown?.length, 1);
});

test('a list has what its owner was refused for before', async () => {
  const { pushes, waiting } = open();
  void pushes.note({ ...aRefusal('pand'), actor: ama });
  const listed = pushes.list(ama, pond.id);
  for (let round = 0; round < 3; round += 1) await yieldToEventLoop();
  for (const answer of waiting) answer(undefined);
  const shown = (await listed).map(({ problem, deviceId }) => [problem, deviceId]);
  assert.deepEqual(shown, [['unknown_device', 'pand']]);
});

test('few refusals of one sender are looked up at once, and those of others besides', async () => {
  const { pushes, waiting } = open();
  const max = limits.refusalsUnderWayPerSenderMax;
  const note = (at: number, address: string) => pushes.note({ ...aRefusal(`x${at}`), address });
  for (let at = 0; at < 2 * max; at += 1) void note(at, '10.1.1.1');
  assert.equal(waiting.length, max);
  const other = note(0, '10.2.2.2');
  assert.equal(waiting.length, max + 1);
  for (const answer of waiting) answer(undefined);
  await other;
  void note(0, '10.1.1.1');
  assert.equal(waiting.length, max + 2);
});
