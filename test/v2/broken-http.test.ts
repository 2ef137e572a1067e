import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
  const json = { id: 'D', sensors: [{ id: 'TC1' }] };
  assertDone(await service.call({ method: 'POST', path: '/devices', json }));
});

after(async () => {
  await service[Symbol.asyncDispose]();
});

/** Sends the bytes on a connection of their own; all that came back when it closed. */
function talk(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A reset counts as closed: what came before is looked at all the same.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  for (const part of parts) socket.write(part);
  return promise;
}

const statusesOf = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/** The service is whole: it answers, and nobody's device was made or changed on the way. */
async function assertWhole(): Promise<void> {
  const { status, json } = await service.call({ path: '/devices' });
  assert.equal(status, 200);
  assert.deepEqual(
    (json as { id: string }[]).map(({ id }) => id),
    ['D'],
  );
}

const close = 'Host: x\r\nConnection: close\r\n';
const post = (headers: string, body: string, path = '/api/v2/devices') =>
  `POST ${path} HTTP/1.1\r\n${close}Content-Type: application/json\r\n${headers}\r\n${body}`;

const garbage: Readonly<Record<string, string | Uint8Array>> = {
  'no HTTP at all': 'hello\r\n\r\n',
  'a TLS greeting': new Uint8Array([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0, 0, 0, 0, 0]),
  'an SSH greeting': 'SSH-2.0-OpenSSH_9.9\r\n',
  'bytes of all kinds': new Uint8Array(256).map((_, index) => 255 - index),
  'an unknown method': `FOO /api/v2/devices HTTP/1.1\r\n${close}\r\n`,
  'a space in the path': `GET /api/v2/de vices HTTP/1.1\r\n${close}\r\n`,
  'no path': `GET HTTP/1.1\r\n${close}\r\n`,
  'another version': `GET / HTTP/9.9\r\n${close}\r\n`,
  'a header without a name': `GET / HTTP/1.1\r\n${close}: x\r\n\r\n`,
  'a NUL in a header': `GET / HTTP/1.1\r\n${close}X: a\0b\r\n\r\n`,
  'a line feed in a header': `GET / HTTP/1.1\r\n${close}X\n: y\r\n\r\n`,
  'huge headers': `GET / HTTP/1.1\r\n${close}X: ${'x'.repeat(100_000)}\r\n\r\n`,
  'a huge path': `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n${close}\r\n`,
  'many headers': `GET / HTTP/1.1\r\n${close}${'X: y\r\n'.repeat(20_000)}\r\n`,
  'a length that is no number': post('Content-Length: many\r\n', '{"id":"a"}'),
  'a negative length': post('Content-Length: -5\r\n', '{"id":"a"}'),
  'two lengths': post('Content-Length: 10\r\nContent-Length: 11\r\n', '{"id":"a"} '),
  'length and chunks': post(
    'Content-Length: 10\r\nTransfer-Encoding: chunked\r\n',
    'a\r\n{"id":"a"}\r\n0\r\n\r\n',
  ),
  'a chunk size that is no number': post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'),
  'chunks without an end mark': post('Transfer-Encoding: chunked\r\n', '2\r\n{}xx0\r\n\r\n'),
  'an unknown transfer encoding': post('Transfer-Encoding: cobbled\r\n', '{"id":"a"}'),
};

test('what is not HTTP is answered 400 in our form, and the connection is closed', async () => {
  for (const [what, bytes] of Object.entries(garbage)) {
    const answer = await talk(bytes);
    assert.match(answer, /^HTTP\/1\.1 400 /, `${what}: ${answer.slice(0, 200)}`);
    const [, body = ''] = answer.split('\r\n\r\n', 2);
    const { error, description } = JSON.parse(body) as Record<string, unknown>;
    assert.equal(error, 'invalid', what);
    assert.match(String(description), /\w \w/, what);
  }
  await assertWhole();
});

test('requests sent in one go are answered in order, until one is garbage', async () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const one = '/api/v2/devices/D';
  const answer = await talk(get(one), get('/api/v2/devices/none'), get(one), 'garbage\r\n\r\n');
  assert.deepEqual(statusesOf(answer), [200, 404, 200, 400]);
  // What follows a request that was refused whole must not be read as the next one.
  const smuggled = await talk(post('Content-Length: 4\r\n', `{}  ${get(one)}`));
  assert.deepEqual(statusesOf(smuggled), [400]);
  await assertWhole();
});

test('what follows a request that is the last one on its connection is not answered', async () => {
  const get = 'GET /api/v2/devices/D HTTP/1.1\r\n';
  const more = [`${get}Host: x\r\n\r\n`, 'no HTTP'];
  for (const after of more) {
    assert.deepEqual(statusesOf(await talk(`${get}Connection: close\r\n\r\n${after}`)), [400]);
    assert.deepEqual(statusesOf(await talk(`${get}${close}\r\n${after}`)), [200]);
    assert.deepEqual(statusesOf(await talk(`${get}${close}\r\n`, after)), [200]);
  }
  await assertWhole();
});

