import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordOf, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const kilobyte = 'x'.repeat(1_024);
const environment = { KIPIMO_QUOTA_SIGNUP_BYTES: '65536' };

/** Fills a device of its own until there is no room, 200 times at most. */
async function fill(call: Awaited<ReturnType<typeof startService>>['call'], id: string) {
  const json = { id, sensors: [{ id: 's' }] };
  assertDone(await call({ method: 'POST', path: '/devices', json }));
  const push = { method: 'POST', path: `/devices/${id}/sensors/s/value`, body: kilobyte };
  for (let stored = 0; stored < 200; stored += 1) {
    const answer = await call(push);
    if (answer.status === 507) return { stored, answer };
    assertDone(answer);
  }
  return { stored: 200, answer: undefined };
}

test('an account that signed itself up has a quota, one of an administrator has none', async () => {
  await using service = await startService({ environment });
  const admin = service.as('admin');
  const made = { username: 'made', password: passwordOf('made') };
  assert.equal((await admin({ method: 'POST', path: '/users', json: made })).status, 200);
  const own = await fill(service.as('ama'), 'hers');
  assert.ok(own.stored > 50 && own.stored < 65, `${own.stored} kilobytes`);
  assert.ok(own.answer);
  assertRefused(own.answer, 507, { saying: /KIPIMO_QUOTA_SIGNUP_BYTES/ });
  assert.equal((await fill(service.as('made'), 'his')).answer, undefined);
  assert.equal((await fill(admin, 'admins')).answer, undefined);
  const seen = (await admin({ path: '/admin/service' })).json as { storage: object };
  const { sign_ups: used, sign_up_max: max } = seen.storage as Record<string, number>;
  assert.equal(max, 65_536);
  assert.ok(used !== undefined && used >= 65_536 && used < 70_000);
});

test('none lets accounts that signed themselves up have what others have', async () => {
  await using service = await startService({ environment: { KIPIMO_QUOTA_SIGNUP_BYTES: 'none' } });
  assert.equal((await fill(service.as('ama'), 'hers')).answer, undefined);
});
