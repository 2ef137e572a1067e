import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { adminPassword, type Service, startService } from '../service.ts';
import { type Client, type ClientOptions, connect, makeDevice } from './mqtt-clients.ts';

let directory: string;
let plain: Service;
let secure: Service;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-servers-'));
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const place = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', [...words.split(' '), ...place, ...files], { stdio: 'ignore' });
  plain = await startService();
  secure = await startService({
    environment: { KIPIMO_TLS_CERT: cert, KIPIMO_TLS_KEY: key, KIPIMO_MQTTS_PORT: '0' },
  });
  for (const service of [plain, secure]) await makeDeviceAt(service);
});

after(async () => {
  for (const service of [plain, secure]) await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const topic = 'devices/d/sensors/t/value';

/** Version 3.1.1, a clean session, the client id c1. */
const connectPacket = Buffer.from('100e00044d5154540402000000026331', 'hex');

/** The client of the secure service's HTTP API would want a certificate that somebody signed. */
async function makeDeviceAt(service: Service): Promise<void> {
  if (service === plain) await makeDevice(service, 'guest', 'd');
}

const as = (service: Service, scheme: string, path = ''): string =>
  `${service.url.replace(/^https?/, scheme)}${path}`;

async function echoes(client: Client): Promise<void> {
  await client.subscribe(topic);
  await client.publish(topic, { value: 'hello' });
  await client.got(1);
  assert.deepEqual(client.texts, [`${topic} {"value":"hello"}`]);
}

for (const protocolVersion of [4, 5] as const) {
  test(`version ${protocolVersion} comes in by TCP, WebSocket and the HTTP port`, async () => {
    const urls = [
      plain.mqttUrl,
      as(plain, 'mqtt'),
      as(plain, 'ws', '/websocket'),
      as(plain, 'ws', '/mqtt'),
      as(plain, 'ws', '/mqtt?token=none'),
      as(plain, 'ws'),
      as(plain, 'ws', '/?token=none'),
    ];
    for (const url of urls) {
      await using client = await connect(plain, { url, protocolVersion });
      await echoes(client);
    }
  });

  test(`version ${protocolVersion} comes in by MQTTS, WSS and the HTTPS port`, async () => {
    const urls = [
      secure.app.mqttsUrl ?? '',
      as(secure, 'mqtts'),
      as(secure, 'wss', '/websocket'),
      secure.mqttUrl,
    ];
    for (const url of urls) {
      const options: ClientOptions = { url, protocolVersion, rejectUnauthorized: false };
      await using client = await connect(secure, options);
      await client.subscribe(topic);
      // Nobody made the device here: the answer says that the publish arrived.
      const outcome = client.publish(topic, '1');
      if (protocolVersion === 5) await assert.rejects(outcome, { code: 0x90 });
      else await outcome;
    }
  });
}

/** Sends texts one after the other, and resolves with all that came until the end. */
async function talk(socket: Socket, ...parts: readonly (string | Buffer)[]): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, resolve));
    await new Promise(setImmediate);
  }
  await closed;
  return text;
}

const dial = (service: Service): Socket =>
  connectTcp(Number(new URL(service.url).port), '127.0.0.1');

test('HTTP on the shared port is as it was: pipelined, byte by byte, kept alive', async () => {
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const close = 'Connection: close\r\n';
  const three = get('/healthz') + get('/readyz') + get('/api/v2/x', close);
  const pipelined = await talk(dial(plain), three);
  assert.deepEqual(pipelined.match(/HTTP\/1\.1 \d+/g), [
    'HTTP/1.1 200',
    'HTTP/1.1 200',
    'HTTP/1.1 404',
  ]);
  const slow = await talk(dial(plain), ...get('/healthz', close));
  assert.match(slow, /^HTTP\/1\.1 200/);
  const tls = connectTls({ port: Number(new URL(secure.url).port), rejectUnauthorized: false });
  assert.match(await talk(tls, get('/healthz') + get('/healthz', close)), /200.*200/s);
});

test('what is neither HTTP nor MQTT is refused as broken HTTP', async () => {
  assert.match(await talk(dial(plain), 'hello\r\n\r\n'), /^HTTP\/1\.1 400/);
  // A first packet that is no CONNECT.
  const socket = connectTcp(Number(new URL(plain.mqttUrl).port), '127.0.0.1');
  assert.equal(await talk(socket, Buffer.from([0xc0, 0x00])), '');
});

