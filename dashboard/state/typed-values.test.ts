import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

interface Push {
  readonly path: string;
  readonly token: string | null;
  readonly body: string;
}

const kept = new Map<string, string>();
const pushes: Push[] = [];
/** Answers of the service to a push, and to a renewal. */
let answer: (token: string | null) => number = () => 204;
let renewal = 401;
/** Who logs in. */
let coming = 'ama';

const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, text: string) => void kept.set(key, text),
  removeItem: (key: string) => void kept.delete(key),
  clear: () => undefined,
};
for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(globalThis, name, { value: storage, configurable: true });
}
Object.defineProperty(globalThis, 'document', {
  value: { querySelector: () => null, documentElement: { lang: 'en' } },
});
globalThis.fetch = async (input, { headers, body, signal } = {}) => {
  signal?.throwIfAborted();
  const path = String(input);
  const token = new Headers(headers).get('authorization');
  if (path.endsWith('/auth/renew')) return new Response('{}', { status: renewal });
  if (path.endsWith('/auth/token')) return new Response(`token of ${coming}`);
  if (path.endsWith('/users/me')) return Response.json({ username: coming });
  pushes.push({ path, token, body: String(body) });
  const status = answer(token);
  if (status === 0) throw new TypeError('no network');
  return new Response(status === 204 ? null : '{"error":"x","description":"no"}', { status });
};
const write = (username: string, ageMs: number): void => {
  const session = { username, token: `of ${username}`, obtainedAt: Date.now() - ageMs };
  kept.set('kipimo.session', JSON.stringify(session));
};
write('ama', 10_000);

mock.timers.enable({ apis: ['setTimeout'] });
const { api, endedFor, stayGuest } = await import('./session.ts');
const { sendTyped, sendWaiting, waitingValues } = await import('./typed-values.ts');
const { toasts } = await import('./toasts.ts');

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
};

/** Two values of ama that wait for the network. */
beforeEach(async () => {
  [renewal, coming] = [401, 'ama'];
  answer = () => 204;
  stayGuest();
  await api.logIn('ama', 'x');
  await sendWaiting();
  await settle();
  answer = () => 0;
  for (const json of ['1', '2']) {
    const place = { device: 'gauge', sensor: 'RA', timestamp: '2026-03-20T07:00:00Z' };
    assert.equal(await sendTyped({ ...place, json }), 'kept');
  }
  answer = () => 204;
  pushes.length = 0;
  toasts.value = [];
});

/** As after eleven minutes: the token has ended, and renewing it is refused. */
async function end(): Promise<void> {
  write('ama', 660_000);
  await sendWaiting();
  await settle();
}

const tokens = (): readonly (string | null)[] => pushes.map(({ token }) => token);

test('a login that has ended loses no value, and sends none as a guest', async () => {
  await end();
  assert.equal(endedFor.peek(), 'ama');
  await sendWaiting();
  assert.deepEqual([pushes.length, waitingValues.peek().length], [0, 2]);
  assert.equal(JSON.parse(kept.get('kipimo.typed') ?? '[]').length, 2, 'after a reload, too');
  await api.logIn('ama', 'x');
  await settle();
  assert.deepEqual(tokens(), ['Bearer token of ama', 'Bearer token of ama']);
  assert.deepEqual([waitingValues.peek(), toasts.peek()], [[], []]);
});

test('a push that ends the login keeps its value', async () => {
  answer = () => 401;
  await sendWaiting();
  assert.deepEqual([endedFor.peek(), waitingValues.peek().length], ['ama', 2]);
});

for (const who of ['another user', 'a guest']) {
  test(`${who} sends and finds nothing of whose login has ended`, async () => {
    await end();
    coming = 'kofi';
    if (who === 'a guest') stayGuest();
    else await api.logIn('kofi', 'x');
    await settle();
    await sendWaiting();
    assert.deepEqual([pushes, waitingValues.peek()], [[], []]);
    assert.equal(kept.get('kipimo.typed'), undefined);
  });
}

