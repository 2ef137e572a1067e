// How long the main thread is held by bursts that a guest may send:
// node bench/guest-holds.ts [a part of a name] [times, default 3] [a folder for CPU profiles]
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { generate } from 'mqtt-packet';
import { startMetered } from './metered-service.ts';

const [, , part = '', times = '3', profiles] = process.argv;
const mebibyte = 1_048_576;
const directory = mkdtempSync(join(tmpdir(), 'kipimo-guests-'));

const repeated = (line: string, bytes: number): string =>
  line.repeat(Math.floor(bytes / line.length));

const request = (method: string, path: string, body = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `${method === 'GET' ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`;

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Resolves once so many bytes have come, the connection is over, or nothing came for a second. */
function settled(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    const end = (): void => {
      clearTimeout(timer);
      resolve(bytes);
    };
    let timer = setTimeout(end, 1_000);
    socket.on('close', end);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      clearTimeout(timer);
      timer = setTimeout(end, 700);
    });
  });
}

/** The same burst on many connections, all at once; then they are reset. */
async function burst(port: number, count: number, text: string | Uint8Array): Promise<string> {
  const sockets = await Promise.all(Array.from({ length: count }, () => open(port)));
  const answers = sockets.map(settled);
  for (const socket of sockets) socket.write(text);
  const bytes = await Promise.all(answers);
  for (const socket of sockets) socket.destroy();
  return `${bytes.reduce((sum, one) => sum + one, 0)} bytes answered`;
}

const packet = (one: Parameters<typeof generate>[0]): Uint8Array =>
  generate(one, { protocolVersion: 5 });
const topic = 'devices/d/sensors/s/value';

async function mqttClients(port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n += 1) {
    const socket = await open(port);
    socket.write(
      packet({
        ...{ cmd: 'connect', clientId: `g${n}-${Math.random()}`, clean: true, keepalive: 600 },
        ...{ protocolId: 'MQTT', protocolVersion: 5 },
      }),
    );
    await once(socket, 'data');
    sockets.push(socket);
  }
  return sockets;
}

async function publishBurst(port: number, clients: number, each: number): Promise<string> {
  const sockets = await mqttClients(port, clients);
  await wait(300);
  await startMeter();
  const answers = sockets.map(settled);
  sockets.forEach((socket, n) => {
    const packets = Array.from({ length: each }, (_, index) =>
      packet({
        ...{ cmd: 'publish', topic, payload: `${n * each + index}`, messageId: index + 1 },
        ...{ qos: 2, dup: false, retain: false },
      }),
    );
    socket.write(Buffer.concat(packets));
  });
  const bytes = await Promise.all(answers);
  for (const socket of sockets) socket.destroy();
  return `${bytes.reduce((sum, one) => sum + one, 0)} bytes answered`;
}

