import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';
import { residentMebibytes, walMebibytes } from './unread.ts';

const grownMebibytesMax = 300;
const walMebibytesMax = 64;

/** Waits for the event, or for the end of the connection. */
function happens(socket: Socket, event: 'connect' | 'drain'): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    socket.once(event, () => resolve());
    socket.once('close', () => resolve());
  });
}

/** A connection whose end is nobody's error. */
async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('error', () => undefined);
  await happens(socket, 'connect');
  return socket;
}

const chunkedHead = (path: string, type: string): string =>
  `POST /api/v2${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n` +
  'transfer-encoding: chunked\r\n\r\n';

const chunked: readonly string[] = [
  chunkedHead('/devices/d/sensors/t/values', 'application/json'),
  chunkedHead('/sensors_data', 'application/x-ndjson'),
  `${chunkedHead('/sensors_data', 'application/json')}1\r\n[\r\n`,
  chunkedHead('/devices', 'application/json').replace('POST', 'GET'),
];

/** A body of 1 MB, each byte a chunk of its own, in which nothing ever ends. */
async function sendTinyChunks(url: string, head: string): Promise<void> {
  const socket = await open(url);
  socket.write(`${head}1\r\n"\r\n`);
  const many = Buffer.from('1\r\nx\r\n'.repeat(5_000));
  for (let sent = 0; sent < 1_000_000 && !socket.destroyed; sent += 5_000) {
    if (!socket.write(many)) await happens(socket, 'drain');
  }
}

test('24 bodies in chunks of one byte take neither memory nor time', async () => {
  await using town = await startNeighbourhood();
  const before = residentMebibytes(town.process.pid);
  await town.attack(async () => {
    const senders = Array.from({ length: 24 }, async (_, index) => {
      // Not all in the same instant: this process writes them, too.
      await sleep(index * 100);
      await sendTinyChunks(town.url, chunked[index % chunked.length] ?? '');
    });
    await Promise.all(senders);
    await sleep(2_000);
  });
  const grown = residentMebibytes(town.process.pid) - before;
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held for chunks of a byte`);
});

const upgradeHead =
  'GET /mqtt HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
  'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
  'sec-websocket-protocol: mqtt\r\n\r\n';

/** What is sent at once, and what is sent of it byte by byte. */
const slowSenders = (town: Neighbourhood): readonly (readonly [string, string, Buffer])[] => [
  [town.url, '', Buffer.from(`GET /api/v2/devices?${'a'.repeat(500)}`)],
  [
    town.url,
    'POST /api/v2/devices HTTP/1.1\r\nhost: a\r\ncontent-length: 8000000\r\n' +
      'content-type: application/json\r\n\r\n',
    Buffer.alloc(500, '['),
  ],
  [town.url, chunkedHead('/sensors_data', 'application/x-ndjson'), Buffer.alloc(500, '1\r\n{\r\n')],
  [town.mqttUrl, '', Buffer.from(`\x10\xff\x7f\x00\x04MQTT${'\x00'.repeat(500)}`, 'latin1')],
  [town.url, upgradeHead, Buffer.from(`\x82\xfe\x7f\xff${'\x00'.repeat(500)}`, 'latin1')],
];

async function sendSlowly(index: number, town: Neighbourhood): Promise<Socket> {
  const senders = slowSenders(town);
  const [url, atOnce, slowly] = senders[index % senders.length] ?? [town.url, '', Buffer.of()];
  const socket = await open(url);
  socket.write(atOnce);
  let at = 0;
  const drip = setInterval(() => {
    if (socket.destroyed || at >= slowly.length) clearInterval(drip);
    else socket.write(slowly.subarray(at, ++at));
  }, 1_000);
  socket.once('close', () => clearInterval(drip));
  return socket;
}

async function readSlowly(town: Neighbourhood, path: string): Promise<Socket> {
  const socket = await open(town.url);
  socket.write(`GET /api/v2${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  const sip = setInterval(() => socket.read(1), 1_000);
  socket.once('close', () => clearInterval(sip));
  return socket;
}

/** A public device whose one sensor has 24 MB of texts. */
async function furnish(town: Neighbourhood): Promise<void> {
  const token = await town.tokenOf('eve');
  const json = { id: 'eve-drops', sensors: [{ id: 's' }] };
  assert.equal((await town.call({ method: 'POST', path: '/devices', token, json })).status, 204);
  for (let part = 0; part < 4; part += 1) {
    const values = Array.from({ length: 100 }, (_, index) => ({
      timestamp: new Date(Date.now() - 1_000 * (100 * part + index)).toISOString(),
      value: `${part}-${index}`.padEnd(60_000, 'x'),
    }));
    const path = '/devices/eve-drops/sensors/s/values';
    const pushed = await town.call({ method: 'POST', path, token, json: values });
    assert.equal(pushed.status, 204, pushed.text);
  }
}

const largeReads = [
  '/devices/eve-drops/sensors/s/values?limit=1000000',
  '/devices/eve-drops/sensors/s/values?limit=1000000&format=csv',
  '/sensors_data?device_id=eve-drops&limit=1000000',
  '/devices/eve-drops/export',
];

test('2,000 connections that give or take a byte a second hold little', async () => {
  await using town = await startNeighbourhood();
  await furnish(town);
  const before = residentMebibytes(town.process.pid);
  const sockets: Socket[] = [];
  await town.attack(async () => {
    await manyTimes(2_000, async (index) => {
      const path = largeReads[index % largeReads.length] ?? '';
      sockets.push(await (index % 2 ? readSlowly(town, path) : sendSlowly(index / 2, town)));
    });
    await sleep(12_000);
  });
  const grown = residentMebibytes(town.process.pid) - before;
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held for those who drip`);
  const wal = walMebibytes(town.directory);
  assert.ok(wal <= walMebibytesMax, `the log of the database has ${wal} MiB: a read holds it`);
  for (const socket of sockets) socket.destroy();
});
