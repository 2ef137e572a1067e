import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import {
  type ReceivedRequest,
  type StubAnswer,
  startHttpStub,
} from '../contract/channels/http-stub.ts';
import { startSmppStub } from '../contract/channels/smpp-stub.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';

/** One delivery as GET …/deliveries tells it. */
interface DeliveryMessage {
  readonly username: string;
  readonly channel: string;
  readonly message: string;
  readonly status: 'pending' | 'sent' | 'failed';
  readonly attempts: number;
  readonly reason?: string;
  readonly next_attempt?: string;
}

const profile = {
  phone: ['+255712345678'],
  email: 'ama@example.org',
  twitter: ['amamensah'],
};

/** A stub that answers by the path of the request, as each provider documents. */
const startProviders = (answers: Readonly<Record<string, StubAnswer>>) =>
  startHttpStub({
    behaviour: 'accepts',
    answer: ({ path }) =>
      Object.entries(answers).find(([start]) => path.startsWith(start))?.[1] ?? { status: 404 },
  });

const accepting: Readonly<Record<string, StubAnswer>> = {
  '/call': { status: 200, json: { entries: [{ status: 'Queued' }], errorMessage: 'None' } },
  '/2/users/by/username/': { status: 200, json: { data: { id: '2244994945' } } },
  '/2/dm_conversations/': { status: 201, json: { data: { dm_event_id: '1' } } },
  '/hook': { status: 204 },
};

