import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const minute = 60_000;
const clock = createManualClock(Date.parse('2026-03-01T08:00:00.000Z'));
const channels = createRecordingChannels(['sms', 'email']);
let service: Service;

before(async () => {
  service = await startService({
    ...{ clock, channels: channels.open },
    environment: { KIPIMO_TOKEN_TTL_S: '86400' },
  });
});

after(() => service[Symbol.asyncDispose]());

const signUp = (username: string, profile: object = {}) =>
  service.call({
    method: 'POST',
    path: '/users',
    json: { username, password: passwordOf(username), ...profile },
  });

const post = (username: string, path: string, json: unknown) =>
  service.as(username)({ method: 'POST', path: `/users/me/addresses/${path}`, json });

const me = async (username: string) =>
  (await service.as(username)({ path: '/users/me' })).json as Record<string, unknown>;

const logIn = (username: string, password: string) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username, password } });

/** The newest code that went to an address. */
function codeTo(address: string): string {
  const found = channels.sent.findLast(
    ({ message: { to } }) => to.email === address || to.phone === address,
  );
  return /\b([0-9A-Z]{4}-[0-9A-Z]{4})\b/.exec(found?.text ?? '')?.[1] ?? 'no code';
}

async function prove(username: string, address: string): Promise<void> {
  assertDone(await post(username, 'prove', { channel: 'email', address }));
  const code = codeTo(address);
  assertDone(await post(username, 'confirm', { channel: 'email', address, code }));
}

test('a code that was sent to an address proves it, until the address changes', async () => {
  await signUp('ama', { email: 'ama@example.org', phone: ['+233201234567', '+233201111111'] });
  assert.equal((await me('ama'))['proven'], undefined);
  await prove('ama', 'ama@example.org');
  const phone = { channel: 'phone', address: '+233201234567' };
  assertDone(await post('ama', 'prove', phone));
  const code = codeTo('+233201234567').toLowerCase().replace('-', ' ');
  assertDone(await post('ama', 'confirm', { ...phone, channel: 'sms', code }));
  assert.deepEqual((await me('ama'))['proven'], {
    email: ['ama@example.org'],
    phone: ['+233201234567'],
  });
  const put = (json: object) => service.as('ama')({ method: 'PUT', path: '/users/me', json });
  assertDone(await put({ firstName: 'Ama', email: 'AMA@example.org' }));
  assert.deepEqual((await me('ama'))['proven'], {
    email: ['AMA@example.org'],
    phone: ['+233201234567'],
  });
  assertDone(await put({ email: 'other@example.org', phone: ['+233201111111'] }));
  assert.equal((await me('ama'))['proven'], undefined);
});

test('an address that an administrator gives counts as proven', async () => {
  const admin = service.as('admin');
  const made = { username: 'given', password: passwordOf('given'), email: 'given@example.org' };
  assert.equal((await admin({ method: 'POST', path: '/users', json: made })).status, 200);
  assert.deepEqual((await me('given'))['proven'], { email: ['given@example.org'] });
  const { id } = await me('given');
  const phone = { phone: '+233205555555' };
  assertDone(await admin({ method: 'PUT', path: `/users/${id}`, json: phone }));
  assert.deepEqual((await me('given'))['proven'], {
    email: ['given@example.org'],
    phone: ['+233205555555'],
  });
  const other = (await service.as('ama')({ path: `/users/${id}` })).json as object;
  assert.ok(!('proven' in other), 'nobody else sees it');
});

test('a code is for its address and account, for some tries, for half an hour', async () => {
  clock.advance(60 * minute);
  for (const name of ['kofi', 'esi']) await signUp(name, { email: 'shared@example.org' });
  const asked = { channel: 'email', address: 'shared@example.org' };
  assertRefused(await post('kofi', 'confirm', { ...asked, code: 'AAAA-AAAA' }), 400);
  assertDone(await post('kofi', 'prove', asked));
  const code = codeTo(asked.address);
  assertRefused(await post('esi', 'confirm', { ...asked, code }), 400, { saying: /code is wrong/ });
  for (let tries = 0; tries < 5; tries += 1) {
    assertRefused(await post('kofi', 'confirm', { ...asked, code: 'AAAA-AAAA' }), 400);
  }
  assertRefused(await post('kofi', 'confirm', { ...asked, code }), 400);
  assertDone(await post('kofi', 'prove', asked));
  clock.advance(31 * minute);
  assertRefused(await post('kofi', 'confirm', { ...asked, code: codeTo(asked.address) }), 400);
});

test('codes are sent to addresses of one’s own profile only, and not too many', async () => {
  clock.advance(60 * minute);
  await signUp('yaw', { email: 'yaw@example.org' });
  for (const asked of [
    { channel: 'email', address: 'somebody@example.org' },
    { channel: 'phone', address: '+233200000000' },
    { channel: 'pigeon', address: 'yaw@example.org' },
    { channel: 'email' },
    {},
    [],
  ]) {
    assertRefused(await post('yaw', 'prove', asked), 400, { of: JSON.stringify(asked) });
  }
  assertRefused(await post('guest', 'prove', { channel: 'email', address: 'a@b.c' }), 403);
  const asked = { channel: 'email', address: 'yaw@example.org' };
  for (let count = 0; count < 5; count += 1) assertDone(await post('yaw', 'prove', asked));
  assertRefused(await post('yaw', 'prove', asked), 429);
});

