import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from './api-error.ts';
import { createApiClient } from './client.ts';
import { createSessionStore, type Session } from './session-store.ts';

const lifeMs = 600_000;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly token: string | null;
  readonly body: string;
}

type PreparedAnswer = Response | Error | (() => Response);

/** A client over a service that answers as told, in order; records what it was asked. */
function setUp(answers: readonly PreparedAnswer[], session?: Session) {
  const sent: Sent[] = [];
  const events: string[] = [];
  const queue = [...answers];
  const store = createSessionStore(undefined);
  if (session !== undefined) store.write(session);
  let now = 1_000_000;
  const client = createApiClient({
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      sent.push({
        method: init?.method ?? 'GET',
        url: String(input),
        token: headers.get('authorization'),
        body: String(init?.body ?? ''),
      });
      const next = queue.shift();
      if (next === undefined) throw new Error('nothing more was expected');
      if (next instanceof Error) throw next;
      return typeof next === 'function' ? next() : next;
    },
    store,
    now: () => now,
    tokenLifeMs: lifeMs,
    onSession: (next, cause) => events.push(`${next?.token ?? 'none'} ${cause}`),
  });
  const wait = (ms: number): void => {
    now += ms;
  };
  return { client, sent, events, store, wait };
}

const ama: Session = { token: 'first', username: 'ama', obtainedAt: 1_000_000 };
const ok = (body: string): Response => new Response(body, { status: 200 });
const refusal = (status: number, error: string, description = 'because'): Response =>
  new Response(JSON.stringify({ error, description }), { status });

test('a guest sends no token', async () => {
  const { client, sent } = setUp([ok('[]')]);
  assert.deepEqual(await client.getJson({ path: '/devices' }), []);
  assert.deepEqual(sent, [{ method: 'GET', url: '/api/v2/devices', token: null, body: '' }]);
});

test('a query is encoded, and what is not given is left out', async () => {
  const { client, sent } = setUp([ok('[]')]);
  const query = { q: "name~='a b'", limit: 5, domain: undefined, gateway: '' };
  await client.getJson({ path: '/devices', query });
  assert.equal(sent[0]?.url, '/api/v2/devices?q=name%7E%3D%27a+b%27&limit=5');
});

test('a token is used until half of its life, then renewed once for all requests', async () => {
  const { client, sent, store, wait } = setUp([ok('1'), ok('second'), ok('2'), ok('3')], ama);
  await client.getJson({ path: '/a' });
  wait(lifeMs / 2);
  await Promise.all([client.getJson({ path: '/b' }), client.getJson({ path: '/c' })]);
  assert.deepEqual(
    sent.map(({ method, url, token }) => `${method} ${url} ${token}`),
    [
      'GET /api/v2/a Bearer first',
      'POST /api/v2/auth/renew Bearer first',
      'GET /api/v2/b Bearer second',
      'GET /api/v2/c Bearer second',
    ],
  );
  assert.equal(store.read()?.token, 'second');
});

test('a renewal that is refused ends the session', async () => {
  const { client, events, store, wait } = setUp([refusal(401, 'unauthenticated')], ama);
  wait(lifeMs);
  await client.renewIfDue();
  assert.equal(store.read(), undefined);
  assert.deepEqual(events, ['none ended']);
});

test('a renewal that does not get through keeps the session for later', async () => {
  const { client, events, store, wait } = setUp([new TypeError('no network')], ama);
  wait(lifeMs);
  await client.renewIfDue();
  assert.equal(store.read()?.token, 'first');
  assert.deepEqual(events, []);
});

test('a token that is refused ends the session and says so', async () => {
  const { client, events } = setUp([refusal(401, 'unauthenticated')], ama);
  await assert.rejects(client.getJson({ path: '/a' }), { name: 'ApiError', status: 401 });
  assert.deepEqual(events, ['none ended']);
});

test('a guest who is refused has no session to end', async () => {
  const { client, events } = setUp([refusal(401, 'unauthenticated')]);
  await assert.rejects(client.getJson({ path: '/a' }), { status: 401 });
  assert.deepEqual(events, []);
});

test('a token that another tab has renewed is tried before the session ends', async () => {
  const renewedElsewhere = (): Response => {
    store.write({ ...ama, token: 'of another tab' });
    return refusal(401, 'unauthenticated');
  };
  const { client, sent, events, store } = setUp([renewedElsewhere, ok('"here"')], ama);
  assert.equal(await client.getJson({ path: '/a' }), 'here');
  assert.equal(sent[1]?.token, 'Bearer of another tab');
  assert.deepEqual(events, []);
});

test('logging in by e-mail learns the username', async () => {
  const { client, sent, store } = setUp([ok('fresh'), ok('{"username":"ama"}')]);
  await client.logIn(' ama@example.org ', 'secret password');
  assert.equal(sent[0]?.body, '{"username":"ama@example.org","password":"secret password"}');
  assert.equal(sent[1]?.url, '/api/v2/users/me');
  assert.deepEqual(store.read(), { token: 'fresh', username: 'ama', obtainedAt: 1_000_000 });
});

test('logging out ends the token and forgets it even without network', async () => {
  const { client, sent, events, store } = setUp([new TypeError('no network')], ama);
  await client.logOut();
  assert.equal(store.read(), undefined);
  assert.equal(sent[0]?.method, 'DELETE');
  assert.deepEqual(events, ['none changed']);
});

test('no answer is an error of its own kind', async () => {
  const { client } = setUp([new TypeError('Failed to fetch')]);
  await assert.rejects(client.getJson({ path: '/a' }), { status: 0, code: 'offline' });
});