/** Packets of some 40 bytes, a byte in each write. */
async function drip(port: number, clients: number, bytesEach: number): Promise<string> {
  const sockets = await mqttClients(port, clients);
  await startMeter();
  const one = packet({
    ...{ cmd: 'publish', topic, payload: '1.5', messageId: 1 },
    ...{ qos: 0, dup: false, retain: false },
  });
  for (let at = 0; at < bytesEach; at += 1) {
    const index = at % one.length;
    for (const socket of sockets) socket.write(one.subarray(index, index + 1));
    if (at % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await wait(500);
  for (const socket of sockets) socket.destroy();
  return `${bytesEach} bytes each`;
}

/** Requests whose answers nobody reads, then a reset of all connections at once. */
async function resetKept(port: number, count: number, text: string): Promise<string> {
  const sockets = await Promise.all(Array.from({ length: count }, () => open(port)));
  for (const socket of sockets) {
    socket.pause();
    socket.write(text);
  }
  await wait(1_000);
  await startMeter();
  for (const socket of sockets) socket.resetAndDestroy();
  await wait(700);
  return 'reset';
}

let startMeter = async (): Promise<void> => undefined;

function csv(bytes: number, written: (n: number) => string): string {
  const lines = ['timestamp,value'];
  for (let n = 0, length = 0; length < bytes - 60; n += 1) {
    lines.push(`${new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()},${written(n)}`);
    length += (lines.at(-1)?.length ?? 0) + 1;
  }
  return lines.join('\n');
}

type Cases = Readonly<Record<string, () => Promise<unknown>>>;

function burstsTo(port: number, mqttPort: number): Cases {
  const readOne = request('GET', '/api/v2/devices/d');
  const readValue = request('GET', '/api/v2/devices/d/sensors/s/values?limit=1');
  const push = request('POST', '/api/v2/devices/d/sensors/s/value', '{"value": 1.5}');
  return {
    'reads, 60 pipelined on each of 50 connections': () => burst(port, 50, readOne.repeat(60)),
    'reads of values, 60 on each of 50': () => burst(port, 50, readValue.repeat(60)),
    'pushes, 60 pipelined on each of 50 connections': () => burst(port, 50, push.repeat(60)),
    'QoS 2, 100 publishes of each of 100 clients': () => publishBurst(mqttPort, 100, 100),
    'QoS 2, 250 publishes of each of 100 clients': () => publishBurst(mqttPort, 100, 250),
    'MQTT byte by byte, 50 clients': () => drip(mqttPort, 50, 2_000),
    '300 kept requests reset': () => resetKept(port, 300, readOne.repeat(60)),
    '300 kept pushes reset': () => resetKept(port, 300, push.repeat(60)),
    '300 kept reads of values reset': () => resetKept(port, 300, readValue.repeat(60)),
  };
}

type Call = (
  method: string,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  type?: string,
  more?: object,
) => Promise<string>;

function bodiesBy(call: Call, withToken: object): Cases {
  const lines = gzipSync(repeated('m,device=d s=1.5\n', 60 * mebibyte));
  const values = '/api/v2/devices/d/sensors/s/values';
  const long = 8 * mebibyte - 200;
  const bulkBytes = 1_046_000;
  const keys = (field: string, one: string) =>
    `{"name":"k","${field}":[${repeated(`${one},`, bulkBytes)}${one}]}`;
  return {
    'gzip of 60 MiB of line protocol': () =>
      call('POST', '/write?db=d', lines, 'text/plain', {
        'content-encoding': 'gzip',
        ...withToken,
      }),
    'CSV of 8 MiB': () =>
      call(
        'POST',
        values,
        csv(long, (n) => `${n}`),
        'text/csv',
      ),
    'CSV of 8 MiB, texts': () =>
      call(
        'POST',
        values,
        csv(long, (n) => `"a ""${n}"`),
        'text/csv',
      ),
    'CSV of 8 MiB, values alone': () =>
      call('POST', values, `value\n${repeated('1\n', long)}`, 'text/csv'),
    'CSV of 8 MiB, broken cells': () =>
      call('POST', values, `timestamp,value\n${repeated('x,1\n', long)}`, 'text/csv'),
    'CSV of a record of commas': () => call('POST', values, repeated(',', 2_000_000), 'text/csv'),
    'CSV of a record of commas behind a name': () =>
      call('POST', values, `value\n1${repeated(',', 2_000_000)}`, 'text/csv'),
    'CSV of a record of quotes': () =>
      call('POST', values, `"${repeated('""', 2_000_000)}`, 'text/csv'),
    'bulk, an array of numbers': () =>
      call('POST', '/api/v2/sensors_data', `[${repeated('1,', long)}1]`),
    'bulk, an array of numbers of 60 MiB': () =>
      call('POST', '/api/v2/sensors_data', `[${repeated('1,', 60 * mebibyte)}1]`),
    'keys, many scopes': () =>
      call('POST', '/api/v2/auth/keys', keys('scopes', '"x"'), undefined, withToken),
    'keys, many devices': () =>
      call('POST', '/api/v2/auth/keys', keys('devices', '"x"'), undefined, withToken),
  };
}

async function main(): Promise<void> {
  await using service = await startMetered(directory, profiles);
  const { holds } = service;
  const port = Number(new URL(service.url).port);
  const mqttPort = Number(new URL(service.mqttUrl).port);
  const call: Call = async (method, path, body, type = 'application/json', more = {}) => {
    const headers = { 'content-type': type, ...more };
    const answer = await fetch(`${service.url}${path}`, { method, body, headers });
    return `${answer.status} ${(await answer.text()).slice(0, 60)}`;
  };
  await call('POST', '/api/v2/devices', '{"id":"d","sensors":[{"id":"s"}]}');
  await call('POST', '/api/v2/devices/d/sensors/s/value', '{"value":1}');
  const login = JSON.stringify({ username: 'fresh', password: 'a fresh password' });
  await call('POST', '/api/v2/users', login);
  const token = await (
    await fetch(`${service.url}/api/v2/auth/token`, {
      ...{ method: 'POST', body: login, headers: { 'content-type': 'application/json' } },
    })
  ).text();
  const withToken = { authorization: `Bearer ${token}` };
  startMeter = async () => void (await holds());
  const cases = { ...burstsTo(port, mqttPort), ...bodiesBy(call, withToken) };
  console.log('worked  p99.9   held longest collection (all)   took  ms');
  for (const [name, work] of Object.entries(cases)) {
    if (!name.includes(part)) continue;
    for (let time = 0; time < Number(times); time += 1) {
      await holds();
      const startedAt = performance.now();
      const answer = await work();
      const ms = performance.now() - startedAt;
      await wait(300);
      const seen = await holds();
      const { workedMax, workedP999, max, collectedMax, collected } = seen;
      const numbers = [workedMax, workedP999, max, collectedMax, collected, ms];
      const told = numbers.map((one) => one.toFixed(1).padStart(6));
      console.log(`${told.join(' ')}  ${name}: ${String(answer)}`);
    }
  }
  // Its profiles are written when it ends by itself.
  service.kill('SIGTERM');
  await service.exited;
}

try {
  await main();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