async function startMailServer() {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    hideSTARTTLS: true,
    onData(stream, _session, done) {
      void readText(stream).then((mail) => {
        mails.push(mail);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

async function prepare(service: Service, webhook: string): Promise<void> {
  const as = await service.as('ama');
  const answers = [
    await as({ method: 'PUT', path: '/users/me', json: { ...profile, webhook: [webhook] } }),
    await as({
      method: 'POST',
      path: '/devices',
      json: { id: 'field-1', visibility: 'private', sensors: [{ id: 'SM1' }] },
    }),
  ];
  for (const { status, text } of answers) assert.equal(status, 204, text);
}

async function notify(service: Service, channels: readonly string[]): Promise<string> {
  const reply = await service.as('ama')({
    method: 'POST',
    path: '/notifications',
    json: {
      description: 'dry field',
      condition: { devices: ['field-1'], sensors: ['SM1'], expression: 'SM1 < 30' },
      action: { usernames: ['ama'], channels, message: 'Water \u0024{id}: {id} is {SM1}' },
    },
  });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

async function push(service: Service, value: number): Promise<void> {
  const path = '/devices/field-1/sensors/SM1/value';
  const reply = await service.as('ama')({ method: 'POST', path, json: { value } });
  assert.equal(reply.status, 204, reply.text);
}

const looksMax = 2_000;

/** Looks at the deliveries until they are as wanted; the last look is answered. */
async function deliveriesOnce(
  service: Service,
  id: string,
  isWanted: (deliveries: readonly DeliveryMessage[]) => boolean,
): Promise<readonly DeliveryMessage[]> {
  for (let look = 0; look < looksMax; look += 1) {
    const reply = await service.as('ama')({ path: `/notifications/${id}/deliveries` });
    assert.equal(reply.status, 200, reply.text);
    const deliveries = reply.json as readonly DeliveryMessage[];
    if (isWanted(deliveries)) return deliveries;
  }
  throw new Error('the deliveries did not become as wanted');
}

const areSettled = (deliveries: readonly DeliveryMessage[]): boolean =>
  deliveries.length > 0 && deliveries.every(({ status }) => status !== 'pending');

test('one dry reading reaches a person by every channel, and the deliveries tell it', async () => {
  await using providers = await startProviders(accepting);
  await using smsc = await startSmppStub({});
  await using mail = await startMailServer();
  const at = 'africastalking://farm:key@voice.africastalking.com?from=%2B254711000000';
  const x = 'x://a:b@api.x.com?access_token=c&access_secret=d';
  await using service = await startService({
    environment: {
      KIPIMO_SMS_URL: `smpp://kipimo:pw@127.0.0.1:${smsc.port}?from=KIPIMO`,
      KIPIMO_VOICE_URL: `${at}&base=${providers.url}`,
      KIPIMO_TWITTER_URL: `${x}&base=${providers.url}`,
      KIPIMO_SMTP_URL: `smtp://127.0.0.1:${mail.port}?from=farm@example.org`,
      KIPIMO_WEBHOOK_PRIVATE: 'allowed',
    },
  });
  await prepare(service, `${providers.url}/hook`);
  const id = await notify(service, ['sms', 'voice', 'twitter', 'email', 'webhook']);
  await push(service, 31);
  await push(service, 12);
  const deliveries = await deliveriesOnce(service, id, areSettled);

  const text = 'Water field-1: SM1 is 12';
  assert.deepEqual(
    deliveries.map(({ channel, status, attempts }) => [channel, status, attempts]).sort(),
    ['email', 'sms', 'twitter', 'voice', 'webhook'].map((channel) => [channel, 'sent', 1]),
  );
  assert.ok(deliveries.every(({ message, username }) => message === text && username === 'ama'));
  assert.equal(smsc.submits.length, 1);
  assert.equal(smsc.submits[0]?.['destination_addr'], '255712345678');
  assert.equal(mail.mails.length, 1);
  assert.match(mail.mails[0] ?? '', /^Subject: Water field-1: SM1 is 12\r$/m);
  const requestTo = (start: string): readonly ReceivedRequest[] =>
    providers.requests.filter(({ path }) => path.startsWith(start));
  assert.deepEqual(JSON.parse(requestTo('/2/dm_conversations/')[0]?.body ?? ''), { text });
  const hooked = JSON.parse(requestTo('/hook')[0]?.body ?? '') as Record<string, unknown>;
  assert.deepEqual(
    [hooked['message'], hooked['username'], hooked['notification']],
    [text, 'ama', id],
  );

  const [call] = requestTo('/call');
  const callId = new URLSearchParams(call?.body).get('clientRequestId') ?? '';
  const spoken = await service.call({
    method: 'POST',
    path: '//callbacks/africastalking/voice',
    body: new URLSearchParams({ isActive: '1', clientRequestId: callId }).toString(),
    type: 'application/x-www-form-urlencoded',
  });
  assert.equal(spoken.text, `<Response><Say>${text}</Say><Say>${text}</Say></Response>`);
});

test('a message waits for a provider that is out of order, and tells why', async () => {
  let status = 503;
  await using receiver = await startHttpStub({
    behaviour: 'accepts',
    answer: () => ({ status, headers: { 'retry-after': '30' } }),
  });
  const clock = createManualClock(Date.UTC(2026, 5, 1, 12));
  await using service = await startService({
    clock,
    environment: { KIPIMO_WEBHOOK_PRIVATE: 'allowed' },
  });
  await prepare(service, `${receiver.url}/hook`);
  const id = await notify(service, ['webhook', 'sms']);
  await push(service, 12);
  const isTried = (deliveries: readonly DeliveryMessage[]) =>
    deliveries.some(({ channel, reason }) => channel === 'webhook' && reason !== undefined) &&
    deliveries.some(({ channel, status: state }) => channel === 'sms' && state === 'failed');
  const [waiting, failed] = [...(await deliveriesOnce(service, id, isTried))].sort((one, two) =>
    two.channel.localeCompare(one.channel),
  );
  assert.equal(waiting?.status, 'pending');
  assert.equal(waiting.reason, 'the webhook answers 503');
  assert.ok(Date.parse(waiting.next_attempt ?? '') >= clock.now() + 30_000);
  assert.match(failed?.reason ?? '', /KIPIMO_SMS_URL/);

  status = 204;
  clock.advance(60_000);
  // The next firing wakes the outbox, which finds what is due by the moved clock.
  await push(service, 11);
  const isOver = (deliveries: readonly DeliveryMessage[]) =>
    deliveries.length === 4 && areSettled(deliveries);
  const deliveries = await deliveriesOnce(service, id, isOver);
  const hooks = deliveries.filter(({ channel }) => channel === 'webhook');
  assert.deepEqual(hooks.map(({ status: state, attempts }) => `${state} ${attempts}`).sort(), [
    'sent 1',
    'sent 2',
  ]);
  const ids = receiver.requests.map(({ headers }) => headers['kipimo-delivery']);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 2], 'the repeated one bears its id again');
});
