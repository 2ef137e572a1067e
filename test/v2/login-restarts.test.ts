import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const logIn = (service: Service, password: string) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username: 'ama', password } });

test('failed logins count over a restart, until their time is over', async (context) => {
  const clock = createManualClock(Date.UTC(2026, 10, 20));
  const settings = { directory: temporaryDirectory(context), clock };
  {
    await using service = await startService(settings);
    await service.tokenOf('ama');
    clock.advance(limits.loginFailureWindowMs);
    for (let count = 0; count < limits.loginFailuresPerUser; count += 1) {
      assertRefused(await logIn(service, 'wrong password'), 401);
    }
    assertRefused(await logIn(service, 'password of ama'), 429);
  }
  await using service = await startService(settings);
  assertRefused(await logIn(service, 'password of ama'), 429);
  clock.advance(limits.loginFailureWindowMs);
  assert.equal((await logIn(service, 'password of ama')).status, 200);
});

test('a code for a forgotten password is good after a restart, once', async (context) => {
  const directory = temporaryDirectory(context);
  const channels = createRecordingChannels(['email']);
  const settings = { directory, channels: channels.open };
  {
    await using service = await startService(settings);
    await service.tokenOf('ama');
    const { id } = (await service.as('ama')({ path: '/users/me' })).json as { id: string };
    const json = { email: 'ama@example.org' };
    assertDone(await service.as('admin')({ method: 'PUT', path: `/users/${id}`, json }));
    const login = { username: 'ama' };
    assertDone(await service.call({ method: 'POST', path: '/auth/reset', json: login }));
    await channels.until(1);
  }
  const code = /code is (\S{9})/.exec(channels.sent[0]?.text ?? '')?.[1];
  await using service = await startService(settings);
  const json = { username: 'ama', code, password: 'the new password' };
  const answer = { method: 'POST', path: '/auth/reset/confirm', json };
  assertDone(await service.call(answer));
  assert.equal((await logIn(service, 'the new password')).status, 200);
  assertRefused(await service.call(answer), 401);
});
