import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { Storage } from '../../src/storage/storage.ts';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';
import { assertDone } from '../v2/refusal.ts';

/** Where the child is killed: after this step, before what follows it. */
type Step = 'datapoint' | 'firing';

const never = new Promise<never>(() => undefined);
const pushed = {
  method: 'POST',
  path: '/devices/d/sensors/TC1/value',
  json: { value: 31, timestamp: '2026-11-20T12:00:00Z' },
};

/** A storage that says when it is to be killed, and goes no further. */
function stuckAt(step: Step): (storage: Storage) => Storage {
  return (storage) => {
    const { notifications, outbox } = storage;
    const stop = () => {
      process.stdout.write('stuck\n');
      return never;
    };
    return step === 'datapoint'
      ? { ...storage, notifications: { ...notifications, fire: stop } }
      : { ...storage, outbox: { ...outbox, complete: stop } };
  };
}

/** The child: makes a notification, pushes, and gets stuck on the way. */
async function tellStory(directory: string, step: Step): Promise<void> {
  const channels = createRecordingChannels().open;
  const wrapStorage = stuckAt(step);
  const service = await startService({ directory, channels, wrapStorage });
  const ama = service.as('ama');
  assertDone(await ama({ method: 'PUT', path: '/users/me', json: { phone: ['+233201234567'] } }));
  const device = { id: 'd', sensors: [{ id: 'TC1' }] };
  assertDone(await ama({ method: 'POST', path: '/devices', json: device }));
  const condition = { devices: ['d'], expression: 'TC1 > 30' };
  const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };
  await ama({ method: 'POST', path: '/notifications', json: { condition, action } });
  await ama(pushed);
}

async function killedAt(directory: string, step: Step): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, directory, step], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'stuck') child.kill('SIGKILL');
  }
}

async function timesSent(service: Service): Promise<number> {
  const { json } = await service.as('ama')({ path: '/notifications' });
  return (json as { times_sent: number }[])[0]?.times_sent ?? -1;
}

if (process.argv[3] === undefined) {
  for (const step of ['datapoint', 'firing'] as const) {
    test(`kill -9 after the ${step} was stored: the message leaves once`, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'kipimo-notify-'));
      try {
        await killedAt(directory, step);
        for (const start of ['first', 'second']) {
          const channels = createRecordingChannels();
          // Two minutes on, what the dead process was about to send is anybody's.
          const clock = { now: () => Date.now() + 130_000 };
          const settings = { directory, clock, channels: channels.open };
          await using service = await startService({ ...settings });
          if (start === 'first') await channels.until(1);
          // The sender got no answer and sends again: nothing new.
          assertDone(await service.as('ama')(pushed));
          assert.equal(await timesSent(service), 1, `after the ${start} start`);
          assert.deepEqual(
            channels.sent.map(({ text }) => text),
            start === 'first' ? ['31'] : [],
          );
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  }
} else {
  const [, , directory = '', step] = process.argv;
  await tellStory(directory, step as Step);
}
