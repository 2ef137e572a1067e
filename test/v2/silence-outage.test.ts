import assert from 'node:assert/strict';
import test from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createManualClock } from '../manual-clock.ts';
import { startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

for (const code of ['unavailable', 'storage_full'] as const) {
  test(`a silence counts from the end of a time in which the store was ${code}`, async () => {
    const clock = createManualClock(Date.UTC(2026, 10, 20, 12));
    const channels = createRecordingChannels(['sms']);
    let isAway = false;
    const wrapStorage = (storage: Storage): Storage => ({
      ...storage,
      datapoints: {
        ...storage.datapoints,
        async append(batches) {
          if (isAway) throw new DomainError(code, 'the database is away');
          return storage.datapoints.append(batches);
        },
      },
    });
    await using service = await startService({ clock, channels: channels.open, wrapStorage });
    const ama = service.as('ama');
    const json = { id: 'd', sensors: [{ id: 'T' }, { id: 'other' }] };
    assertDone(await ama({ method: 'POST', path: '/devices', json }));
    assertDone(await ama({ method: 'PUT', path: '/users/me', json: { phone: '+233201234567' } }));
    const push = (id: string) =>
      ama({ method: 'POST', path: `/devices/d/sensors/${id}/value`, json: { value: 1 } });
    assertDone(await push('T'));
    const rule = {
      condition: { devices: ['d'], expression: 'silent(T, 30s)' },
      action: { usernames: ['ama'], channels: ['sms'], message: 'silent' },
    };
    const made = await ama({ method: 'POST', path: '/notifications', json: rule });
    assert.equal(made.status, 200, made.text);
    isAway = true;
    clock.advance(20_000);
    assertRefused(await push('other'), code === 'unavailable' ? 503 : 507);
    isAway = false;
    clock.advance(29_999);
    // The clock is looked at ten times a second.
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(channels.sent.length, 0);
    clock.advance(1);
    await channels.until(1);
  });
}
