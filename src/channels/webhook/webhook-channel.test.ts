import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { test } from 'node:test';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import { openHttpChannel } from '../../../test/contract/channels/http-channel.ts';
import {
  type ReceivedRequest,
  type StubAnswer,
  startHttpStub,
} from '../../../test/contract/channels/http-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { createHttpClient } from '../http-exchange.ts';
import { createPinnedLookup, type Resolve } from './pinned-lookup.ts';
import { webhookSecretOf } from './signature.ts';
import { createWebhookChannel } from './webhook-channel.ts';

const installationSecret = 'ab'.repeat(32);
const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const { signal } = new AbortController();

const allowing = () =>
  createWebhookChannel({ installationSecret, privateAddresses: 'allowed', now: () => now });

/** The contract opens stubs on changing ports; the profile's address is filled in here. */
describeChannel({
  name: 'webhook',
  recipient: { webhook: 'http://127.0.0.1/hook' },
  secrets: [installationSecret, webhookSecretOf(installationSecret, { username: 'ama' })],
  pauseMs: 7_000,
  isDeaf: true,
  open: (behaviour) =>
    openHttpChannel({
      behaviour,
      accepts: { status: 204 },
      refuses: { status: 404, json: { message: 'no such hook' } },
      open: async (url) => {
        const channel = allowing();
        return {
          ...channel,
          send: (message, stop) => {
            const webhook = message.to.webhook && `${url}/hook`;
            const to = { ...message.to, ...(webhook !== undefined && { webhook }) };
            return channel.send({ ...message, to }, stop);
          },
        };
      },
    }),
});

async function sendAgainst(answer: StubAnswer) {
  await using stub = await startHttpStub({ behaviour: 'accepts', answer: () => answer });
  const channel = allowing();
  const to = { username: parseUsername('ama'), webhook: `${stub.url}/hook?farm=1` };
  const message = aMessage({ to, notificationId: 'n-1', text: 'Maji ni 12 🔥' });
  const outcome = await channel.send(message, signal);
  channel.close();
  return { outcome, requests: stub.requests };
}

test('the receiver gets the message as JSON, once', async () => {
  const { requests } = await sendAgainst({ status: 204 });
  const [request, ...others] = requests;
  assert.equal(others.length, 0);
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/hook?farm=1');
  assert.equal(request.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(request.body), {
    id: 'd-1',
    notification: 'n-1',
    username: 'ama',
    message: 'Maji ni 12 🔥',
    created: '2026-01-02T03:04:05.000Z',
  });
});

/** The check that docs/channels.md asks of a receiver. */
function isGenuine(request: ReceivedRequest, secret: string, at: number): boolean {
  const timestamp = String(request.headers['kipimo-timestamp']);
  const given = Buffer.from(String(request.headers['kipimo-signature']));
  const digest = createHmac('sha256', secret).update(`${timestamp}.${request.body}`).digest('hex');
  const wanted = Buffer.from(`sha256=${digest}`);
  const isFresh = Math.abs(at / 1_000 - Number(timestamp)) < 300;
  return isFresh && given.length === wanted.length && timingSafeEqual(given, wanted);
}

test('a receiver can tell a genuine message from a changed, old or foreign one', async () => {
  const { requests } = await sendAgainst({ status: 204 });
  const [request] = requests;
  assert.ok(request !== undefined);
  const secret = webhookSecretOf(installationSecret, { username: 'Ama' });
  assert.equal(isGenuine(request, secret, now), true);
  assert.equal(
    isGenuine({ ...request, body: request.body.replace('12', '99') }, secret, now),
    false,
  );
  assert.equal(isGenuine(request, secret, now + 600_000), false);
  assert.equal(
    isGenuine(request, webhookSecretOf(installationSecret, { username: 'eve' }), now),
    false,
  );
  assert.equal(
    isGenuine(request, webhookSecretOf('cd'.repeat(32), { username: 'ama' }), now),
    false,
  );
  assert.equal(request.headers['kipimo-delivery'], 'd-1');
});

test('the secret of an account older than stored secrets is what it always was', () => {
  const wanted = '5433cf8ed31e78858685b6d5172ab67f2ae5c3871a4aea2789240c0766dbb6f2';
  assert.equal(webhookSecretOf(installationSecret, { username: 'Ama' }), wanted);
  const stored = { username: 'Ama', webhookSecret: 'stored' };
  assert.equal(webhookSecretOf(installationSecret, stored), 'stored');
});

test('a message is signed with the secret that is stored with the account', async () => {
  await using stub = await startHttpStub({
    behaviour: 'accepts',
    answer: () => ({ status: 204 }),
  });
  const channel = allowing();
  const webhook = `${stub.url}/hook`;
  const to = { username: parseUsername('ama'), webhook, webhookSecret: 'ef'.repeat(32) };
  await channel.send(aMessage({ to }), signal);
  channel.close();
  const [request] = stub.requests;
  assert.ok(request !== undefined);
  assert.equal(isGenuine(request, to.webhookSecret, now), true);
  const derived = webhookSecretOf(installationSecret, { username: 'ama' });
  assert.equal(isGenuine(request, derived, now), false);
});

