import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHttpStub } from '../contract/channels/http-stub.ts';
import { type Service, startService } from '../service.ts';

const answer = () => ({
  status: 200,
  json: { entries: [{ status: 'Queued' }], errorMessage: 'None' },
});

const account = 'africastalking://farm:key@voice.africastalking.com?from=%2B254711000000';

const startWith = (stubUrl: string) =>
  startService({ environment: { KIPIMO_VOICE_URL: `${account}&base=${stubUrl}` } });

const ask = (service: Service, form: Readonly<Record<string, string>>) =>
  service.call({
    method: 'POST',
    path: '//callbacks/africastalking/voice',
    body: new URLSearchParams(form).toString(),
    type: 'application/x-www-form-urlencoded',
  });

test('a call that is not ours is hung up, whatever it says', async () => {
  await using stub = await startHttpStub({ behaviour: 'accepts', answer });
  await using service = await startWith(stub.url);
  for (const form of [{}, { clientRequestId: 'x' }, { isActive: '1', clientRequestId: '' }]) {
    const reply = await ask(service, form);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'application/xml');
    assert.equal(reply.text, '<Response><Reject/></Response>');
  }
  const wrong = await service.call({ path: '//callbacks/africastalking/voice' });
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST']);
  const end = await ask(service, { isActive: '0', clientRequestId: 'x' });
  assert.deepEqual([end.status, end.text], [200, '']);
});

test('without a provider that asks there is no such path', async () => {
  await using service = await startService();
  assert.equal((await ask(service, { clientRequestId: 'x' })).status, 404);
});
