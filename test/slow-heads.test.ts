// In a process of its own: it trusts any certificate.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { limits } from '../src/domain/limits.ts';
import { mqttLimits } from '../src/mqtt/limits.ts';
import { temporaryDirectory } from './contract/storage/temporary-directory.ts';
import { halves } from './raw-connections.ts';
import { type Service, startService } from './service.ts';

let plain: Service;
let secure: Service;

before(async () => {
  // The certificate is nobody's.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const directory = temporaryDirectory({ after });
  const [cert = '', key = ''] = ['cert.pem', 'key.pem'].map((name) => join(directory, name));
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const files = ['-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' });
  const withTls = { KIPIMO_TLS_CERT: cert, KIPIMO_TLS_KEY: key, KIPIMO_MQTTS_PORT: '0' };
  plain = await startService();
  secure = await startService({ environment: withTls });
  const json = { id: 'D', sensors: [{ id: 'S' }] };
  for (const one of [plain, secure]) {
    assert.equal((await one.call({ method: 'POST', path: '/devices', json })).status, 204);
  }
});

after(async () => {
  for (const one of [plain, secure]) await one[Symbol.asyncDispose]();
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
});

const piecesOfHead = 27;
const host = '127.0.0.1';
const portOf = (url: string | undefined): number => Number(new URL(url ?? '').port);

const open = (url: string | undefined): Socket =>
  /^(https|mqtts):/.test(url ?? '')
    ? connectTls({ host, port: portOf(url), rejectUnauthorized: false })
    : connect({ host, port: portOf(url), noDelay: true });

