import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
  for (const username of ['ama', 'kofi', 'yaw']) await service.tokenOf(username);
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

const message = 'The tank is empty.';
const toKofi = { username: 'kofi', channel: 'none', message };

const post = (json: unknown, by = 'ama') => as(by)({ method: 'POST', path: '/socials', json });

const postBatch = (json: unknown, by = 'ama') =>
  as(by)({ method: 'POST', path: '/socials/batch', json });

async function aMessage(fields: object = {}, by = 'ama'): Promise<string> {
  const reply = await post({ ...toKofi, ...fields }, by);
  assert.equal(reply.status, 200, reply.text);
  return `/socials/${reply.text}`;
}

async function read(path: string, by = 'ama'): Promise<Record<string, unknown>> {
  const reply = await as(by)({ path });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

async function idsSeenBy(username: string): Promise<readonly string[]> {
  const reply = await as(username)({ path: '/socials?limit=1000' });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { id: string }[]).map(({ id }) => id);
}

test('a message answers its id as a bare string and is read as it was sent', async () => {
  const reply = await post({ ...toKofi, username: 'KOFI', from: 'yaw', status: 'pending' });
  assert.match(reply.text, /^[0-9a-f-]{36}$/);
  assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/);
  const { created, ...told } = await read(`/socials/${reply.text}`);
  assert.deepEqual(told, { id: reply.text, ...toKofi, from: 'ama', status: 'sent' });
  assert.match(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const headers = { accept: 'application/json' };
  const asJson = await as('ama')({ method: 'POST', path: '/socials', json: toKofi, headers });
  assert.match(asJson.text, /^"[0-9a-f-]{36}"$/);
});

test('a channel that is not configured fails at once and names its key', async () => {
  const reasons: readonly (readonly [string, RegExp])[] = [
    ['twitter', /is not configured: KIPIMO_TWITTER_URL names its provider$/],
    ['sms', /is not configured: KIPIMO_SMS_URL names its provider$/],
    ['voice', /is not configured: KIPIMO_VOICE_URL names its provider$/],
    ['email', /is not configured: KIPIMO_SMTP_URL names its provider$/],
  ];
  for (const [channel, saying] of reasons) {
    const { status, reason } = await read(await aMessage({ channel }));
    assert.equal(status, 'failed', channel);
    assert.match(String(reason), saying);
    assert.match(String(reason), new RegExp(`channel ${channel} `));
  }
});

test('a batch sends to each user on each channel once', async () => {
  await service.tokenOf('esi');
  const usernames = ['kofi', 'yaw', 'KOFI'];
  assertDone(await postBatch({ usernames, channels: ['none', 'sms', 'none'], message }, 'esi'));
  const { json } = await as('esi')({ path: '/socials' });
  const told = (json as Record<string, string>[]).map(
    ({ username, channel, status, from, message: text }) =>
      `${username} ${channel} ${status} ${from} ${text}`,
  );
  assert.deepEqual(told, [
    `kofi none sent esi ${message}`,
    `kofi sms failed esi ${message}`,
    `yaw none sent esi ${message}`,
    `yaw sms failed esi ${message}`,
  ]);
});

test('a batch with an unknown user is 404 and sends nothing', async () => {
  const before = await idsSeenBy('admin');
  const usernames = ['kofi', 'nobody', 'yaw'];
  const reply = await postBatch({ usernames, channels: ['none'], message });
  assertRefused(reply, 404, { saying: /nobody/ });
  assert.deepEqual(await idsSeenBy('admin'), before);
});

test('a batch may be a thousand messages and no more', async () => {
  const many = (count: number) => Array.from({ length: count }, () => 'kofi');
  const channels = ['none', 'sms'];
  assertDone(await postBatch({ usernames: many(500), channels, message }));
  assertDone(await postBatch({ usernames: many(1_000), channels: ['none'], message }));
  const tooMany = await postBatch({ usernames: many(501), channels, message });
  assertRefused(tooMany, 400, { saying: /at most 1000, got 1002/ });
  const longer = await postBatch({ usernames: many(1_001), channels: ['none'], message });
  assertRefused(longer, 400, { saying: /usernames/ });
});

