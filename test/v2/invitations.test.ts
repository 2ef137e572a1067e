import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { invitationLimits } from '../../src/domain/sharing/invitations.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const clock = createManualClock(Date.parse('2026-11-26T12:00:00Z'));
const day = 86_400_000;
let service: Service;
let made = 0;

before(async () => {
  service = await startService({ clock });
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

/** A new account without anything. */
async function anAccount(): Promise<string> {
  made += 1;
  const username = `person-${made}`;
  await service.tokenOf(username);
  return username;
}

/** A new private device with a value. */
async function aDevice(by: string): Promise<string> {
  made += 1;
  const id = `device-${made}`;
  const json = { id, visibility: 'private', name: `Garden ${made}`, sensors: [{ id: 'TC1' }] };
  assertDone(await as(by)({ method: 'POST', path: '/devices', json }));
  assertDone(await as(by)({ method: 'POST', path: valuesOf(id), json: { value: 21.5 } }));
  return id;
}

const valuesOf = (id: string) => `/devices/${id}/sensors/TC1/values`;
const invite = (by: string, json: object) => as(by)({ method: 'POST', path: '/invitations', json });
const accept = (by: string, token: string) =>
  as(by)({ method: 'POST', path: `/invitations/at/${token}/accept` });
const at = (token: string, by = 'guest') => as(by)({ path: `/invitations/at/${token}` });

interface Made {
  readonly id: string;
  readonly url: string;
  readonly expires: string;
  readonly uses_left: number;
}

async function invited(by: string, json: object): Promise<Made & { readonly token: string }> {
  const reply = await invite(by, json);
  assert.equal(reply.status, 200, reply.text);
  const invitation = reply.json as Made;
  return { ...invitation, token: invitation.url.split('/').at(-1) ?? '' };
}

const grantedBy = (reply: Reply): unknown => {
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { granted: unknown }).granted;
};

const viewing = ['devices:view', 'devices-data:view'];

test('a link lets an account that was just made see a device and its values', async () => {
  const [ana, bob] = [await anAccount(), await anAccount()];
  await as(ana)({ method: 'PUT', path: '/users/me', json: { firstName: 'Ana', lastName: 'B' } });
  const id = await aDevice(ana);
  const { token, ...invitation } = await invited(ana, { devices: [id] });
  assert.equal(invitation.url, `${service.url}/join/${token}`);
  assert.match(token, /^[\w-]{43}$/);
  assert.equal(Date.parse(invitation.expires), clock.now() + 7 * day);
  assert.equal(invitation.uses_left, 1);
  const offered = await at(token);
  assert.deepEqual(offered.json, {
    by: { username: ana, name: 'Ana B' },
    to: [{ kind: 'device', resource: id, scopes: viewing, name: `Garden ${made}` }],
    expires: invitation.expires,
    uses_left: 1,
  });
  assertRefused(await as(bob)({ path: valuesOf(id) }), 403);
  const granted = [{ kind: 'device', resource: id, scopes: viewing }];
  assert.deepEqual(grantedBy(await accept(bob, token)), granted);
  assert.equal((await as(bob)({ path: valuesOf(id) })).status, 200);
  assertRefused(await as(bob)({ method: 'POST', path: valuesOf(id), json: { value: 1 } }), 403);
});

test('the link is shown once, and lists and backups do not have it', async () => {
  const [ana, bob] = [await anAccount(), await anAccount()];
  const devices = [await aDevice(ana), await aDevice(ana)];
  const { token, id } = await invited(ana, { devices, scopes: ['device:view'], uses: 3 });
  const list = await as(ana)({ path: '/invitations' });
  assert.equal(list.headers.get('x-total-count'), '1');
  assert.ok(!list.text.includes(token));
  const [listed] = list.json as { devices: string[]; scopes: string[]; uses_left: number }[];
  assert.deepEqual(listed?.devices, devices);
  assert.deepEqual(listed?.scopes, ['devices:view']);
  assert.equal(listed?.uses_left, 3);
  assert.deepEqual((await as(bob)({ path: '/invitations' })).json, []);
  assertRefused(await as(bob)({ method: 'DELETE', path: `/invitations/${id}` }), 404);
  assertDone(await as(ana)({ method: 'DELETE', path: `/invitations/${id}` }));
  assertRefused(await as(ana)({ method: 'DELETE', path: `/invitations/${id}` }), 404);
  assert.deepEqual((await as(ana)({ path: '/invitations' })).json, []);
});

test('twice by one account counts once, and what was taken back stays so', async () => {
  const [ana, bob, eve] = [await anAccount(), await anAccount(), await anAccount()];
  const id = await aDevice(ana);
  const { token } = await invited(ana, { devices: [id], uses: 2 });
  const first = grantedBy(await accept(bob, token));
  assert.deepEqual(grantedBy(await accept(bob, token)), first);
  assert.deepEqual(grantedBy(await accept(eve, token)), first);
  assert.deepEqual(grantedBy(await accept(eve, token)), first, 'also when it is used up');
  assertRefused(await at(token), 410, { saying: /used up/ });
  assertRefused(await accept(await anAccount(), token), 410, { saying: /used up/ });
  assertDone(await as(ana)({ method: 'DELETE', path: `/devices/${id}/grants/${bob}` }));
  assertRefused(await accept(bob, token), 410, { saying: /taken back/ });
  assertRefused(await as(bob)({ path: valuesOf(id) }), 403);
});

test('of two accounts at once, one gets the last use', async () => {
  const ana = await anAccount();
  const id = await aDevice(ana);
  const { token } = await invited(ana, { devices: [id], uses: 3 });
  const racers = await Promise.all(Array.from({ length: 6 }, anAccount));
  const replies = await Promise.all([...racers, ...racers].map((name) => accept(name, token)));
  const winners = racers.filter((_, n) => replies[n]?.status === 200);
  assert.equal(winners.length, 3);
  for (const [n, name] of racers.entries()) {
    assert.equal(replies[n]?.status, replies[n + racers.length]?.status, 'both of one account');
    const { status } = await as(name)({ path: valuesOf(id) });
    assert.equal(status, winners.includes(name) ? 200 : 403);
  }
});

test('it gives beside what somebody has already', async () => {
  const [ana, bob] = [await anAccount(), await anAccount()];
  const id = await aDevice(ana);
  const path = `/devices/${id}/grants/${bob}`;
  await as(ana)({ method: 'PUT', path, json: ['devices:update'] });
  await accept(bob, (await invited(ana, { devices: [id] })).token);
  const grants = await as(ana)({ path: `/devices/${id}/grants` });
  const scopes = ['devices:update', ...viewing];
  assert.deepEqual(grants.json, [{ username: bob, scopes }]);
});

test('a group takes in who comes by a link, and a project shows what is in it', async () => {
  const [ana, bob] = [await anAccount(), await anAccount()];
  const [inGroup, inProject] = [await aDevice(ana), await aDevice(ana)];
  const post = (path: string, json: object) => as(ana)({ method: 'POST', path, json });
  const group = (await post('/groups', { name: 'Class 4B' })).text;
  const path = `/devices/${inGroup}/grants/groups/${group}`;
  await as(ana)({ method: 'PUT', path, json: viewing });
  const project = (await post('/projects', { name: 'Farm', device_ids: [inProject] })).text;
  const { token } = await invited(ana, { group, project });
  const offered = (await at(token)).json as { to: { name: string }[] };
  assert.deepEqual(offered.to.map(({ name }) => name).sort(), ['Class 4B', 'Farm']);
  assert.deepEqual(grantedBy(await accept(bob, token)), [
    { kind: 'project', resource: project, scopes: ['projects:view'] },
    { kind: 'group', resource: group, scopes: [] },
  ]);
  for (const id of [inGroup, inProject]) {
    assert.equal((await as(bob)({ path: valuesOf(id) })).status, 200);
  }
  assert.deepEqual((await as(ana)({ path: `/groups/${group}` })).json, {
    ...{ id: group, name: 'Class 4B', owner: ana, usernames: [bob] },
  });
});

test('who owns it all takes no use of it', async () => {
  const ana = await anAccount();
  const { token } = await invited(ana, { devices: [await aDevice(ana)] });
  assert.equal((await accept(ana, token)).status, 200);
  assert.equal((await at(token)).status, 200);
});

test('it is over when it has expired, and when it was revoked', async () => {
  const [ana, bob] = [await anAccount(), await anAccount()];
  const devices = [await aDevice(ana)];
  const expires = new Date(clock.now() + 60_000).toISOString();
  const short = await invited(ana, { devices, expires, uses: 2 });
  assert.equal(short.expires, expires);
  clock.advance(60_000);
  assertRefused(await at(short.token), 410, { saying: /expired/ });
  assertRefused(await accept(bob, short.token), 410, { saying: /expired/ });
  const ofDay = await invited(ana, { devices, expires: '2031-04-01' });
  assert.equal(ofDay.expires, '2031-04-01T23:59:59.999Z');
  const revoked = await invited(ana, { devices });
  assertDone(await as(ana)({ method: 'DELETE', path: `/invitations/${revoked.id}` }));
  assertRefused(await at(revoked.token), 410, { saying: /revoked/ });
  assertRefused(await accept(bob, revoked.token), 410, { saying: /revoked/ });
});

test('it ends when its giver may no longer share', async () => {
  const [ana, bob, eve] = [await anAccount(), await anAccount(), await anAccount()];
  const [given, kept, removed] = [await aDevice(ana), await aDevice(ana), await aDevice(ana)];
  const alone = await invited(ana, { devices: [given] });
  const both = await invited(ana, { devices: [given, kept, removed] });
  await as(ana)({ method: 'PUT', path: `/devices/${given}/owner`, body: bob });
  await as(bob)({ method: 'PUT', path: `/devices/${given}/accept` });
  await as(ana)({ method: 'DELETE', path: `/devices/${removed}` });
  await as(bob)({ method: 'POST', path: '/devices', json: { id: removed } });
  assertRefused(await at(alone.token), 410, { saying: /no longer share/ });
  assertRefused(await accept(eve, alone.token), 410, { saying: /no longer share/ });
  const granted = [{ kind: 'device', resource: kept, scopes: viewing }];
  assert.deepEqual(grantedBy(await accept(eve, both.token)), granted);
  const users = (await as('admin')({ path: `/users?username=${ana}` })).json as { id: string }[];
  const path = `/users/${users[0]?.id}`;
  const later = await invited(ana, { devices: [kept] });
  await as('admin')({ method: 'PUT', path, json: { disabled: true } });
  assertRefused(await accept(eve, later.token), 410);
  await as('admin')({ method: 'DELETE', path });
  assertRefused(await accept(eve, later.token), 404);
});

test('a device that was made again under its id is another one', async () => {
  const [ana, eve] = [await anAccount(), await anAccount()];
  const id = await aDevice(ana);
  const { token } = await invited(ana, { devices: [id] });
  await as(ana)({ method: 'DELETE', path: `/devices/${id}` });
  clock.advance(1);
  await as(ana)({ method: 'POST', path: '/devices', json: { id, visibility: 'private' } });
  assertRefused(await accept(eve, token), 410);
});

test('only who may share invites, and never by a key or without a login', async () => {
  const [ana, bob] = [await anAccount(), await anAccount()];
  const id = await aDevice(ana);
  const grant = { method: 'PUT', path: `/devices/${id}/grants/${bob}` };
  await as(ana)({ ...grant, json: ['devices:update', ...viewing] });
  assertRefused(await invite(bob, { devices: [id] }), 403);
  assertRefused(await invite('guest', { devices: [id] }), 403);
  await as('guest')({ method: 'POST', path: '/devices', json: { id: `${id}-of-guests` } });
  assertRefused(await invite(ana, { devices: [`${id}-of-guests`] }), 403);
  const key = await as(ana)({ method: 'POST', path: '/auth/keys', json: { name: 'key' } });
  const token = (key.json as { key: string }).key;
  const call = { method: 'POST', path: '/invitations', json: { devices: [id] }, token };
  assertRefused(await service.call(call), 403);
  const made = await invited(ana, { devices: [id] });
  assertRefused(await accept('guest', made.token), 403);
  const path = `/invitations/at/${made.token}/accept`;
  assertRefused(await service.call({ method: 'POST', path, token }), 403);
  const groups = await as(ana)({ method: 'POST', path: '/groups', json: { name: 'mine' } });
  assertRefused(await invite(bob, { group: groups.text }), 404);
  assert.equal((await invite('admin', { devices: [id] })).status, 200);
});

test('a message that says nothing, or too much, is refused', async () => {
  const ana = await anAccount();
  const devices = [await aDevice(ana)];
  const bad: readonly [object, number][] = [
    [{}, 400],
    [{ devices: [] }, 400],
    [{ devices, uses: 0 }, 400],
    [{ devices, uses: invitationLimits.invitationUsesMax + 1 }, 400],
    [{ devices, uses: 1.5 }, 400],
    [{ devices, expires: 'tomorrow' }, 400],
    [{ devices, expires: '2020-01-01T00:00:00Z' }, 400],
    [{ devices, scopes: ['projects:view'] }, 400],
    [{ devices, scopes: [] }, 400],
    [{ devices, scopes: ['all'] }, 400],
    [{ devices: ['unknown'] }, 404],
    [{ devices: Array.from({ length: 101 }, (_, n) => `d${n}`) }, 400],
    [{ group: 'unknown' }, 404],
    [{ project: 'unknown' }, 404],
  ];
  for (const [json, status] of bad) {
    assertRefused(await invite(ana, json), status, { of: JSON.stringify(json).slice(0, 80) });
  }
});

test('guessed links lead nowhere, whatever they look like', async () => {
  const guesses = ['a', 'x'.repeat(43), 'x'.repeat(2_000), '__proto__', '%00', '%F0%9F'];
  for (const guess of guesses) {
    for (const reply of [await at(guess), await accept('admin', guess)]) {
      assert.ok([400, 404, 414].includes(reply.status), `${guess.slice(0, 50)} ${reply.status}`);
    }
  }
});

test('an account has so many open invitations', async () => {
  const ana = await anAccount();
  const devices = [await aDevice(ana)];
  const all = Array.from({ length: invitationLimits.invitationsPerUserMax }, () =>
    invited(ana, { devices }),
  );
  const [first] = await Promise.all(all);
  const reply = await invite(ana, { devices });
  assert.equal(reply.status, 403, reply.text);
  assert.equal((reply.json as { code: string }).code, 'too_many_invitations');
  await as(ana)({ method: 'DELETE', path: `/invitations/${first?.id}` });
  assert.equal((await invite(ana, { devices })).status, 200);
});