test('an upgrade elsewhere, or to something else, is an ordinary request', async () => {
  const offer = (path: string, upgrade: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`;
  assert.match(await talk(dial(plain), offer('/healthz', 'h2c')), /^HTTP\/1\.1 200/);
  assert.match(await talk(dial(plain), offer('/healthz', 'websocket')), /^HTTP\/1\.1 200/);
  assert.match(await talk(dial(plain), offer('/mqtt', 'websocket')), /^HTTP\/1\.1 400/);
  const named = (path: string, names: string) =>
    offer(path, 'websocket').replace(/\r\n$/, `Sec-WebSocket-Protocol: ${names}\r\n\r\n`);
  assert.match(await talk(dial(plain), offer('/', 'websocket')), /^HTTP\/1\.1 200/);
  assert.match(await talk(dial(plain), named('/', 'graphql-ws, mqttx')), /^HTTP\/1\.1 200/);
  assert.match(await talk(dial(plain), named('/healthz', 'mqtt')), /^HTTP\/1\.1 200/);
});

test('a WebSocket at the root that names MQTT among others speaks it', async () => {
  for (const names of [['mqttv3.1'], ['graphql-ws', 'mqtt']]) {
    const socket = new WebSocket(as(plain, 'ws', '/'), names);
    await once(socket, 'open');
    assert.equal(socket.protocol, names.at(-1));
    socket.terminate();
  }
});

test('a client that names MQTT in the handshake of TLS speaks it on the HTTPS port', async () => {
  const port = Number(new URL(secure.url).port);
  const offered = async (...names: readonly string[]) => {
    const socket = connectTls({ port, rejectUnauthorized: false, ALPNProtocols: [...names] });
    await once(socket, 'secureConnect');
    return socket;
  };
  for (const name of ['mqtt', 'x-amzn-mqtt-ca']) {
    const socket = await offered(name);
    assert.equal(socket.alpnProtocol, name);
    socket.write(connectPacket);
    const [connack] = (await once(socket, 'data')) as [Buffer];
    assert.deepEqual([...connack], [0x20, 2, 0, 0]);
    socket.destroy();
  }
  // As curl --http1.0 does.
  const older = await talk(await offered('http/1.0'), 'GET /healthz HTTP/1.0\r\n\r\n');
  assert.match(older, /^HTTP\/1\.[01] 200/);
  const both = await offered('h2', 'http/1.1', 'mqtt');
  assert.equal(both.alpnProtocol, 'http/1.1');
  both.destroy();
  await assert.rejects(offered('h2'));
});

/** Whoever signed the certificate. */
async function metricsOf(service: Service): Promise<string> {
  const ask = (request: string) => {
    const { port } = new URL(service.url);
    return talk(connectTls({ port: Number(port), rejectUnauthorized: false }), request);
  };
  const more = 'Host: x\r\nConnection: close\r\n';
  const login = JSON.stringify({ username: 'admin', password: adminPassword });
  const json = `Content-Type: application/json\r\nContent-Length: ${login.length}\r\n`;
  const answer = await ask(`POST /api/v2/auth/token HTTP/1.1\r\n${more}${json}\r\n${login}`);
  const token = /[\w-]{20,}(?:\.[\w-]+)*/.exec(answer.slice(answer.indexOf('\r\n\r\n')))?.[0];
  return ask(`GET /metrics HTTP/1.1\r\n${more}Authorization: Bearer ${token}\r\n\r\n`);
}

test('a client that renegotiates TLS 1.2 over and over is cut off, and counted', async () => {
  const ports = [secure.url, secure.app.mqttsUrl ?? ''].map((url) => Number(new URL(url).port));
  for (const port of ports) {
    const options = { port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' } as const;
    const socket = connectTls(options);
    const ended = once(socket, 'close');
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    let handshakes = 0;
    const again = (error: Error | null): void => {
      if (error !== null || socket.destroyed) return;
      handshakes += 1;
      if (handshakes > 100) socket.destroy();
      socket.renegotiate({ rejectUnauthorized: false }, again);
    };
    again(null);
    socket.resume();
    await ended;
    assert.ok(handshakes <= 10, `${handshakes} handshakes`);
  }
  const reason = /kipimo_mqtt_connections_refused_total\{reason="renegotiation"\} (\d+)/;
  assert.equal(reason.exec(await metricsOf(secure))?.[1], '2');
});

test('a WebSocket carries packets cut anywhere, and nothing but binary, uncompressed', async () => {
  const socket = new WebSocket(as(plain, 'ws', '/mqtt'), ['mqtt'], { perMessageDeflate: true });
  await once(socket, 'open');
  assert.deepEqual([socket.protocol, socket.extensions], ['mqtt', '']);
  const answer = once(socket, 'message');
  for (const byte of connectPacket) socket.send(Buffer.from([byte]));
  const [connack] = (await answer) as [Buffer];
  assert.deepEqual([...connack], [0x20, 2, 0, 0]);
  const closed = once(socket, 'close');
  socket.send('text');
  const [code] = (await closed) as [number];
  assert.equal(code, 1003);
});

test('the certificate is the one of HTTPS', async () => {
  const port = Number(new URL(secure.app.mqttsUrl ?? '').port);
  const socket = connectTls({ port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const expected = readFileSync(join(directory, 'cert.pem'), 'utf8');
  const shown = socket.getPeerCertificate().raw.toString('base64');
  assert.ok(expected.replaceAll('\n', '').includes(shown));
  socket.destroy();
});
