import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import { openHttpChannel } from '../../../test/contract/channels/http-channel.ts';
import { startHttpStub } from '../../../test/contract/channels/http-stub.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { parseUsername } from '../../domain/ids.ts';
import { createHttpClient } from '../http-exchange.ts';
import { channelLimits } from '../limits.ts';
import { readVoiceUrl } from '../provider-settings.ts';
import { createAfricasTalkingVoice } from './http-voice.ts';

const key = 'atsk_secret';
const phone = '+254711000111';
const clock = createManualClock(Date.UTC(2026, 0, 1));

const entry = (status: string) => ({
  status: 200,
  json: { entries: [{ phoneNumber: phone, status, sessionId: 'ATVId_1' }], errorMessage: 'None' },
});

const shared = await temporaryStorage();

function channelAt(url: string, { callTexts } = shared) {
  const settings = readVoiceUrl(
    `africastalking://farm:${key}@voice.africastalking.com?from=%2B254711000000&base=${url}`,
  );
  assert.equal(settings.provider, 'africastalking');
  return createAfricasTalkingVoice({
    settings,
    http: createHttpClient(),
    now: () => clock.now(),
    installationSecret: 'f'.repeat(64),
    callTexts,
  });
}

describeChannel({
  name: "voice by Africa's Talking",
  recipient: { phone },
  secrets: [key],
  pauseMs: 7_000,
  open: (behaviour) =>
    openHttpChannel({
      behaviour,
      accepts: entry('Queued'),
      refuses: entry('InvalidPhoneNumber'),
      open: async (url) => channelAt(url),
    }),
});

async function call(answer: { status: number; json: unknown }, text = 'Maji ni <12>') {
  await using stub = await startHttpStub({ behaviour: 'accepts', answer: () => answer });
  const storage = await temporaryStorage();
  const channel = channelAt(stub.url, storage);
  const to = { username: parseUsername('ama'), phone };
  const outcome = await channel.send(aMessage({ to, text }), new AbortController().signal);
  return { channel, storage, outcome, request: stub.requests[0] };
}

test("Africa's Talking is asked for a call as its documentation says", async () => {
  const { request } = await call(entry('Queued'));
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/call');
  assert.equal(request.headers['apikey'], key);
  const { username, from, to } = Object.fromEntries(new URLSearchParams(request.body));
  assert.deepEqual({ username, from, to }, { username: 'farm', from: '+254711000000', to: phone });
});

test('a call whose text is not kept any more says that there is a message', async () => {
  const { request } = await call(entry('Queued'));
  const callId = new URLSearchParams(request?.body).get('clientRequestId') ?? '';
  const forgetful = channelAt('http://127.0.0.1:9', await temporaryStorage());
  assert.match(await forgetful.answerCall(callId), /<Say>You have a message of your sensors\./);
  const forged = callId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  assert.equal(await forgetful.answerCall(forged), '<Response><Reject/></Response>');
});

test('whoever picks up hears the text; any other call is hung up', async () => {
  const { channel, storage, request } = await call(entry('Queued'));
  const callId = new URLSearchParams(request?.body).get('clientRequestId') ?? '';
  const say = '<Say>Maji ni &lt;12&gt;</Say>';
  assert.equal(await channel.answerCall(callId), `<Response>${say}${say}</Response>`);
  const restarted = channelAt('http://127.0.0.1:9', storage);
  assert.equal(await restarted.answerCall(callId), `<Response>${say}${say}</Response>`);
  assert.equal(await channel.answerCall('d-1'), '<Response><Reject/></Response>');
  clock.advance(channelLimits.callMs + 1);
  assert.equal(await channel.answerCall(callId), '<Response><Reject/></Response>');
});

for (const [what, answer, kind] of [
  ['too little credit', entry('InsufficientCredit'), 'retry'],
  ['a number that cannot be called', entry('DestinationNotSupported'), 'refused'],
  [
    'a caller that is not ours',
    { status: 200, json: { entries: [], errorMessage: 'Invalid callerId: +254711000000' } },
    'retry',
  ],
  ['a wrong key', { status: 401, json: {} }, 'retry'],
] as const) {
  test(`Africa's Talking's answer to a call for ${what} leads to: ${kind}`, async () => {
    const { outcome } = await call(answer);
    assert.equal(outcome.kind, kind);
    assert.doesNotMatch(JSON.stringify(outcome), /254711000000/);
  });
}