test('strangers who ask for codes to somebody’s address leave its owner one', async () => {
  clock.advance(60 * minute);
  const asked = { channel: 'email', address: 'zola@example.org' };
  for (const username of ['eve', 'mallory', 'zola']) {
    await signUp(username, { email: asked.address });
  }
  for (let count = 0; count < 5; count += 1) assertDone(await post('eve', 'prove', asked));
  assertRefused(await post('eve', 'prove', asked), 429);
  await prove('zola', asked.address);
  // A code of one's own is one: beyond it all wait.
  assertDone(await post('mallory', 'prove', asked));
  assertRefused(await post('mallory', 'prove', asked), 429);
});

test('a username with @ comes from administrators alone, and some names are nobody’s', async () => {
  assertRefused(await signUp('ceo@example.org'), 400, { saying: /@/ });
  for (const username of ['.', '..', 'me', 'ME']) assertRefused(await signUp(username), 400);
  const admin = service.as('admin');
  const made = { username: 'ceo@example.org', password: passwordOf('ceo@example.org') };
  assert.equal((await admin({ method: 'POST', path: '/users', json: made })).status, 200);
  assert.equal((await logIn('ceo@example.org', made.password)).status, 200);
});

test('who squats on an address gets neither its logins nor its reset mails', async () => {
  clock.advance(60 * minute);
  const email = 'abena@example.org';
  await signUp('squatter', { email });
  await signUp('abena', { email });
  const tokenOfSquatter = await service.tokenOf('squatter');
  const key = await service.call({
    ...{ method: 'POST', path: '/auth/keys', token: tokenOfSquatter, json: { name: 'spy' } },
  });
  assert.equal(key.status, 200);
  for (const name of ['squatter', 'abena']) {
    assertRefused(await logIn(email, passwordOf(name)), 401, { of: 'nobody proved it yet' });
  }
  const reset = (login: string) =>
    service.call({ method: 'POST', path: '/auth/reset', json: { username: login } });
  const before = channels.sent.length;
  for (const login of [email, 'squatter', 'abena']) assertDone(await reset(login));
  await prove('abena', email);
  const told = channels.sent.length - before;
  assert.equal(told, 1, 'a mail went to an address that nobody had proved');
  assert.equal((await logIn(email, passwordOf('abena'))).status, 200);
  assertRefused(await logIn(email, passwordOf('squatter')), 401);
  const proven = channels.sent.length;
  assertDone(await reset(email));
  await channels.until(proven + 1);
  const confirm = { username: email, code: codeTo(email), password: 'abena, anew' };
  const path = '/auth/reset/confirm';
  assertDone(await service.call({ method: 'POST', path, json: confirm }));
  assert.equal((await logIn('abena', 'abena, anew')).status, 200);
  assert.equal((await logIn('squatter', passwordOf('squatter'))).status, 200, 'untouched');
});

test('a reset ends the keys that are older than the proof of the address', async () => {
  clock.advance(60 * minute);
  const email = 'efua@example.org';
  await signUp('efua', { email });
  const keyNow = async () => {
    const request = { method: 'POST', path: '/auth/keys', json: { name: 'field' } };
    return ((await service.as('efua')(request)).json as { key: string }).key;
  };
  const old = await keyNow();
  clock.advance(minute);
  await prove('efua', email);
  clock.advance(minute);
  const young = await keyNow();
  const before = channels.sent.length;
  assertDone(
    await service.call({ method: 'POST', path: '/auth/reset', json: { username: email } }),
  );
  await channels.until(before + 1);
  const json = { username: email, code: codeTo(email), password: 'efua, anew' };
  assertDone(await service.call({ method: 'POST', path: '/auth/reset/confirm', json }));
  const statusOf = async (token: string) =>
    (await service.call({ path: '/devices', token })).status;
  assert.deepEqual([await statusOf(old), await statusOf(young)], [401, 200]);
});

test('the service writes to people in the first language of theirs that it knows', async () => {
  await signUp('fatou', { email: 'fatou@example.org' });
  const as = service.as('fatou');
  const asked = async (path: string, languages: string, json: unknown = {}) => {
    const before = channels.sent.length;
    const headers = { 'accept-language': languages };
    const { status } = await as({ method: 'POST', path, json, headers });
    assert.ok(status < 300, `${status}`);
    await channels.until(before + 1);
    return channels.sent.at(-1)?.text ?? '';
  };
  const address = { channel: 'email', address: 'fatou@example.org' };
  const proof = (languages: string) => asked('/users/me/addresses/prove', languages, address);
  assert.match(await proof('de, fr-SN;q=0.9, en;q=0.8'), /est le code qui confirme .* fatou/);
  assert.match(await proof('xx'), /is the code by which the account fatou/);
  await prove('fatou', 'fatou@example.org');
  const reset = { username: 'fatou' };
  assert.match(await asked('/auth/reset', 'sw', reset), /ameomba nenosiri jipya la akaunti fatou/);
  const test = '/users/me/channels/email/test';
  assert.match(await asked(test, 'pt-BR'), /mensagem de teste do Kipimo para fatou/);
  assert.match(await asked(test, `${'x,'.repeat(500)}fr`), /This is a test message/);
});
