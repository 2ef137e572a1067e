import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { generate } from 'mqtt-packet';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';
import { connectPacket, manyTimes } from './raw-mqtt.ts';
import { residentMebibytes } from './unread.ts';

const grownMebibytesMax = 300;
const kibibyte = 1_024;
const messageBytes = 8 * kibibyte * kibibyte;

/** The head of a masked binary frame that announces a message of 8 MiB; its mask is nothing. */
function frameHead(): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x82;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(messageBytes), 2);
  return head;
}

/** Waits for an event, or for the end of the connection: a reset is what an attacker expects. */
async function told(socket: Socket, event: string): Promise<void> {
  await Promise.race([once(socket, event), once(socket, 'close')]).catch(() => undefined);
}

/** Opens a WebSocket by hand, so that frames may end wherever they like. */
async function openWebSocket(world: Neighbourhood, localAddress = '127.0.0.1'): Promise<Socket> {
  const { hostname, port } = new URL(world.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, localAddress });
  socket.on('error', () => undefined);
  socket.write(
    'GET /mqtt HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n' +
      'sec-websocket-protocol: mqtt\r\n\r\n',
  );
  await told(socket, 'data');
  socket.resume();
  return socket;
}

test('200 messages of 8 MiB over WebSockets that never end take their share alone', async () => {
  await using world = await startNeighbourhood();
  const before = residentMebibytes(world.process.pid);
  const sockets: Socket[] = [];
  const piece = Buffer.alloc(kibibyte * kibibyte - kibibyte);
  await world.attack(async () => {
    await manyTimes(200, async () => {
      const socket = await openWebSocket(world);
      sockets.push(socket);
      socket.write(frameHead());
      for (let count = 0; count < 8 && !socket.destroyed; count += 1) {
        if (!socket.write(piece)) await told(socket, 'drain');
      }
    });
  });
  const grown = residentMebibytes(world.process.pid) - before;
  for (const socket of sockets) socket.destroy();
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held for unfinished messages`);
});

/** Each byte in a masked binary frame of its own. */
const inTinyFrames = (bytes: Uint8Array): Buffer =>
  Buffer.concat([...bytes].map((byte) => Buffer.from([0x82, 0x81, 0, 0, 0, 0, byte])));

test('frames of a byte over 300 WebSockets of 150 addresses keep nobody waiting', async (t) => {
  await using world = await startNeighbourhood();
  const pings = inTinyFrames(Buffer.concat(Array.from({ length: 2_000 }, () => ping)));
  let bytes = 0;
  const waits = await world.attack(async () => {
    const end = performance.now() + 6_000;
    const guest = async (index: number): Promise<void> => {
      const socket = await openWebSocket(world, `127.0.1.${1 + (index % 150)}`);
      const hello = connectPacket({ clientId: `tiny-${index}`, clean: true });
      socket.write(inTinyFrames(generate(hello, { protocolVersion: 5 })));
      while (performance.now() < end && !socket.destroyed) {
        bytes += pings.length;
        const left = setTimeout(Math.max(0, end - performance.now()));
        if (!socket.write(pings)) await Promise.race([told(socket, 'drain'), left]);
      }
      socket.destroy();
    };
    await Promise.all(Array.from({ length: 300 }, (_, index) => guest(index)));
  });
  t.diagnostic(`longest waits in ms: ${JSON.stringify(waits)}; ${bytes} bytes were sent`);
});

const ping = Buffer.from([0xc0, 0]);