test('a logout takes along what waits', async () => {
  await api.logOut();
  await settle();
  assert.deepEqual([pushes, waitingValues.peek()], [[], []]);
  assert.equal(kept.get('kipimo.typed'), undefined);
});

test('another tab has logged in as somebody else a moment ago', async () => {
  write('kofi', 10_000);
  await sendWaiting();
  assert.deepEqual([pushes.length, waitingValues.peek().length], [0, 2]);
});

for (const status of [0, 429, 502, 503, 504]) {
  test(`after ${status} one timer tries again`, async () => {
    answer = () => status;
    for (let call = 0; call < 3; call += 1) {
      mock.timers.tick(1_000);
      await sendWaiting();
    }
    assert.deepEqual([pushes.length, waitingValues.peek().length], [3, 2]);
    for (let second = 0; second < 30; second += 1) {
      mock.timers.tick(1_000);
      await settle();
    }
    assert.equal(pushes.length, 4);
    answer = () => 204;
    mock.timers.tick(30_000);
    await settle();
    assert.deepEqual([pushes.length, waitingValues.peek()], [6, []]);
  });
}

for (const status of [400, 403, 500, 507]) {
  test(`${status} holds up no value behind it, and is said`, async () => {
    answer = () => (pushes.length === 1 ? status : 204);
    await sendWaiting();
    assert.deepEqual([pushes.length, waitingValues.peek()], [2, []]);
    assert.equal(toasts.peek().length, 1);
  });
}

const ofGuest = { device: 'well', sensor: 'L', timestamp: '2026-03-20T08:00:00Z', json: '7' };

test('a guest types beside what waits for a login that has ended', async () => {
  await end();
  // As a page that loads for a guest: the session is no longer there, nor that it has ended.
  const waiting = kept.get('kipimo.typed') ?? '';
  stayGuest();
  await settle();
  kept.set('kipimo.typed', waiting);
  kept.delete('kipimo.session');
  answer = () => 0;
  assert.equal(await sendTyped(ofGuest), 'kept');
  assert.equal(waitingValues.peek().length, 1);
  answer = () => 204;
  pushes.length = 0;
  await api.logIn('ama', 'x');
  await settle();
  assert.deepEqual(tokens(), Array(3).fill('Bearer token of ama'));
  assert.deepEqual(waitingValues.peek(), []);
});

test('values that a page of before kept are sent', async () => {
  await end();
  const values = [{ ...ofGuest, json: '8' }];
  kept.set('kipimo.typed', JSON.stringify({ username: 'ama', values }));
  pushes.length = 0;
  await api.logIn('ama', 'x');
  await sendTyped({ ...ofGuest, json: '9' });
  await sendWaiting();
  await settle();
  assert.ok(
    pushes.some(({ body }) => JSON.parse(body).value === 8),
    JSON.stringify(pushes),
  );
});

/** A page that loads now: modules of its own, on the same storage. */
async function openTab(name: string) {
  const { sendTyped, waitingValues } = await import(`./typed-values.ts?${name}`);
  return { sendTyped, waitingValues } as Pick<
    typeof import('./typed-values.ts'),
    'sendTyped' | 'waitingValues'
  >;
}

test('another tab keeps a value beside those of this one, and each is sent', async () => {
  answer = () => 0;
  const other = await openTab('other');
  assert.equal(await other.sendTyped({ ...ofGuest, json: '3' }), 'kept');
  assert.equal(await sendTyped({ ...ofGuest, json: '4' }), 'kept');
  assert.equal(waitingValues.peek().length, 4);
  answer = () => 204;
  pushes.length = 0;
  await sendWaiting();
  const bodies = pushes.map(({ body }) => JSON.parse(body).value);
  assert.deepEqual([bodies, kept.get('kipimo.typed')], [[1, 2, 3, 4], undefined]);
});
