import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { type PlainReply, plainRequest } from './plain-http.ts';

const clock = createManualClock(Date.parse('2026-03-04T05:06:07Z'));
let service: Service;

before(async () => {
  service = await startService({ clock });
  await service.tokenOf('ama');
});

after(() => service[Symbol.asyncDispose]());

/** A script on a LoRa gateway, in the words and with the habits of version 1. */
interface Script {
  logIn(): Promise<void>;
  send(method: string, path: string, json?: unknown): Promise<PlainReply>;
  /** Pushes a packet that came by radio; creates what is missing first. Throws unless 200. */
  upload(packet: Packet): Promise<void>;
}

interface Packet {
  readonly node: string;
  readonly measurement: string;
  readonly value: unknown;
  readonly timestamp: string;
}

function createScript(root: string): Script {
  let token = '';
  const send: Script['send'] = (method, path, json) =>
    plainRequest({
      url: `${service.url}${root}${path}`,
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'python-requests/2.9.1',
        ...(token !== '' && { Authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });

  async function must(method: string, path: string, json?: unknown): Promise<void> {
    const reply = await send(method, path, json);
    // These scripts know no other success.
    if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
  }

  return {
    send,
    async logIn() {
      const credentials = { username: 'ama', password: passwordOf('ama') };
      const reply = await send('POST', '/auth/token', credentials);
      assert.equal(reply.status, 200, reply.text);
      token = reply.text;
    },
    async upload({ node, measurement, value, timestamp }) {
      const sensor = `/sensors/${node}`;
      if ((await send('GET', sensor)).status === 404) {
        const location = { latitude: 5.35, longitude: -0.62 };
        const fields = { name: node, gateway_id: 'lora1', domain: 'farm', location };
        await must('POST', '/sensors', { id: node, ...fields, visibility: 'private' });
      }
      const path = `${sensor}/measurements/${measurement}`;
      if ((await send('GET', path)).status === 404) {
        const unit = 'DegreeCelsius';
        await must('POST', `${sensor}/measurements`, { id: measurement, unit });
      }
      await must('POST', `${path}/values`, { value, timestamp });
    },
  };
}

const roots = ['/api/v1', '/api/v1/domains/waziup', '/API/V1/Domains/UPPA-TEST'];

for (const [index, root] of roots.entries()) {
  test(`a LoRa gateway below ${root} uploads what its nodes send`, async () => {
    const node = `node${index}`;
    const script = createScript(root);
    await script.logIn();
    const packets = [
      { measurement: 'TC', value: 21.5, timestamp: '2016-06-08T18:20:27.873' },
      { measurement: 'TC', value: '22.5', timestamp: '2016-06-08T18:30:27.873901' },
      { measurement: 'HUM', value: 60, timestamp: '2016-06-08T18:20:27' },
    ];
    for (const packet of packets) await script.upload({ node, ...packet });
    const { text } = await script.send('GET', `/sensors/${node}`);
    const sensor = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual(
      ['owner', 'domain', 'gateway_id', 'visibility'].map((key) => sensor[key]),
      ['ama', 'farm', 'lora1', 'private'],
    );
    const values = await script.send('GET', `/sensors/${node}/measurements/TC/values`);
    assert.deepEqual(
      (JSON.parse(values.text) as Record<string, unknown>[]).map((item) => [
        item['value'],
        item['timestamp'],
      ]),
      [
        [21.5, '2016-06-08T18:20:27.873Z'],
        ['22.5', '2016-06-08T18:30:27.873Z'],
      ],
      'a timestamp without a zone is UTC',
    );
  });
}

test('the token is the whole body, whatever the script asked for', async () => {
  for (const accept of ['application/json', '*/*', 'text/plain']) {
    const reply = await plainRequest({
      url: `${service.url}/api/v1/auth/token`,
      method: 'POST',
      headers: { accept, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ama', password: passwordOf('ama') }),
    });
    assert.equal(reply.status, 200);
    assert.doesNotMatch(reply.text, /["\s{}]/);
  }
});

test('a token is good for 60 s, and the script that then logs in goes on', async () => {
  const script = createScript('/api/v1');
  await script.logIn();
  const packet = { node: 'late', measurement: 'TC', timestamp: '2026-03-04T05:00:00' };
  await script.upload({ ...packet, value: 1 });
  clock.advance(59_000);
  await script.upload({ ...packet, value: 2 });
  clock.advance(1_000);
  await assert.rejects(() => script.upload({ ...packet, value: 3 }), /401 /);
  await script.logIn();
  await script.upload({ ...packet, value: 3 });
  const { text } = await script.send('GET', '/sensors/late/measurements/TC/values');
  assert.deepEqual(
    (JSON.parse(text) as { value: unknown }[]).map(({ value }) => value),
    [1, 2, 3],
  );
});

test('a script that never logs in owns nothing and uploads all the same', async () => {
  const guest = createScript('/api/v1');
  const reply = await guest.send('POST', '/sensors', {
    id: 'open',
    measurements: [{ id: 'TC' }],
  });
  assert.deepEqual([reply.status, reply.text], [200, '']);
  await guest.upload({
    node: 'open',
    measurement: 'TC',
    value: 3,
    timestamp: '2016-06-08T18:20:27',
  });
  const { text } = await guest.send('GET', '/sensors/open');
  const { owner } = JSON.parse(text) as { owner: string };
  assert.equal(owner, 'guest');
});