/** Each piece is a packet of its own, as far as this machine goes. */
async function writeInPieces(socket: Socket, bytes: Uint8Array): Promise<void> {
  const length = Math.ceil(bytes.length / piecesOfHead);
  for (let at = 0; at < bytes.length; at += length) {
    await new Promise((resolve) => socket.write(bytes.subarray(at, at + length), resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits for these bytes of an answer; fails when the connection ends before. */
async function hear(socket: Socket, wanted: string): Promise<void> {
  let heard = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('data', function listen(bytes: Buffer) {
      heard += bytes.toString('latin1');
      if (!heard.includes(wanted)) return;
      socket.off('data', listen);
      resolve();
    });
    socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(heard)}`)));
  });
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const push = bytesOf(
  'POST /api/v2/devices/D/sensors/S/value HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n21',
);
const read = bytesOf('GET /api/v2/devices/D HTTP/1.1\r\nHost: x\r\n\r\n');
const upgrade = halves['an upgrade alone'] ?? Buffer.of();
const connectPacket = halves['a CONNECT alone'] ?? Buffer.of();
const frame = Buffer.concat([
  Buffer.from([0x82, 0x80 | connectPacket.length, 0, 0, 0, 0]),
  connectPacket,
]);
const welcome = Buffer.from([0x20, 2, 0, 0]).toString('latin1');

/** What is said at once, then what comes in pieces, and what answers it. */
const heads: Readonly<Record<string, readonly [readonly Uint8Array[], Uint8Array, string]>> = {
  'a read': [[], read, ' 200 OK'],
  'a push': [[], push, ' 204 No'],
  'a push behind a push': [[push], push, ' 204 No'],
  'a read behind a push': [[push], read, ' 200 OK'],
  'a push behind a read': [[read], push, ' 204 No'],
  'an upgrade': [[], upgrade, ' 101 '],
  'an upgrade behind a push': [[push], upgrade, ' 101 '],
  'CONNECT on a WebSocket': [[upgrade], frame, welcome],
  'CONNECT on the port of HTTP': [[], connectPacket, welcome],
};

for (const [what, [atOnce, inPieces, wanted]] of Object.entries(heads)) {
  test(`${what} in ${piecesOfHead} pieces is answered, with TLS and without`, async () => {
    for (const { url } of [plain, secure]) {
      const socket = open(url);
      for (const bytes of atOnce) {
        socket.write(bytes);
        await hear(socket, '\r\n\r\n');
      }
      const answered = hear(socket, wanted);
      await writeInPieces(socket, inPieces);
      await answered;
      socket.destroy();
    }
  });
}

test('CONNECT that comes in pieces is answered on the ports of MQTT', async () => {
  for (const url of [plain.mqttUrl, secure.app.mqttsUrl]) {
    const socket = open(url);
    const answered = hear(socket, welcome);
    await writeInPieces(socket, connectPacket);
    await answered;
    socket.destroy();
  }
});

test('a TLS handshake that comes in pieces is carried out', async () => {
  for (const url of [secure.url, secure.app.mqttsUrl]) {
    const tcp = connect({ host, port: portOf(url), noDelay: true });
    const below = new Duplex({
      read: () => undefined,
      write: (bytes: Uint8Array, _encoding, done) =>
        void writeInPieces(tcp, bytes).then(() => done()),
    });
    tcp.on('data', (bytes: Buffer) => below.push(bytes));
    const tls = connectTls({ socket: below, rejectUnauthorized: false });
    await new Promise((resolve, reject) => {
      tls.once('secureConnect', resolve);
      tcp.once('close', reject);
    });
    tcp.destroy();
  }
});

test('over every door a head has 30 seconds', () => {
  const { requestHeadersMs, tlsHandshakeMs } = limits;
  assert.deepEqual([requestHeadersMs, tlsHandshakeMs, mqttLimits.connectMs], Array(3).fill(30_000));
});

/** The address of a stranger: its share of the room for heads is 128 KiB, ten of them. */
const stranger = '127.0.5.1';

test('heads that are not whole have room by address: the longest waits make room', async () => {
  await using service = await startService({
    environment: { KIPIMO_BUDGETS: 'request_bytes=1048576' },
  });
  const json = { id: 'D', sensors: [{ id: 'S' }] };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  const begin = async (url: string, bytes: Uint8Array, localAddress = stranger) => {
    const socket = connect({ host, port: portOf(url), localAddress, noDelay: true });
    const one = { socket, heard: '' };
    const over = new Promise<string>((resolve) => socket.once('close', () => resolve(one.heard)));
    socket.on('error', () => undefined).on('data', (text) => (one.heard += text));
    await new Promise((resolve) => socket.write(bytes, resolve));
    return { socket, over };
  };
  const kept = open(service.url);
  kept.write(push);
  await hear(kept, ' 204 No');
  const half = halves['half a head'] ?? Buffer.of();
  const halfConnect = halves['half a CONNECT'] ?? Buffer.of();
  const doors = [
    [service.url, half],
    [service.url, Buffer.concat([push, half])],
    [service.url, halfConnect],
    [service.mqttUrl, halfConnect],
    [service.url, halves['half an upgrade'] ?? Buffer.of()],
  ] as const;
  const begun = [];
  for (let round = 0; round < 4; round += 1) {
    for (const [url, bytes] of doors) begun.push(await begin(url, bytes));
  }
  // Twenty have begun. Who was told why was told so in HTTP.
  const ended = await Promise.all(begun.slice(0, 5).map(({ over }) => over));
  for (const at of [0, 1, 4]) assert.match(ended[at] ?? '', / 429 .*\r\nretry-after: 10\r\n/s);
  assert.deepEqual([ended[2], ended[3]], ['', '']);
  // Others come through, in pieces too, on new connections and on those they have.
  for (const socket of [kept, open(service.url)]) {
    const answered = hear(socket, ' 204 No');
    await writeInPieces(socket, push);
    await answered;
    socket.destroy();
  }
  const late = await begin(service.url, push.subarray(0, 20));
  const answered = hear(late.socket, ' 204 No');
  late.socket.write(push.subarray(20));
  await answered;
  const { text } = await service.as('admin')({ path: '//metrics' });
  assert.match(text, /kipimo_budget_refusals_total\{budget="request_bytes"\} [1-9]/);
  const used = /budget_used\{budget="request_bytes",unit="bytes",by="guests"\} (\d+)/.exec(text);
  assert.ok(Number(used?.[1]) > 0 && Number(used?.[1]) <= 131_072, used?.[1]);
  for (const { socket } of [...begun, late]) socket.destroy();
});

test('behind a proxy each client pays for its own bodies that are under way', async () => {
  await using service = await startService({
    environment: { KIPIMO_TRUSTED_PROXIES: '127.0.0.1', KIPIMO_BUDGETS: 'request_bytes=4194304' },
  });
  const json = { id: 'D', sensors: [{ id: 'S' }] };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  for (const fields of ['', 'X-Unusual: 1\r\n']) {
    const begin = async (client: string): Promise<Socket> => {
      const socket = open(service.url).on('error', () => undefined);
      const head = push.toString('latin1').replace('\r\n\r\n21', '\r\n');
      const forwarded = `X-Forwarded-For: ${client}\r\n${fields}\r\n`;
      await new Promise((resolve) => socket.write(head + forwarded, resolve));
      return socket;
    };
    const ann = await begin('192.0.2.1');
    const heard = hear(ann, ' 204 No');
    const eves = await Promise.all(Array.from({ length: 100 }, () => begin('192.0.2.66')));
    await Promise.race(eves.map((socket) => new Promise((done) => socket.once('data', done))));
    ann.write('21');
    await heard;
    for (const socket of [ann, ...eves]) socket.destroy();
  }
});

test('a body that is under way counts for the account that its head names', async () => {
  await using service = await startService();
  const login = `Authorization: Bearer ${await service.tokenOf('ann')}\r\n`;
  const admin = service.as('admin');
  const json = { id: 'slow', sensors: [{ id: 'S' }] };
  for (const [path, body] of [
    ['/devices', JSON.stringify(json)],
    ['/devices/slow/sensors/S/value', '{"value":21}'],
  ] as const) {
    const socket = open(service.url);
    const about = `Host: x\r\nContent-Length: ${body.length}\r\n${login}`;
    socket.write(`POST /api/v2${path} HTTP/1.1\r\n${about}\r\n`);
    let used = '';
    for (let polls = 0; polls < 100 && !/^[1-9]\d+ 0$/.test(used); polls += 1) {
      const { text } = await admin({ path: '//metrics' });
      const lines = text.matchAll(/used\{budget="request_bytes",unit="bytes",by="\w+"\} (\d+)/g);
      used = [...lines].map(([, bytes]) => bytes).join(' ');
    }
    assert.match(used, /^[1-9]\d+ 0$/, `${path}: ${used} bytes are used, and by guests`);
    const answered = hear(socket, ' 204 No');
    socket.write(body);
    await answered;
    socket.destroy();
  }
});
