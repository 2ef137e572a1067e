import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone } from './refusal.ts';

const phone = '+255712345678';
const on = { KIPIMO_PROVE_ADDRESSES: 'on', KIPIMO_SMS_CREDIT_NEW: '3' };

test('nothing is sent to a number or mailbox that a stranger has not proven', async () => {
  const channels = createRecordingChannels(['sms', 'email']);
  await using service = await startService({ channels: channels.open, environment: on });
  const eve = service.as('eve');
  const contact = { phone, email: 'victim@example.org' };
  assertDone(await eve({ method: 'PUT', path: '/users/me', json: contact }));
  for (const channel of ['sms', 'email']) {
    const { json } = await eve({ method: 'POST', path: `/users/me/channels/${channel}/test` });
    const { status, reason } = json as { status: string; reason: string };
    assert.equal(status, 'failed');
    assert.match(reason, /has not proven.*addresses\/prove/);
  }
  const json = { username: 'eve', channel: 'sms', message: 'hello' };
  const filed = await eve({ method: 'POST', path: '/socials', json });
  assert.equal(filed.status, 200, filed.text);
  for (;;) {
    const social = (await eve({ path: `/socials/${filed.text}` })).json as { status?: string };
    if (social.status !== 'pending') break;
  }
  assert.deepEqual(channels.sent, []);
  // What an administrator sets counts as proven.
  const { id } = (await eve({ path: '/users/me' })).json as { id: string };
  const path = `/users/${id}`;
  assertDone(await service.as('admin')({ method: 'PUT', path, json: { phone } }));
  const sent = await eve({ method: 'POST', path: '/users/me/channels/sms/test' });
  assert.equal((sent.json as { status: string }).status, 'sent', sent.text);
  assert.equal(channels.sent.length, 1);
});

test('an account that signed up itself has some credit, which no race spends twice', async () => {
  const channels = createRecordingChannels(['sms']);
  const environment = { ...on, KIPIMO_PROVE_ADDRESSES: 'off' };
  await using service = await startService({ channels: channels.open, environment });
  const eve = service.as('eve');
  assertDone(await eve({ method: 'PUT', path: '/users/me', json: { phone } }));
  const tries = await Promise.all(
    Array.from({ length: 5 }, () => eve({ method: 'POST', path: '/users/me/channels/sms/test' })),
  );
  const statuses = tries.map(({ json }) => (json as { status: string }).status);
  assert.deepEqual(statuses.toSorted(), ['failed', 'failed', 'sent', 'sent', 'sent']);
  assert.match(tries.map(({ text }) => text).join(), /sms_credit for the channel sms is used up/);
});

test('a user sends so many paid messages on a day, and so does the service', async () => {
  const channels = createRecordingChannels(['sms']);
  const environment = { KIPIMO_MESSAGES_PER_DAY: '2', KIPIMO_MESSAGES_PER_DAY_ALL: '3' };
  await using service = await startService({ channels: channels.open, environment });
  const reasons: string[] = [];
  for (const name of ['eve', 'eve', 'eve', 'ama', 'ama']) {
    const as = service.as(name);
    assertDone(await as({ method: 'PUT', path: '/users/me', json: { phone } }));
    const { json } = await as({ method: 'POST', path: '/users/me/channels/sms/test' });
    reasons.push((json as { reason?: string }).reason ?? 'sent');
  }
  assert.deepEqual(reasons.slice(0, 2), ['sent', 'sent']);
  assert.match(reasons[2] ?? '', /KIPIMO_MESSAGES_PER_DAY\)/);
  assert.equal(reasons[3], 'sent');
  assert.match(reasons[4] ?? '', /KIPIMO_MESSAGES_PER_DAY_ALL/);
});

test('codes cost what messages cost, and no race spends the credit twice', async () => {
  for (const [environment, reason] of [
    [{ ...on, KIPIMO_SMS_CREDIT_NEW: '1' }, /sms_credit for the channel sms is used up/],
    [{ ...on, KIPIMO_MESSAGES_PER_DAY: '1' }, /KIPIMO_MESSAGES_PER_DAY\)/],
  ] as const) {
    const channels = createRecordingChannels(['sms']);
    await using service = await startService({ channels: channels.open, environment });
    const eve = service.as('eve');
    const phones = ['+255712345671', '+255712345672', '+255712345673'];
    assertDone(await eve({ method: 'PUT', path: '/users/me', json: { phone: phones } }));
    const asked = await Promise.all(
      phones.map((address) => {
        const json = { channel: 'sms', address };
        return eve({ method: 'POST', path: '/users/me/addresses/prove', json });
      }),
    );
    assert.deepEqual(asked.map(({ status }) => status).toSorted(), [204, 403, 403]);
    for (const { status, text } of asked) if (status === 403) assert.match(text, reason);
    await channels.until(1);
    assert.equal(channels.sent.length, 1);
  }
});