test('what cannot be sent is refused', async () => {
  for (const username of ['nobody', 'guest', 'a b', '__proto__', "' or 1=1"]) {
    assertRefused(await post({ ...toKofi, username }), 404, { of: username });
  }
  const saying = /channel.* twitter, sms, voice, email, webhook, none/;
  assertRefused(await post({ ...toKofi, channel: 'fax' }), 400, { saying });
  const withFax = { usernames: ['kofi'], channels: ['sms', 'fax'], message };
  assertRefused(await postBatch(withFax), 400, { saying });
  const nobody = { usernames: [], channels: ['none'], message };
  assertRefused(await postBatch(nobody), 400, { saying: /usernames/ });
  const nowhere = { usernames: ['kofi'], channels: [], message };
  assertRefused(await postBatch(nowhere), 400, { saying: /channels/ });
  assertRefused(await post({ ...toKofi, message: '' }), 400, { saying: /message/ });
  assertRefused(await post({ ...toKofi, message: 'x'.repeat(4_097) }), 400, { saying: /message/ });
  await aMessage({ message: 'x'.repeat(4_096) });
});

test('a message is seen by sender, recipient and admins and by nobody else', async () => {
  const path = await aMessage();
  const id = path.replace('/socials/', '');
  for (const username of ['ama', 'kofi', 'admin']) {
    assert.equal((await read(path, username))['id'], id);
    assert.ok((await idsSeenBy(username)).includes(id), username);
  }
  assertRefused(await as('yaw')({ path }), 403, { saying: /sender/ });
  assert.ok(!(await idsSeenBy('yaw')).includes(id));
  assertRefused(await as('ama')({ path: '/socials/unknown' }), 404);
  assertRefused(await as('ama')({ path: '/socials/a%20b' }), 400);
});

test('a message is deleted by its sender or an admin, with 200 and no body', async () => {
  for (const username of ['ama', 'admin']) {
    const path = await aMessage();
    for (const other of ['kofi', 'yaw']) {
      assertRefused(await as(other)({ method: 'DELETE', path }), 403, { saying: /sender/ });
    }
    const reply = await as(username)({ method: 'DELETE', path });
    assert.deepEqual([reply.status, reply.text], [200, '']);
    assertRefused(await as('ama')({ path }), 404);
    assertRefused(await as(username)({ method: 'DELETE', path }), 404);
  }
});

test('a guest and an access key neither send, see nor delete messages', async () => {
  const path = await aMessage();
  const made = await as('ama')({ method: 'POST', path: '/auth/keys', json: { name: 'k' } });
  const { key } = made.json as { key: string };
  const calls = [
    { method: 'POST', path: '/socials', json: toKofi },
    {
      method: 'POST',
      path: '/socials/batch',
      json: { usernames: ['kofi'], channels: ['none'], message },
    },
    { path: '/socials' },
    { path },
    { method: 'DELETE', path },
  ];
  for (const call of calls) {
    assertRefused(await service.call(call), 403, { saying: /log in/ });
    assertRefused(await service.call({ ...call, token: key }), 403, { saying: /access key/ });
  }
  await read(path);
});

test('messages are listed newest last, in pages', async () => {
  await service.tokenOf('adwoa');
  const ids: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    const path = await aMessage({ username: 'adwoa', message: text }, 'adwoa');
    ids.push(path.replace('/socials/', ''));
  }
  assert.deepEqual(await idsSeenBy('adwoa'), ids);
  const page = await as('adwoa')({ path: '/socials?limit=1&offset=1' });
  assert.deepEqual((page.json as { message: string }[])[0]?.message, 'two');
  assert.equal(page.headers.get('x-total-count'), '3');
  assert.match(
    page.headers.get('link') ?? '',
    /<\/api\/v2\/socials\?limit=1&offset=2>; rel="next"/,
  );
  assertDone(await postBatch({ usernames: ['adwoa'], channels: ['none'], message }));
  for (let count = 4; count < 21; count += 1) await aMessage({ username: 'adwoa' });
  const first = await as('adwoa')({ path: '/socials' });
  assert.equal((first.json as unknown[]).length, 20);
  assert.equal(first.headers.get('x-total-count'), '21');
});

test('messages go with the account that sent or received them', async () => {
  await service.tokenOf('leaver');
  const { json: me } = await as('leaver')({ path: '/users/me' });
  const received = await aMessage({ username: 'leaver' });
  const sent = await aMessage({}, 'leaver');
  const kept = await aMessage();
  const path = `/users/${(me as { id: string }).id}`;
  assertDone(await as('admin')({ method: 'DELETE', path }));
  assertRefused(await as('ama')({ path: received }), 404);
  assertRefused(await as('kofi')({ path: sent }), 404);
  await read(kept);
});
