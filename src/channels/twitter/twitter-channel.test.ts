import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import {
  type Behaviour,
  type ReceivedRequest,
  type StubAnswer,
  startHttpStub,
} from '../../../test/contract/channels/http-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { createHttpClient } from '../http-exchange.ts';
import { readTwitterUrl } from '../provider-settings.ts';
import { createTwitterChannel } from './twitter-channel.ts';

const handle = 'amamensah';
const secrets = ['app-key-1', 'app-secret-1', 'token-1', 'token-secret-1'];
const [appKey, appSecret, token, tokenSecret] = secrets;

function channelAt(url: string) {
  const tokens = `access_token=${token}&access_secret=${tokenSecret}`;
  const settings = readTwitterUrl(`x://${appKey}:${appSecret}@api.x.com?${tokens}&base=${url}`);
  return createTwitterChannel({ settings, http: createHttpClient(), now: () => 0 });
}

const accepted = { dm_conversation_id: '1-2', dm_event_id: '128341038123' };

/** Knows one account, and takes messages to it. */
function answerOf(request: ReceivedRequest, behaviour: 'accepts' | 'refuses'): StubAnswer {
  if (request.path.startsWith('/2/users/by/username/')) {
    return request.path.includes(handle)
      ? { status: 200, json: { data: { id: '2244994945', name: 'Ama', username: handle } } }
      : { status: 200, json: { errors: [{ title: 'Not Found Error', detail: 'none' }] } };
  }
  return behaviour === 'accepts'
    ? { status: 201, json: { data: accepted } }
    : { status: 403, json: { title: 'Forbidden', detail: `@${handle} takes no messages` } };
}

const startStub = (behaviour: Behaviour) => startHttpStub({ behaviour, answer: answerOf });

describeChannel({
  name: 'twitter',
  recipient: { twitter: handle },
  secrets,
  async open(behaviour) {
    const stub = await startStub(behaviour === 'is-absent' ? 'accepts' : behaviour);
    if (behaviour === 'is-absent') await stub[Symbol.asyncDispose]();
    const messages = () => stub.requests.filter(({ method }) => method === 'POST');
    return {
      channel: channelAt(stub.url),
      received: () => messages().length,
      nextReceived: () => stub.nextRequest(),
      bytesTaken: () => stub.bytesTaken(),
      async [Symbol.asyncDispose]() {
        if (behaviour !== 'is-absent') await stub[Symbol.asyncDispose]();
      },
    };
  },
});

const to = { username: parseUsername('ama'), twitter: `@${handle}` };
const { signal } = new AbortController();

test('X is asked for a direct message as its documentation says', async () => {
  await using stub = await startStub('accepts');
  const channel = channelAt(stub.url);
  await channel.send(aMessage({ to }), signal);
  const [lookUp, message] = stub.requests;
  assert.equal(lookUp?.method, 'GET');
  assert.equal(lookUp.path, `/2/users/by/username/${handle}`);
  assert.equal(message?.method, 'POST');
  assert.equal(message.path, '/2/dm_conversations/with/2244994945/messages');
  assert.deepEqual(JSON.parse(message.body), { text: 'Humidity of the maize field is 12' });
  for (const { headers } of stub.requests) {
    assert.match(headers.authorization ?? '', /^OAuth .*oauth_consumer_key="app-key-1"/);
    assert.match(headers.authorization ?? '', /oauth_token="token-1"/);
    assert.match(headers.authorization ?? '', /oauth_signature_method="HMAC-SHA1"/);
    assert.match(headers.authorization ?? '', /oauth_signature="[^"]{20,}"/);
  }
});

test('the id of an account is asked for once', async () => {
  await using stub = await startStub('accepts');
  const channel = channelAt(stub.url);
  await channel.send(aMessage({ to }), signal);
  await channel.send(aMessage({ to, deliveryId: 'd-2' }), signal);
  assert.equal(stub.requests.filter(({ method }) => method === 'GET').length, 1);
});

test('an account that X does not know is refused, with what to do', async () => {
  await using stub = await startStub('accepts');
  const channel = channelAt(stub.url);
  const nobody = { username: parseUsername('ama'), twitter: 'nobody' };
  const outcome = await channel.send(aMessage({ to: nobody }), signal);
  assert.equal(outcome.kind, 'refused');
  const path = { username: parseUsername('ama'), twitter: '../../2/tweets' };
  assert.equal((await channel.send(aMessage({ to: path }), signal)).kind, 'refused');
});

test('throttled by X, the message waits until its window begins anew', async () => {
  await using stub = await startHttpStub({
    behaviour: 'accepts',
    answer: () => ({
      status: 429,
      headers: { 'x-rate-limit-limit': '15', 'x-rate-limit-reset': '900' },
      json: { title: 'Too Many Requests' },
    }),
  });
  const channel = channelAt(stub.url);
  const outcome = await channel.send(aMessage({ to }), signal);
  assert.deepEqual(outcome, { kind: 'retry', reason: 'X asks to slow down', afterMs: 900_000 });
});

test('keys that X does not accept are for the administrator to mend', async () => {
  await using stub = await startHttpStub({
    behaviour: 'accepts',
    answer: () => ({ status: 401, json: { title: 'Unauthorized' } }),
  });
  const channel = channelAt(stub.url);
  const outcome = await channel.send(aMessage({ to }), signal);
  assert.equal(outcome.kind, 'retry');
});

for (const json of [{ errors: [null] }, { errors: [{ code: 1 }, null] }, { data: null }, [], 7]) {
  test(`the odd answer ${JSON.stringify(json)} harms nobody`, async () => {
    for (const status of [200, 400]) {
      await using stub = await startHttpStub({
        behaviour: 'accepts',
        answer: () => ({ status, json }),
      });
      const outcome = await channelAt(stub.url).send(aMessage({ to }), signal);
      assert.ok(outcome.kind !== 'sent');
    }
  });
}
