import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';

let service: Service;

before(async () => {
  service = await startService();
  const json = {
    id: 'board',
    sensors: [{ id: 'TC1' }],
    actuators: [{ id: 'led', name: 'Lamp', actuator_kind: 'Light', value_type: 'number' }],
  };
  const made = await service.as('ama')({ method: 'POST', path: '/devices', json });
  assert.equal(made.status, 204, made.text);
});

after(() => service[Symbol.asyncDispose]());

/** Sends piece by piece, as each print of a sketch is, and reads until the other side closes. */
async function print(...pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', reject);
  socket.on('close', () => resolve());
  for (const piece of pieces) socket.write(piece);
  await promise;
  return Buffer.concat(chunks).toString('utf8');
}

/** Each line as println sends it: the text, and then the end of the line. */
const println = (...lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => [line, '\r\n']);

/** What a sketch looks at: the first line, and what follows the first empty one. */
function partsOf(answer: string): { readonly status: string; readonly body: string } {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  return { status: head.split('\r\n')[0] ?? '', body: rest.join('\r\n\r\n') };
}

const path = '/api/v2/devices/board/sensors/TC1/value';

async function lastValue(): Promise<unknown> {
  const { json } = await service.call({ path: '/devices/board/sensors/TC1' });
  return (json as { value: { value: unknown } }).value.value;
}

const contentTypes = [
  'Content-Type: text/plain;charset=utf-8',
  'Content-Type: text/plain; charset=UTF-8',
  'Content-type:text/plain',
  'content-type: TEXT/PLAIN',
];

const sketches: readonly { readonly what: string; readonly lines: readonly string[] }[] = [
  ...contentTypes.map((line) => ({
    what: `writes "${line}"`,
    lines: [`POST ${path} HTTP/1.1`, 'Host: cloud.local', line, 'Connection: close'],
  })),
  {
    what: 'speaks HTTP/1.0 and names no host',
    lines: [`POST ${path} HTTP/1.0`, 'Content-Type: text/plain'],
  },
  {
    what: 'says what it is and what it takes',
    lines: [
      `POST ${path} HTTP/1.1`,
      'Host:cloud.local:80',
      'User-Agent: ESP8266HTTPClient',
      'Accept: application/json',
      'Accept-Encoding: identity;q=1,chunked;q=0.1,*;q=0',
      'Content-Type: text/plain',
      'Connection: Close',
    ],
  },
  {
    what: 'sends an empty Authorization',
    lines: [
      `POST ${path} HTTP/1.1`,
      'Host: cloud.local',
      'Authorization: ',
      'Content-Type: text/plain',
      'Connection: close',
    ],
  },
  {
    what: 'ends its path with a slash',
    lines: [`POST ${path}/ HTTP/1.1`, 'Host: x', 'Content-Type: text/plain', 'Connection: close'],
  },
];

for (const [index, { what, lines }] of sketches.entries()) {
  test(`a sketch that ${what} pushes its number without a token`, async () => {
    const value = String(25 + index);
    const length = `Content-Length: ${value.length}`;
    const answer = partsOf(await print(...println(...lines, length, ''), value));
    assert.match(answer.status, /^HTTP\/1\.1 204 /);
    assert.equal(answer.body, '');
    assert.equal(await lastValue(), value);
  });
}

test('a sketch that ends its body with println is understood', async () => {
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: text/plain'];
  const lines = println(...head, 'Connection: close', 'Content-Length: 4', '', '19.5');
  assert.match(await print(...lines), /^HTTP\/1\.1 204 /);
  assert.equal(await lastValue(), '19.5');
});

test('a sketch that sends JSON by hand pushes a number', async () => {
  const body = '{"value":"21.75"}';
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json'];
  const rest = ['Connection: close', `Content-Length: ${body.length}`, ''];
  assert.match(await print(...println(...head, ...rest), body), /^HTTP\/1\.1 204 /);
  assert.equal(await lastValue(), '21.75');
});

test('a sketch keeps its connection and pushes one value after the other', async () => {
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: text/plain'];
  const one = (value: string, ...more: readonly string[]) =>
    println(...head, ...more, `Content-Length: ${value.length}`, '', value);
  const answer = await print(...one('1'), ...one('2'), ...one('3', 'Connection: close'));
  assert.equal(answer.match(/HTTP\/1\.1 204 /g)?.length, 3);
  assert.equal(await lastValue(), '3');
});

test('a sketch that forgets the length is told so, and not left waiting', async () => {
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: text/plain'];
  const answer = partsOf(await print(...println(...head, 'Connection: close', ''), '25'));
  assert.match(answer.status, /^HTTP\/1\.1 400 /);
  assert.match(answer.body, /the body is empty/);
});

const settings: readonly (readonly [unknown, string])[] = [
  [7, '7'],
  [-0.25, '-0.25'],
  ['open', '"open"'],
  [true, 'true'],
  [false, 'false'],
  [{ r: 255, g: 0 }, '{"r":255,"g":0}'],
];

for (const [value, text] of settings) {
  test(`a sketch cuts the setting ${text} of its actuator out of the answer`, async () => {
    const setting = '/devices/board/actuators/led/value';
    const put = await service.as('ama')({ method: 'PUT', path: setting, json: value });
    assert.equal(put.status, 204, put.text);
    for (const version of ['1.0', '1.1']) {
      const answer = partsOf(
        await print(
          ...println(
            `GET /api/v2/devices/board/actuators/led HTTP/${version}`,
            'Host: cloud.local',
            'Connection: close',
            '',
          ),
        ),
      );
      assert.match(answer.status, /^HTTP\/1\.1 200 /);
      const from = answer.body.indexOf('"value":') + '"value":'.length;
      const to = answer.body.indexOf(',"actuator_kind"');
      assert.equal(answer.body.slice(from, to), text);
    }
  });
}

test('an old library reads a list over HTTP/1.0 without pieces that it cannot join', async () => {
  for (const resource of ['devices', 'devices/board', 'devices/board/sensors/TC1/values']) {
    const answer = await print(...println(`GET /api/v2/${resource} HTTP/1.0`, ''));
    assert.doesNotMatch(answer, /transfer-encoding/i);
    const { status, body } = partsOf(answer);
    assert.match(status, /^HTTP\/1\.1 200 /);
    assert.doesNotThrow(() => JSON.parse(body), body.slice(0, 100));
  }
});
