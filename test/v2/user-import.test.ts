import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { type Call, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

interface Row {
  readonly username: string;
  readonly password?: string;
  readonly error?: string;
  readonly description?: string;
  readonly code?: string;
}

const send = (body: Call['body'], by = 'admin', type = 'text/csv') =>
  service.as(by)({ method: 'POST', path: '/users/import', body: body ?? '', type });

async function imported(body: string | Uint8Array): Promise<readonly Row[]> {
  const reply = await send(body);
  assert.equal(reply.status, 200, reply.text);
  return reply.json as readonly Row[];
}

const logIn = (username: string, password: string) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username, password } });

async function usersCalled(username: string): Promise<readonly Record<string, unknown>[]> {
  const reply = await service.as('admin')({ path: `/users?username=${username}` });
  return reply.json as readonly Record<string, unknown>[];
}

test('a class gets accounts with passwords that are told once, in a group', async () => {
  const rows = Array.from({ length: 30 }, (_, n) => `pupil-${n},Fatou Diop ${n},Class 4B`);
  const made = await imported(`username,name,group\r\n${rows.join('\r\n')}\r\n`);
  assert.equal(made.length, 30);
  for (const [n, { username, password, ...others }] of made.entries()) {
    assert.deepEqual(others, { firstName: 'Fatou', lastName: `Diop ${n}` });
    assert.match(password ?? '', /^[2-9A-Z]{4}-[2-9A-Z]{4}$/, username);
  }
  assert.equal(new Set(made.map(({ password }) => password)).size, 30);
  const { username, password = '' } = made[7] ?? { username: '' };
  assert.equal((await logIn(username, password)).status, 200);
  const [user] = await usersCalled('pupil-7');
  assert.deepEqual([user?.['firstName'], user?.['lastName']], ['Fatou', 'Diop 7']);
  const groups = await service.as('admin')({ path: '/groups' });
  const [group] = groups.json as { name: string; usernames: string[] }[];
  assert.equal(group?.name, 'Class 4B');
  assert.equal(group?.usernames.length, 30);
  await imported('username,group\nlate,Class 4B\n');
  const after = (await service.as('admin')({ path: '/groups' })).json as { usernames: string[] }[];
  assert.deepEqual(
    after.map(({ usernames }) => usernames.length),
    [31],
  );
});

test('a password is initial until it is changed, by its account too', async () => {
  const [row] = await imported('username,password\nawa,maize-0815\n');
  assert.deepEqual(row, { username: 'awa' });
  const token = (await logIn('awa', 'maize-0815')).text;
  const me = () => service.call({ path: '/users/me', token });
  assert.equal(((await me()).json as Record<string, unknown>)['password_is_initial'], true);
  const json = { password: 'cassava-0815', old_password: 'maize-0815' };
  assertDone(await service.call({ method: 'PUT', path: '/users/me/password', json, token }));
  const next = (await logIn('awa', 'cassava-0815')).text;
  const reply = await service.call({ path: '/users/me', token: next });
  assert.equal('password_is_initial' in (reply.json as object), false);
  assert.equal('password_is_initial' in ((await usersCalled('awa'))[0] ?? {}), false);
});

test('each row that makes no account says why, and the others do', async () => {
  await imported('username\ntaken\n');
  const list = [
    'Username;first_name;E-Mail'.replace('E-Mail', 'email'),
    'good;Ama;ama@example.org',
    'TAKEN;;',
    'good;again;',
    'two words;;',
    ';Nobody;',
    'guest;;',
    'mail;;no address',
    'wide;a;b@example.org;more',
  ];
  const made = await imported(list.join('\n'));
  const told = made.map(({ username, code, password }) => [username, code ?? password?.length]);
  assert.deepEqual(told, [
    ['good', 9],
    ['TAKEN', 'username_taken'],
    ['good', 'username_taken'],
    ['two words', 'username_characters'],
    ['', 'username_missing'],
    ['guest', 'username_reserved'],
    ['mail', 'email_malformed'],
    ['wide', 'line_cells'],
  ]);
  assert.deepEqual(await usersCalled('mail'), []);
  const weak = await imported('username,password\nweak,short\n');
  assert.deepEqual([weak[0]?.error, weak[0]?.code], ['invalid', 'password_length']);
});

test('nobody is half made: a group that is full keeps its rows out', async () => {
  const many = Array.from({ length: limits.groupMembersMax }, (_, n) => `n${n}`);
  const full = await imported(`username,group\n${many.map((name) => `${name},Full`).join('\n')}`);
  assert.equal(full.filter(({ error }) => error !== undefined).length, 0);
  const made = await imported('username,group\none-more,Full\nwithout-group,\n');
  assert.deepEqual(
    made.map(({ code }) => code),
    ['group_full', undefined],
  );
  assert.deepEqual(await usersCalled('one-more'), []);
});

test('a list as spreadsheets save it is read', async () => {
  const windows = Buffer.from('username;name;phone\nzoé;Zoé Ndiaye;\n', 'latin1');
  assert.equal((await imported(windows))[0]?.code, 'username_characters');
  const named = Buffer.from(
    'sep=;\r\nusername;name;phone\r\nzoe;Zoé Ndiaye;+221771234567\r\n',
    'latin1',
  );
  await imported(named);
  const [zoe] = await usersCalled('zoe');
  assert.deepEqual([zoe?.['firstName'], zoe?.['phone']], ['Zoé', ['+221771234567']]);
  const utf16 = Buffer.from('\ufeffusername\tname\n"ba"\t"Ba ""le grand"""\n', 'utf16le');
  await imported(utf16);
  assert.equal((await usersCalled('ba'))[0]?.['lastName'], '"le grand"');
});

test('what is no list of people is refused whole', async () => {
  const rows = Array.from({ length: limits.usersPageMax + 1 }, (_, n) => `x${n}`).join('\n');
  const bad: readonly [string, RegExp][] = [
    ['', /empty/],
    ['name\nFatou\n', /username once/],
    ['username,username\na,b\n', /username once/],
    ['username,admin\na,true\n', /the column "admin"/],
    ['username\n"open', /quote/],
    [`username\n${rows}`, /at most 1000 accounts/],
  ];
  for (const [body, saying] of bad) assertRefused(await send(body), 400, { saying, of: body });
  for (const type of ['application/json', 'text/plain', 'application/octet-stream']) {
    assertRefused(await send('[]', 'admin', type), 415);
  }
  assert.deepEqual(await imported('username\n'), []);
});

test('only administrators make accounts of a list, and no key does', async () => {
  const body = 'username\nsneaked-in\n';
  await service.tokenOf('kofi');
  assertRefused(await send(body, 'kofi'), 403);
  assertRefused(await send(body, 'guest'), 403);
  const json = { name: 'key' };
  const key = await service.as('admin')({ method: 'POST', path: '/auth/keys', json });
  const token = (key.json as { key: string }).key;
  const call = { method: 'POST', path: '/users/import', body, type: 'text/csv', token };
  assertRefused(await service.call(call), 403);
  assert.deepEqual(await usersCalled('sneaked-in'), []);
});
