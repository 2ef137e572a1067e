import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import { openHttpChannel } from '../../../test/contract/channels/http-channel.ts';
import { startHttpStub } from '../../../test/contract/channels/http-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { createHttpClient } from '../http-exchange.ts';
import { readSmsUrl } from '../provider-settings.ts';
import { createAfricasTalkingSms } from './http-sms.ts';

const key = 'atsk_secret';
const phone = '+254711000111';

const report = (statusCode: number, status: string) => ({
  status: 201,
  json: {
    SMSMessageData: {
      Message: 'Sent to 1/1 Total Cost: KES 0.8000',
      Recipients: [{ statusCode, number: phone, status, cost: 'KES 0.8', messageId: 'ATXid_1' }],
    },
  },
});

function channelAt(url: string, sender = '&from=KIPIMO') {
  const settings = readSmsUrl(
    `africastalking://farm:${key}@api.africastalking.com?base=${url}${sender}`,
  );
  assert.equal(settings.provider, 'africastalking');
  return createAfricasTalkingSms({ settings, http: createHttpClient(), now: () => 0 });
}

describeChannel({
  name: "sms by Africa's Talking",
  recipient: { phone },
  secrets: [key],
  pauseMs: 7_000,
  open: (behaviour) =>
    openHttpChannel({
      behaviour,
      accepts: report(101, 'Success'),
      refuses: report(403, 'InvalidPhoneNumber'),
      open: async (url) => channelAt(url),
    }),
});

async function sendAgainst(answer: { status: number; json: unknown }, sender?: string) {
  await using stub = await startHttpStub({ behaviour: 'accepts', answer: () => answer });
  const to = { username: parseUsername('ama'), phone };
  const channel = channelAt(stub.url, sender);
  const outcome = await channel.send(aMessage({ to }), new AbortController().signal);
  return { outcome, request: stub.requests[0] };
}

test("Africa's Talking is asked for a message as its documentation says", async () => {
  const { request } = await sendAgainst(report(101, 'Success'));
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/version1/messaging');
  assert.equal(request.headers['apikey'], key);
  assert.equal(request.headers['accept'], 'application/json');
  assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
    username: 'farm',
    to: phone,
    message: 'Humidity of the maize field is 12',
    from: 'KIPIMO',
  });
});

test('without a sender the account chooses its own', async () => {
  const { request } = await sendAgainst(report(100, 'Processed'), '');
  assert.equal(new URLSearchParams(request?.body).has('from'), false);
});

for (const [what, answer, kind] of [
  ['a queued message', report(102, 'Queued'), 'sent'],
  ['too little credit', report(405, 'InsufficientBalance'), 'retry'],
  ['a phone that opted out', report(406, 'UserInBlacklist'), 'refused'],
  ['a gateway fault', report(501, 'GatewayError'), 'retry'],
  ['a wrong key', { status: 401, json: {} }, 'retry'],
  [
    'an unknown sender',
    { status: 201, json: { SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } } },
    'retry',
  ],
  ['no recipients at all', { status: 201, json: { SMSMessageData: {} } }, 'retry'],
] as const) {
  test(`Africa's Talking's answer for ${what} leads to: ${kind}`, async () => {
    const { outcome } = await sendAgainst(answer);
    assert.equal(outcome.kind, kind);
  });
}