test('a redirect is not followed', async () => {
  await using other = await startHttpStub({
    behaviour: 'accepts',
    answer: () => ({ status: 204 }),
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const { outcome } = await sendAgainst({ status, headers: { location: `${other.url}/x` } });
    assert.equal(outcome.kind, 'refused');
    assert.match(outcome.kind === 'refused' ? outcome.reason : '', /redirect/);
  }
  assert.equal(other.requests.length, 0);
});

for (const [status, kind] of [
  [200, 'sent'],
  [299, 'sent'],
  [400, 'refused'],
  [401, 'refused'],
  [408, 'retry'],
  [410, 'refused'],
  [429, 'retry'],
  [500, 'retry'],
] as const) {
  test(`a receiver's ${status} leads to: ${kind}`, async () => {
    const { outcome } = await sendAgainst({ status, json: { secret: 'inside' } });
    assert.equal(outcome.kind, kind);
    assert.doesNotMatch(JSON.stringify(outcome), /inside/);
  });
}

const strict = (resolve: Resolve) =>
  createWebhookChannel({
    installationSecret,
    privateAddresses: 'refused',
    now: () => now,
    resolve,
  });

const hookAt = (webhook: string) => aMessage({ to: { username: parseUsername('ama'), webhook } });

for (const webhook of [
  'http://example.org/hook',
  'ftp://example.org/hook',
  'file:///etc/passwd',
  'https://user:pass@example.org/',
  'no url',
  `https://example.org/${'a'.repeat(3_000)}`,
]) {
  test(`the webhook ${webhook.slice(0, 32)} is refused before a name is resolved`, async () => {
    let asked = 0;
    const channel = strict((_hostname, done) => {
      asked += 1;
      done(null, [{ address: '93.184.216.34', family: 4 }]);
    });
    assert.equal((await channel.send(hookAt(webhook), signal)).kind, 'refused');
    assert.equal(asked, 0);
  });
}

for (const addresses of [
  ['10.0.0.5'],
  ['93.184.216.34', '127.0.0.1'],
  ['::1'],
  ['::ffff:7f00:1'],
]) {
  test(`a name that leads to ${addresses.join(' and ')} is refused`, async () => {
    const channel = strict((_hostname, done) => {
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    });
    const outcome = await channel.send(hookAt('https://hook.example.org/'), signal);
    assert.equal(outcome.kind, 'refused');
    assert.match(outcome.kind === 'refused' ? outcome.reason : '', /private/);
  });
}

test('a name that nobody knows is tried again later', async () => {
  const channel = strict((_hostname, done) => {
    done(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []);
  });
  assert.equal((await channel.send(hookAt('https://hook.example.org/'), signal)).kind, 'retry');
});

test('a name is resolved once, and the judged address is connected to', async () => {
  const asked: string[] = [];
  // Allowed when it is judged, forbidden ever after: what a rebinding attack answers.
  const rebinding: Resolve = (hostname, done) => {
    asked.push(hostname);
    done(null, [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
  };
  await using stub = await startHttpStub({
    behaviour: 'accepts',
    answer: () => ({ status: 204 }),
  });
  const { port } = new URL(stub.url);
  const lookup = createPinnedLookup(rebinding, (address) => address === '127.0.0.1');
  const http = createHttpClient({ lookup });
  const post = () => {
    const url = new URL(`http://hook.example.org:${port}/`);
    return http.call({ method: 'POST', url, headers: {}, body: '{}', signal });
  };
  const [first, second] = [await post(), await post()];
  http.close();
  assert.equal(first.kind, 'answer');
  assert.deepEqual(second, { kind: 'unreachable', code: 'FORBIDDEN_ADDRESS' });
  // One question per connection, one connection for the one that was allowed.
  assert.deepEqual(asked, ['hook.example.org', 'hook.example.org']);
  assert.equal(stub.requests.length, 1);
});

test('asked anew, a name that turned private is refused', async () => {
  let times = 0;
  const lookup = createPinnedLookup((_hostname, done) => {
    times += 1;
    done(null, [{ address: times === 1 ? '192.0.9.9' : '127.0.0.1', family: 4 }]);
  });
  const ask = () =>
    new Promise<{ error: Error | null; address: unknown }>((resolve) => {
      lookup('hook.example.org', {}, (error, address) => resolve({ error, address }));
    });
  assert.equal((await ask()).address, '192.0.9.9');
  assert.equal((await ask()).error?.message, 'the name leads to a private address');
});
