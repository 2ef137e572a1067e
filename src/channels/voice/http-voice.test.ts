import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import { openHttpChannel } from '../../../test/contract/channels/http-channel.ts';
import { startHttpStub } from '../../../test/contract/channels/http-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { createHttpClient } from '../http-exchange.ts';
import { readVoiceUrl } from '../provider-settings.ts';
import { createTwilioVoice } from './http-voice.ts';

const sid = 'AC0123456789abcdef0123456789abcdef';
const token = 'secret-auth-token';
const phone = '+255712345678';
const accepted = { status: 201, json: { sid: 'CA1', status: 'queued' } };

function channelAt(url: string) {
  const settings = readVoiceUrl(
    `twilio://${sid}:${token}@api.twilio.com?from=%2B15550100&language=sw-KE&base=${url}`,
  );
  assert.equal(settings.provider, 'twilio');
  return createTwilioVoice({ settings, http: createHttpClient(), now: () => 0 });
}

describeChannel({
  name: 'voice by Twilio',
  recipient: { phone },
  secrets: [token, sid],
  pauseMs: 7_000,
  open: (behaviour) =>
    openHttpChannel({
      behaviour,
      accepts: accepted,
      refuses: { status: 400, json: { code: 21217, message: `${phone} is not valid` } },
      open: async (url) => channelAt(url),
    }),
});

async function twimlFor(text: string): Promise<string> {
  await using stub = await startHttpStub({ behaviour: 'accepts', answer: () => accepted });
  const to = { username: parseUsername('ama'), phone };
  await channelAt(stub.url).send(aMessage({ to, text }), new AbortController().signal);
  const [request] = stub.requests;
  assert.equal(request?.path, `/2010-04-01/Accounts/${sid}/Calls.json`);
  const { To, From, Twiml } = Object.fromEntries(new URLSearchParams(request.body));
  assert.deepEqual({ To, From }, { To: phone, From: '+15550100' });
  return Twiml ?? '';
}

test('the call says the text twice, in the language that is set', async () => {
  assert.equal(
    await twimlFor('Maji ni 12'),
    '<Response><Say loop="2" language="sw-KE">Maji ni 12</Say></Response>',
  );
});

test('a text cannot give the call instructions of its own', async () => {
  const twiml = await twimlFor('</Say><Dial>+19005550100</Dial> & "x"');
  assert.equal(twiml.match(/<[A-Za-z]/g)?.length, 2);
  assert.match(twiml, /&lt;Dial&gt;\+19005550100&lt;\/Dial&gt; &amp; &quot;x&quot;/);
});

test('a text of any length fits what Twilio takes, and ends whole', async () => {
  const twiml = await twimlFor('<&"'.repeat(3_000));
  assert.ok(twiml.length <= 4_000);
  assert.match(twiml, /(&lt;|&amp;|&quot;)<\/Say><\/Response>$/);
});