test('a refusal keeps the words of the service, and how long to wait', async () => {
  const answer = new Response('{"error":"rate_limited","description":"slow down"}', {
    status: 429,
    headers: { 'retry-after': '30' },
  });
  const { client } = setUp([answer]);
  await assert.rejects(client.getJson({ path: '/a' }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      [error.status, error.code, error.message, error.retryAfterSeconds],
      [429, 'rate_limited', 'slow down', 30],
    );
    return true;
  });
});

test('an answer that is no JSON is an internal error', async () => {
  const { client } = setUp([new Response('<h1>Oh</h1>', { status: 500 })]);
  await assert.rejects(client.getJson({ path: '/a' }), { status: 500, code: 'internal' });
});

test('a proxy whose service does not answer is as good as no network', async () => {
  const statuses = [502, 503, 504];
  const { client } = setUp(statuses.map((status) => new Response('<h1>Oh</h1>', { status })));
  for (const status of statuses) {
    await assert.rejects(client.getJson({ path: '/a' }), { status, code: 'offline' });
  }
});

test('a page knows how many there are in all', async () => {
  const headers = { 'x-total-count': '5000' };
  const { client } = setUp([new Response('[1,2]', { headers }), ok('[1]')]);
  assert.deepEqual(await client.getPage({ path: '/a' }), { items: [1, 2], total: 5000 });
  assert.deepEqual(await client.getPage({ path: '/a' }), { items: [1], total: 1 });
});

const remembered: Session = { ...ama, remembered: true };

test('a browser that is remembered renews by its cookie when the token has ended', async () => {
  const { client, sent, events, store, wait } = setUp([ok('second'), ok('[]')], remembered);
  wait(lifeMs);
  await client.getJson({ path: '/devices' });
  assert.deepEqual(
    sent.map(({ url, token }) => [url, token]),
    [
      ['/api/v2/auth/renew', null],
      ['/api/v2/devices', 'Bearer second'],
    ],
  );
  assert.equal(store.read()?.remembered, true);
  assert.deepEqual(events, ['second changed']);
});

test('a token that was ended is renewed by the cookie, once for all that wait', async () => {
  const { client, sent, events } = setUp(
    [refusal(401, 'unauthenticated'), ok('second'), ok('[]')],
    remembered,
  );
  assert.deepEqual(await client.getJson({ path: '/devices' }), []);
  assert.deepEqual(
    sent.map(({ token }) => token),
    ['Bearer first', null, 'Bearer second'],
  );
  assert.deepEqual(events, ['second changed']);
});

test('a cookie that has ended ends the session; a service that is busy does not', async () => {
  const busy = setUp([refusal(503, 'unavailable'), ok('[]')], remembered);
  busy.wait(lifeMs);
  await busy.client.getJson({ path: '/devices' });
  assert.deepEqual(busy.events, []);
  const over = setUp([refusal(401, 'unauthenticated'), ok('[]')], remembered);
  over.wait(lifeMs);
  await over.client.getJson({ path: '/devices' });
  assert.deepEqual(over.events, ['none ended']);
});

test('logging out long after the token ended ends the login of the cookie, too', async () => {
  const answers = [refusal(401, 'unauthenticated'), ok('second'), ok('')];
  const { client, sent, events } = setUp(answers, remembered);
  await client.logOut();
  assert.deepEqual(
    sent.map(({ method, url, token }) => [method, url, token]),
    [
      ['DELETE', '/api/v2/auth/token', 'Bearer first'],
      ['POST', '/api/v2/auth/renew', null],
      ['DELETE', '/api/v2/auth/token', 'Bearer second'],
    ],
  );
  assert.deepEqual(events, ['none changed']);
});

test('a logout without network is owed, and said before anything else', async () => {
  const noNetwork = () => {
    throw new TypeError('no network');
  };
  const answers = [noNetwork, noNetwork, noNetwork, refusal(503, 'unavailable')];
  const { client, sent, store } = setUp([...answers, ok(''), ok('[]')], remembered);
  await client.logOut();
  assert.deepEqual(store.owed(), [{ token: 'first', remembered: true }]);
  await assert.rejects(client.getJson({ path: '/devices' }), { code: 'offline' });
  await assert.rejects(client.logIn('kofi', 'secret password', true), { code: 'offline' });
  await assert.rejects(client.renewIfDue(), { code: 'unavailable' });
  assert.ok(sent.every(({ method, token }) => `${method} ${token}` === 'DELETE Bearer first'));
  assert.deepEqual(await client.getJson({ path: '/devices' }), []);
  assert.equal(sent.at(-1)?.url, '/api/v2/devices');
  assert.equal(sent.length, 6);
  assert.deepEqual(store.owed(), []);
});

test('an owed logout whose token has ended goes on with the cookie', async () => {
  const { client, sent, store } = setUp(
    [
      ...[refusal(401, 'unauthenticated'), new TypeError('no network')],
      ...[refusal(401, 'unauthenticated'), refusal(401, 'unauthenticated')],
    ],
    remembered,
  );
  await client.logOut();
  assert.equal(store.owed().length, 1);
  await client.renewIfDue();
  assert.deepEqual(store.owed(), []);
  assert.deepEqual(
    sent.map(({ method }) => method),
    ['DELETE', 'POST', 'DELETE', 'POST'],
  );
});

test('what would become the path of something else is not sent', async () => {
  const { client, sent } = setUp([ok('')]);
  for (const name of ['.', '..', '%2e%2E', '../x']) {
    const path = `/devices/D/grants/${name}`;
    await assert.rejects(client.send({ method: 'DELETE', path }), { code: 'invalid' });
  }
  assert.deepEqual(sent, []);
  await client.send({ method: 'DELETE', path: '/devices/D/grants/a..b' });
  assert.equal(sent.length, 1);
});
