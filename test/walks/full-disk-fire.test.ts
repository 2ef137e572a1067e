import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { embedded } from '../engine.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';
import { assertDone, assertRefused } from '../v2/refusal.ts';

/** A disk that holds datapoints, and no firings while it is full. */
function createDisk() {
  const disk = { isFull: false };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    notifications: {
      ...storage.notifications,
      fire: async (firings) => {
        if (disk.isFull) throw new DomainError('storage_full', 'the disk is full');
        return storage.notifications.fire(firings);
      },
    },
  });
  return { disk, wrapStorage };
}

function temporaryDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-full-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

const sensor = '/devices/d/sensors/TC1/value';
const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };

/** Ama's device d, and notifications with and without a window. */
async function prepare(service: Service): Promise<void> {
  const ama = service.as('ama');
  assertDone(await ama({ method: 'PUT', path: '/users/me', json: { phone: ['+233201234567'] } }));
  const json = { id: 'd', sensors: [{ id: 'TC1' }] };
  assertDone(await ama({ method: 'POST', path: '/devices', json }));
  for (const fields of [{}, { throttling: 3600 }]) {
    const condition = { devices: ['d'], expression: 'TC1 > 30 clear TC1 < 28' };
    const notification = { condition, action, ...fields };
    await ama({ method: 'POST', path: '/notifications', json: notification });
  }
}

function push(service: Service, value: number): Promise<Reply> {
  const timestamp = '2026-11-20T12:00:00Z';
  return service.as('ama')({ method: 'POST', path: sensor, json: { value, timestamp } });
}

async function timesSent(service: Service): Promise<readonly number[]> {
  const { json } = await service.as('ama')({ path: '/notifications' });
  return (json as { times_sent: number }[]).map((told) => told.times_sent);
}

const options = { timeout: 30_000 };

test(
  'a full disk refuses the push; once it is free, what was held leaves once',
  options,
  async () => {
    const { disk, wrapStorage } = createDisk();
    const channels = createRecordingChannels();
    await using service = await startService({ wrapStorage, channels: channels.open });
    await prepare(service);
    disk.isFull = true;
    assertRefused(await push(service, 31), 507);
    assert.deepEqual(await timesSent(service), [0, 0]);
    disk.isFull = false;
    assertDone(await push(service, 31));
    assertDone(await push(service, 32));
    await channels.until(2);
    assert.deepEqual(await timesSent(service), [1, 1]);
    const texts = channels.sent.map(({ text }) => text);
    assert.deepEqual(texts, ['31', '31']);
  },
);

embedded(
  'what a full disk held back leaves with the next start, once',
  options,
  async (context) => {
    const directory = temporaryDirectory(context);
    const channels = createRecordingChannels();
    const settings = { directory, channels: channels.open } as const;
    const { disk, wrapStorage } = createDisk();
    {
      await using service = await startService({ ...settings, wrapStorage });
      await prepare(service);
      disk.isFull = true;
      assertRefused(await push(service, 31), 507);
    }
    assert.equal(channels.sent.length, 0);
    for (const start of ['first', 'second']) {
      await using service = await startService(settings);
      await channels.until(2);
      assertDone(await push(service, 31));
      assert.deepEqual(await timesSent(service), [1, 1], `after the ${start} start`);
    }
    assert.equal(channels.sent.length, 2);
  },
);

embedded('what a crash left of one millisecond is made up for', options, async (context) => {
  const directory = temporaryDirectory(context);
  const channels = createRecordingChannels();
  const clock = createManualClock(Date.UTC(2026, 10, 20, 12));
  const settings = { directory, channels: channels.open, clock } as const;
  const { disk, wrapStorage } = createDisk();
  const push = (service: Service, value: number) =>
    service.as('ama')({ method: 'POST', path: sensor, json: { value } });
  {
    await using service = await startService({ ...settings, wrapStorage });
    await prepare(service);
    const notification = { condition: { devices: ['d'], sensors: ['TC1'] }, action };
    await service.as('ama')({ method: 'POST', path: '/notifications', json: notification });
    clock.advance(1);
    assertDone(await push(service, 1));
    disk.isFull = true;
    assertRefused(await push(service, 2), 507);
  }
  await using service = await startService(settings);
  assert.deepEqual(await timesSent(service), [0, 0, 2]);
});
