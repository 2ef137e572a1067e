import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import { openHttpChannel } from '../../../test/contract/channels/http-channel.ts';
import { startHttpStub } from '../../../test/contract/channels/http-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { createHttpClient } from '../http-exchange.ts';
import { readTwilio } from '../provider-settings.ts';
import { createTwilioSms } from './http-sms.ts';

const sid = 'AC0123456789abcdef0123456789abcdef';
const token = 'secret-auth-token';
const phone = '+255712345678';
const accepted = { status: 201, json: { sid: 'SM1', status: 'queued' } };

function channelAt(url: string, from = '%2B15550100') {
  const settings = readTwilio(`twilio://${sid}:${token}@api.twilio.com?from=${from}&base=${url}`);
  return createTwilioSms({ settings, http: createHttpClient(), now: () => 0 });
}

describeChannel({
  name: 'sms by Twilio',
  recipient: { phone },
  secrets: [token, sid],
  pauseMs: 7_000,
  open: (behaviour) =>
    openHttpChannel({
      behaviour,
      accepts: accepted,
      refuses: {
        status: 400,
        json: { code: 21211, message: `The 'To' number ${phone} is not valid`, status: 400 },
      },
      open: async (url) => channelAt(url),
    }),
});

async function sendAgainst(answer: { status: number; json: unknown }, from?: string) {
  await using stub = await startHttpStub({ behaviour: 'accepts', answer: () => answer });
  const to = { username: parseUsername('ama'), phone };
  const channel = channelAt(stub.url, from);
  const outcome = await channel.send(aMessage({ to }), new AbortController().signal);
  return { outcome, request: stub.requests[0] };
}

test('Twilio is asked for a message as its documentation says', async () => {
  const { request } = await sendAgainst(accepted);
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, `/2010-04-01/Accounts/${sid}/Messages.json`);
  const basic = Buffer.from(`${sid}:${token}`).toString('base64');
  assert.equal(request.headers.authorization, `Basic ${basic}`);
  assert.equal(request.headers['content-type'], 'application/x-www-form-urlencoded');
  assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
    To: phone,
    From: '+15550100',
    Body: 'Humidity of the maize field is 12',
  });
});

test('a messaging service sends in place of a number', async () => {
  const service = `MG${'0123456789abcdef'.repeat(2)}`;
  const { request } = await sendAgainst(accepted, service);
  const form = new URLSearchParams(request?.body);
  assert.equal(form.get('MessagingServiceSid'), service);
  assert.equal(form.has('From'), false);
});

for (const [what, answer, kind] of [
  ['a wrong key', { status: 401, json: { code: 20003, message: 'Authenticate' } }, 'retry'],
  ['an unknown account', { status: 404, json: { code: 20404 } }, 'retry'],
  ['an unsubscribed phone', { status: 400, json: { code: 21610, message: 'x' } }, 'refused'],
  ['a region not allowed yet', { status: 400, json: { code: 21408, message: 'x' } }, 'retry'],
  ['a refusal without a code', { status: 400, json: {} }, 'retry'],
  ['a message that failed at once', { status: 201, json: { sid: 'x', status: 'failed' } }, 'retry'],
  ['a redirect', { status: 302, json: {} }, 'retry'],
] as const) {
  test(`Twilio's answer for ${what} leads to: ${kind}`, async () => {
    const { outcome } = await sendAgainst(answer);
    assert.equal(outcome.kind, kind);
  });
}
