import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { temporaryDirectory } from './contract/storage/temporary-directory.ts';
import { type Service, startService } from './service.ts';

const signature = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10];
const wholeConnect = '\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a';
const connackMqtt = '\x20\x02\x00\x00';
const guess = JSON.stringify({ username: 'admin', password: 'wrong' });
const login =
  'POST /api/v2/auth/token HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
  `Content-Type: application/json\r\nContent-Length: ${guess.length}\r\n\r\n${guess}`;

/** What a balancer writes ahead of the bytes of the client at this address of IPv4. */
function headerFor(address: string): Buffer {
  const body = [...address.split('.').map(Number), 127, 0, 0, 1, 0x30, 0x39, 0, 80];
  return Buffer.from([...signature, 0x21, 0x11, 0, body.length, ...body]);
}

const trusting = { KIPIMO_TRUSTED_PROXIES: '127.0.0.1' };
const open: { trusting?: Service; trustsNobody?: Service; secure?: Service } = {};

before(async () => {
  const directory = temporaryDirectory({ after });
  const [cert = '', key = ''] = ['cert.pem', 'key.pem'].map((name) => join(directory, name));
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const files = ['-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' });
  const pair = { KIPIMO_TLS_CERT: cert, KIPIMO_TLS_KEY: key, KIPIMO_MQTTS_PORT: '0' };
  open.trusting = await startService({ environment: trusting });
  open.trustsNobody = await startService({});
  open.secure = await startService({ environment: { ...trusting, ...pair } });
});

after(async () => {
  for (const service of Object.values(open)) await service[Symbol.asyncDispose]();
});

function service(name: keyof typeof open): Service {
  const found = open[name];
  assert.ok(found !== undefined);
  return found;
}

const portOf = (url: string | undefined): number => Number(new URL(url ?? '').port);

async function all(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  if (!socket.closed) await once(socket, 'close');
  return text;
}

/** Sends these one after the other; answers everything that came until the end. */
async function exchange(port: number, ...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const answer = all(socket);
  for (const part of parts) {
    socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    await wait(5);
  }
  return answer;
}

async function refusals(service: Service): Promise<number> {
  const { text } = await service.as('admin')({ path: '//metrics' });
  return Number(/connections_refused_total\{reason="proxy_header"\} (\d+)/.exec(text)?.[1] ?? 0);
}

test('guesses of one address behind a balancer have an end, those of others not', async () => {
  const port = portOf(service('trusting').url);
  const guessAs = (address: string) => exchange(port, headerFor(address), login);
  const statusOf = (answer: string) => Number(answer.split(' ', 2)[1]);
  let status = 401;
  for (let count = 0; status === 401 && count < 200; count += 1) {
    status = statusOf(await guessAs('192.0.2.1'));
  }
  assert.equal(status, 429);
  assert.equal(statusOf(await guessAs('192.0.2.2')), 401);
});

test('a header byte by byte, and one with the request in one piece, are read alike', async () => {
  const port = portOf(service('trusting').url);
  const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const header = headerFor('192.0.2.3');
  const slow = await exchange(port, ...Array.from(header, (byte) => Uint8Array.of(byte)), request);
  assert.match(slow, /^HTTP\/1\.1 200 /);
  const fast = await exchange(port, Buffer.concat([header, Buffer.from(request)]));
  assert.match(fast, /^HTTP\/1\.1 200 /);
  assert.match(await exchange(port, request), /^HTTP\/1\.1 200 /, 'without a header as before');
});

for (const door of ['url', 'mqttUrl'] as const) {
  test(`MQTT behind a balancer is let in at ${door}`, async () => {
    const port = portOf(service('trusting').app[door]);
    for (const before of [headerFor('192.0.2.4'), '']) {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.write(before);
      socket.write(Buffer.from(wholeConnect, 'latin1'));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.equal(answer.toString('latin1'), connackMqtt);
      socket.destroy();
    }
  });

  test(`what is wrong ends the connection at ${door}, and is counted`, async () => {
    const one = service('trusting');
    const before = await refusals(one);
    const wrong = headerFor('192.0.2.4');
    wrong[12] = 0x11;
    assert.equal(await exchange(portOf(one.app[door]), wrong, login), '');
    assert.equal(await refusals(one), before + 1);
  });

  test(`a header of somebody who is not trusted is no header at ${door}`, async () => {
    const one = service('trustsNobody');
    const answer = await exchange(portOf(one.app[door]), headerFor('192.0.2.5'), login);
    assert.doesNotMatch(answer, /^HTTP\/1\.1 (200|401)/);
    assert.equal(await refusals(one), 0);
  });
}

test('TLS comes behind the header', async () => {
  for (const door of ['url', 'mqttsUrl'] as const) {
    const raw = connect({ port: portOf(service('secure').app[door]), host: '127.0.0.1' });
    raw.write(headerFor('192.0.2.6'));
    const secure = connectTls({ socket: raw, rejectUnauthorized: false });
    secure.write(Buffer.from(wholeConnect, 'latin1'));
    const [answer] = (await once(secure, 'data')) as [Buffer];
    assert.equal(answer.toString('latin1'), connackMqtt);
    secure.destroy();
  }
});

test('who begins a header and never ends it is sent away', async () => {
  const one = service('trusting');
  const before = await refusals(one);
  const socket = connect({ port: portOf(one.app.mqttUrl), host: '127.0.0.1' });
  socket.write(headerFor('192.0.2.7').subarray(0, 20));
  assert.equal(await all(socket), '');
  assert.equal(await refusals(one), before + 1);
});

test('clients behind a balancer that are silent make room for the next one', async () => {
  // All guests together have 10.
  const environment = { ...trusting, KIPIMO_BUDGETS: 'connections=20' };
  await using one = await startService({ environment });
  const port = portOf(one.url);
  const silent: Socket[] = [];
  for (let at = 0; at < 40; at += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write(headerFor(`192.0.2.${at}`));
    silent.push(socket);
    await wait(2);
  }
  const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const answer = await exchange(port, headerFor('192.0.2.200'), request);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  for (const socket of silent) socket.destroy();
});