test('a request without a Host is refused in our form, and the next one is read', async () => {
  const get = (head: string) => `GET /api/v2/devices/D HTTP/1.1\r\n${head}\r\n`;
  const answer = await talk(get(''), get(close));
  assert.deepEqual(statusesOf(answer), [400, 200]);
  assert.match(answer, /"error":"invalid","description":"the header Host is missing"/);
  // What is broken behind it is told after it, in one piece or in two.
  assert.deepEqual(statusesOf(await talk(`${get('')}no HTTP`)), [400, 400]);
  assert.deepEqual(statusesOf(await talk(get(''), 'no HTTP')), [400, 400]);
  assert.deepEqual(statusesOf(await talk('GET /api/v2/devices/D HTTP/1.0\r\n\r\n')), [200]);
  await assertWhole();
});

test('a path with a broken percent-encoding is 400', async () => {
  for (const part of ['%', '%z', '%zz', 'a%2', '%ff', '%c0%af', '%ed%a0%80', '%00']) {
    for (const path of [`/api/v2/devices/${part}`, `/api/v2/devices/D/sensors/${part}`]) {
      const answer = await talk(`GET ${path} HTTP/1.1\r\n${close}\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 /, `${path}: ${answer.slice(0, 200)}`);
      assert.match(answer, /"error":"invalid"/);
    }
  }
});

test('steps out of the folder of the reference are 404 and say so', async () => {
  const answer = await talk(`GET /docs/static/../../../package.json HTTP/1.1\r\n${close}\r\n`);
  assert.deepEqual(statusesOf(answer), [404]);
  assert.match(answer, /"error":"not_found","description":"there is nothing/);
});

test('steps upwards in a path lead nowhere', async () => {
  for (const path of [
    '/docs/static/../../../package.json',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/docs/static/..%5c..%5cpackage.json',
    '/../../etc/passwd',
    '//etc/passwd',
    '/docs/static/%00',
  ]) {
    const answer = await talk(`GET ${path} HTTP/1.1\r\n${close}\r\n`);
    const [status = 0] = statusesOf(answer);
    assert.ok(status === 400 || status === 403 || status === 404, `${path}: ${status}`);
    assert.doesNotMatch(answer, /root:|"name":"@?\w+/);
  }
});

test('a body may come in chunks, with an end that is asked for, and byte by byte', async () => {
  const push = (headers: string, body: string) =>
    post(headers, body, '/api/v2/devices/D/sensors/TC1/values');
  const chunked = push('Transfer-Encoding: chunked\r\n', '4\r\n{"va\r\n8\r\nlue": 5}\r\n0\r\n\r\n');
  assert.deepEqual(statusesOf(await talk(chunked)), [204]);
  const expecting = push('Content-Length: 11\r\nExpect: 100-continue\r\n', '{"value":6}');
  assert.deepEqual(statusesOf(await talk(expecting)), [100, 204]);
  const bytes = [...push('Content-Length: 11\r\n', '{"value":7}')];
  assert.deepEqual(statusesOf(await talk(...bytes)), [204]);
  const { json } = await service.call({ path: '/devices/D/sensors/TC1/values' });
  assert.deepEqual(
    (json as { value: unknown }[]).map(({ value }) => value),
    [5, 6, 7],
  );
});

test('a body that grows beyond the limit in chunks is 413', async () => {
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const answer = await talk(post('Transfer-Encoding: chunked\r\n', chunk.repeat(17)));
  assert.deepEqual(statusesOf(answer), [413]);
  assert.match(answer, /"error":"too_large"/);
  // Announced, and refused before it is sent.
  const announced = await talk(post('Content-Length: 999999999999\r\n', '{'));
  assert.deepEqual(statusesOf(announced), [413]);
  await assertWhole();
});

test('an expectation that nobody can meet is refused', async () => {
  const answer = await talk(post('Content-Length: 10\r\nExpect: miracles\r\n', '{"id":"a"}'));
  const [status = 0] = statusesOf(answer);
  assert.ok(status === 417 || status === 400, answer.slice(0, 200));
  await assertWhole();
});

test('a client that goes away in the middle of its request harms nothing', async () => {
  const { hostname, port } = new URL(service.url);
  const requests = [
    'GET /api/v2/dev',
    post('Content-Length: 10\r\n', '{"id":'),
    post('Transfer-Encoding: chunked\r\n', '10\r\n{"id":"gone"'),
  ];
  for (const text of requests) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect(Number(port), hostname, () => {
      socket.write(text, () => socket.resetAndDestroy());
    });
    socket.on('close', () => resolve()).on('error', () => undefined);
    await promise;
  }
  await assertWhole();
});

test('methods beyond those of the API are refused on every path', async () => {
  for (const method of ['TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'PURGE', 'M-SEARCH']) {
    const answer = await talk(`${method} /api/v2/devices HTTP/1.1\r\n${close}\r\n`);
    assert.deepEqual(statusesOf(answer), [405], `${method}: ${answer.slice(0, 200)}`);
    assert.match(answer, /\r\nallow: .*GET/i, method);
  }
  const tunnel = await talk(`CONNECT example.org:443 HTTP/1.1\r\n${close}\r\n`);
  assert.doesNotMatch(tunnel, /^HTTP\/1\.1 2/);
  const upgrade = `GET /api/v2/devices/D HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\n`;
  const upgraded = await talk(`${upgrade}Upgrade: h2c\r\n\r\n`);
  assert.doesNotMatch(upgraded, /^HTTP\/1\.1 (101|5)/);
});
