import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type Service, startService } from '../service.ts';
import { datapointsOf, keyOf, makeDevice, sensorsOf, writeLines } from './line-endpoint.ts';

let service: Service;
let key: string;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ama', { id: 'well', visibility: 'private' });
  key = await keyOf(service, 'ama', { devices: ['well'] });
});

after(() => service[Symbol.asyncDispose]());

/** Sends the bytes as they are, and answers all that comes back until the server hangs up. */
function exchange(request: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece) => {
      answer += piece;
    });
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}

const unit = fc.constantFrom(...'aw1=,. -"\\\n\r#%&field', '測', '\u0000');
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.string({ unit, maxLength: 300 }).map((text) => new TextEncoder().encode(text)),
);

test('whatever is written as line protocol is stored or refused', async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom('none', 'gzip', 'false gzip'), async (bytes, coding) => {
      const headers = coding === 'none' ? {} : { 'content-encoding': 'gzip' };
      const sent = coding === 'gzip' ? gzipSync(bytes) : bytes;
      const { status, text } = await writeLines(service, sent, { key, headers });
      assert.ok([204, 400, 403].includes(status), `${status} ${text}`);
    }),
    { numRuns: 150 },
  );
});

test('whatever a sketch sends is an entry or 0', async () => {
  const types = ['application/x-www-form-urlencoded', 'application/json', 'text/plain', 'a/b'];
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom(...types), async (bytes, type) => {
      const reply = await service.call({
        ...{ method: 'POST', path: `//update?api_key=${key}`, body: bytes, type },
      });
      assert.ok([200, 400, 415].includes(reply.status), `${reply.status} ${reply.text}`);
      if (reply.status !== 200) assert.equal(reply.text, '0');
    }),
    { numRuns: 150 },
  );
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 100 }), async (text) => {
      const query = text.replace(/[^\x21-\x7e]/g, '+').replaceAll('#', '%');
      const reply = await service.call({ path: `//update?api_key=${key}&${query}` });
      assert.ok([200, 400, 401].includes(reply.status), `${reply.status} ${reply.text}`);
    }),
    { numRuns: 150 },
  );
});

test('a client that reads HTTP byte by byte finds the number where it looks', async () => {
  const form = 'field1=23.50000&field2=48&headers=false';
  const answer = await exchange(
    'POST /update HTTP/1.1\r\nHost: api.thingspeak.com\r\nConnection: close\r\n' +
      `User-Agent: tslib-arduino\r\nX-THINGSPEAKAPIKEY: ${key}\r\n` +
      'Content-Type: application/x-www-form-urlencoded\r\n' +
      `Content-Length: ${form.length}\r\n\r\n${form}`,
  );
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /\r\n\r\n[1-9]\d+$/);
  assert.deepEqual(await datapointsOf(service, 'well', 'field1'), [[23.5, undefined]]);
});

test('a key that is wrong is refused before a large body is read', async () => {
  const reply = await writeLines(service, 'well v=1\n'.repeat(500_000), { key: 'kpk_wrong' });
  assert.equal(reply.status, 401);
  assert.equal((reply.json as { code: string }).code, 'unauthorized');
});

test('a line without an end is refused, and those before it are stored', async () => {
  const reply = await writeLines(service, `well before=1 1\nwell v="${'x'.repeat(2_000_000)}`, {
    key,
  });
  assert.equal(reply.status, 400);
  assert.match((reply.json as { message: string }).message, /line 2: .* stored=1 dropped=1$/);
  assert.deepEqual((await datapointsOf(service, 'well', 'before')).length, 1);
});

test('a connection that ends within its body leaves no half of a line behind', async () => {
  const head = `POST /api/v2/write HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${key}\r\n`;
  const { hostname, port } = new URL(service.url);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.end(`${head}Content-Length: 5000\r\n\r\nwell cut=1 1\nwell cu`);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.resume();
  });
  assert.equal((await service.call({ path: '//healthz' })).status, 200);
  assert.equal((await sensorsOf(service, 'well'))?.includes('cu'), false);
});
