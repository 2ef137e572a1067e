import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import test, { after, before } from 'node:test';
import pg from 'pg';
import { isRecord } from '../../src/lib/record.ts';
import { createManualClock } from '../manual-clock.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const day = 86_400_000;
const clock = createManualClock(Date.UTC(2026, 0, 10));
let service: Service;

before(async () => {
  service = await startService({ clock });
  for (const username of ['ama', 'kofi', 'esi']) {
    const json = { username, password: passwordOf(username), firstName: `${username} José` };
    await service.call({ method: 'POST', path: '/users', json });
  }
  clock.advance(day);
});

after(() => service[Symbol.asyncDispose]());

interface Row {
  readonly id: string;
  readonly username: string;
  readonly last_login?: string;
  readonly devices?: number;
}

async function list(query: string, by = 'admin') {
  const reply = await service.as(by)({ path: `/users?${query}` });
  assert.equal(reply.status, 200, reply.text);
  const rows = reply.json as readonly Row[];
  return { rows, names: rows.map(({ username }) => username), reply };
}

const logIn = (username: string, password = passwordOf(username)) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username, password } });

test('administrators see the last login of an account, and how many devices it owns', async () => {
  await service.as('admin')({ path: '/users/me' });
  const at = new Date(clock.now()).toISOString();
  assert.equal((await logIn('ama')).status, 200);
  for (const id of ['one', 'two']) {
    await service.as('ama')({ method: 'POST', path: '/devices', json: { id } });
  }
  const { rows } = await list('');
  const use = rows.map(({ username, last_login, devices }) => [username, last_login, devices]);
  assert.deepEqual(use, [
    ['admin', at, 0],
    ['ama', at, 2],
    ['kofi', undefined, 0],
    ['esi', undefined, 0],
  ]);
  const ama = rows[1]?.id;
  const one = (await service.as('admin')({ path: `/users/${ama}` })).json as Row;
  assert.deepEqual([one.last_login, one.devices], [at, 2]);
  for (const by of ['ama', 'guest']) {
    const { rows: shown } = await list('', by);
    assert.ok(
      shown.every((row) => !('last_login' in row) && !('devices' in row)),
      by,
    );
  }
});

/** Counts the statements that read accounts or devices while this runs, on either engine. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const watch = (
    prototype: object,
    name: string,
    sqlOf: (on: object, first: unknown) => unknown,
  ) => {
    const method: (...given: unknown[]) => unknown = Reflect.get(prototype, name);
    function counted(this: object, ...given: unknown[]): unknown {
      if (/\bfrom (users|devices)\b/.test(String(sqlOf(this, given[0])))) count += 1;
      return Reflect.apply(method, this, given);
    }
    test.mock.method(prototype as Record<string, () => unknown>, name, counted);
  };
  const ofStatement = (statement: object) => Reflect.get(statement, 'sourceSQL');
  watch(StatementSync.prototype, 'all', ofStatement);
  watch(StatementSync.prototype, 'get', ofStatement);
  watch(pg.Client.prototype, 'query', (_, query) => (isRecord(query) ? query['text'] : query));
  try {
    await work();
    return count;
  } finally {
    test.mock.restoreAll();
  }
}

test('a list of many accounts asks no more of the database than a list of one', async () => {
  for (const query of ['', 'text=jose', 'role=user&inactive_since=2026-02-01']) {
    await list(query);
    const ofOne = await statementsOf(() => list(`${query}&limit=1`));
    const ofAll = await statementsOf(async () => {
      assert.ok((await list(query)).names.length >= 3);
    });
    assert.ok(ofOne > 0, 'statements are counted');
    assert.equal(ofAll, ofOne, query);
  }
});

test('a list is of those who never logged in, or are inactive since a day', async () => {
  assert.deepEqual((await list('logged_in=false')).names, ['kofi', 'esi']);
  assert.deepEqual((await list('logged_in=true')).names, ['admin', 'ama']);
  const since = (at: number) => `inactive_since=${new Date(at).toISOString()}`;
  assert.deepEqual((await list(since(clock.now()))).names, ['kofi', 'esi']);
  assert.deepEqual((await list(since(clock.now() + 1))).names, ['admin', 'ama', 'kofi', 'esi']);
  assert.deepEqual((await list('inactive_since=2026-01-01')).names, []);
  const bad = await service.as('admin')({ path: '/users?inactive_since=tomorrow' });
  assertRefused(bad, 400, { saying: /inactive_since/ });
});

test('a list is narrowed by words and role, in pages with the total of all that fit', async () => {
  assert.deepEqual((await list('text=jose%20KO')).names, ['kofi']);
  assert.deepEqual((await list('role=admin')).names, ['admin']);
  const { names, reply } = await list('text=jose&role=user&limit=1&offset=1');
  assert.deepEqual(names, ['kofi']);
  assert.equal(reply.headers.get('x-total-count'), '3');
  assert.match(reply.headers.get('link') ?? '', /text=jose.*rel="next"/);
  assert.deepEqual((await list('username=KOFI&role=user')).names, ['kofi']);
  for (const query of ['role=boss', 'disabled=perhaps', 'logged_in=7']) {
    assertRefused(await service.as('admin')({ path: `/users?${query}` }), 400, { of: query });
  }
});

test('only administrators filter: an answer would tell of addresses not shown', async () => {
  for (const query of ['text=a', 'role=admin', 'disabled=true', 'logged_in=true']) {
    assertRefused(await service.as('ama')({ path: `/users?${query}` }), 403, { of: query });
    assertRefused(await service.call({ path: `/users?${query}` }), 403, { of: query });
  }
});

test('a made-up password is initial, told once, and ends the logins of its account', async () => {
  const [kofi] = (await list('username=kofi')).rows;
  const token = (await logIn('kofi')).text;
  const path = `/users/${kofi?.id}/initial_password`;
  assertRefused(await service.as('ama')({ method: 'POST', path }), 403);
  const reply = await service.as('admin')({ method: 'POST', path });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { username, password } = reply.json as { username: string; password: string };
  assert.equal(username, 'kofi');
  assert.match(password, /^[2-9A-Z]{4}-[2-9A-Z]{4}$/);
  assert.equal((await service.call({ path: '/users/me', token })).status, 401);
  assert.equal((await logIn('kofi')).status, 401);
  const next = (await logIn('kofi', password)).text;
  const me = await service.call({ path: '/users/me', token: next });
  assert.equal((me.json as Record<string, unknown>)['password_is_initial'], true);
  const json = { password: passwordOf('kofi'), old_password: password };
  assertDone(await service.call({ method: 'PUT', path: '/users/me/password', json, token: next }));
  const after = await service.as('kofi')({ path: '/users/me' });
  assert.equal('password_is_initial' in (after.json as object), false);
});

test('nobody makes up a password for oneself, or for an account that is not there', async () => {
  const [admin] = (await list('username=admin')).rows;
  const post = (id: string | undefined) =>
    service.as('admin')({ method: 'POST', path: `/users/${id}/initial_password` });
  assertRefused(await post(admin?.id), 400, { saying: /your own password/ });
  assertRefused(await post('nobody'), 404);
});
