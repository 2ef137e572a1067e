// In a process of its own: it measures the heap.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { after, before, test } from 'node:test';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { createRandom, type Random } from '../fuzz/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { type Service, startService } from '../service.ts';
import { type Client, connect, makeDevice } from './mqtt-clients.ts';

/** For longer with KIPIMO_TEST_FUZZ_MINUTES=5. */
const minutes = Number(process.env['KIPIMO_TEST_FUZZ_MINUTES'] ?? 0);
const streamsMin = 400;
const atOnce = 20;
/** What is sent must not stay behind; garbage of the test itself comes and goes. */
const heapGrowthBytesMax = 128 * 1024 * 1024;

const topic = 'devices/d/sensors/t/value';
let service: Service;
let watcher: Client;

before(async () => {
  service = await startService();
  await makeDevice(service, 'guest', 'd', { sensors: ['t', 'sentinel'] });
  watcher = await connect(service);
  await watcher.subscribe('devices/d/sensors/sentinel/value');
});

after(async () => {
  await watcher[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** A conversation as a client may have it. */
function validStream(random: Random['below']): readonly Buffer[] {
  const protocolVersion = random(2) === 0 ? 4 : 5;
  const payload = Buffer.from('{"value": 1}');
  const publish = { cmd: 'publish', topic, payload, dup: false, retain: false } as const;
  const packets: readonly Packet[] = [
    {
      cmd: 'connect',
      ...{ protocolId: 'MQTT', protocolVersion, clientId: `f${random(8)}`, clean: random(2) === 0 },
      keepalive: 10,
      will: { topic, payload, qos: 1, retain: false },
    },
    { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 2 }] },
    { ...publish, qos: 1, messageId: 2 },
    { ...publish, qos: 2, messageId: 3 },
    { cmd: 'pubrel', messageId: 3 },
    { ...publish, qos: 0, retain: true },
    { cmd: 'pubrec', messageId: 1 },
    { cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['#'] },
    { cmd: 'pingreq' },
    { cmd: 'disconnect' },
  ];
  return packets.map((packet) => mqttPacket.generate(packet, { protocolVersion }));
}

/** Changes, repeats, leaves out and cuts; CONNECT is spared more often than not. */
function mutated(packets: readonly Buffer[], random: Random['below']): Buffer {
  const list = packets.map((packet) => Buffer.from(packet));
  const changes = 1 + random(4);
  for (let change = 0; change < changes; change += 1) {
    const index = random(4) === 0 ? 0 : random(list.length);
    const packet = list[index];
    if (packet === undefined || packet.length === 0) continue;
    const at = random(packet.length);
    if (random(3) > 0) packet[at] = random(256);
    else if (random(2) === 0) list[index] = packet.subarray(0, at);
    else list.splice(random(list.length + 1), 0, packet);
  }
  return Buffer.concat(list);
}

async function send(bytes: Buffer): Promise<void> {
  const port = Number(new URL(service.mqttUrl).port);
  const socket = connectSocket({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  // Resets are an end like any other.
  socket.on('error', () => undefined);
  socket.resume();
  socket.end(bytes);
  await once(socket, 'close');
}

async function sendRound(seed: number): Promise<void> {
  const streams = Array.from({ length: atOnce }, (_, index) => {
    const random = createRandom(seed + index).below;
    return mutated(validStream(random), random);
  });
  await Promise.all(streams.map(send));
}

test('streams that are broken in any way end, and disturb nobody else', async (context) => {
  context.diagnostic(`FUZZ_SEED=${fuzzSeed}`);
  await sendRound(fuzzSeed);
  const heapBefore = process.memoryUsage().heapUsed;
  const until = Date.now() + minutes * 60_000;
  let sent = 0;
  while (sent < streamsMin || Date.now() < until) {
    await sendRound(fuzzSeed + atOnce + sent);
    sent += atOnce;
    await watcher.publish('devices/d/sensors/sentinel/value', { value: sent });
  }
  const last = await watcher.got(sent / atOnce);
  assert.equal(last.at(-1)?.payload, JSON.stringify({ value: sent }), `after ${sent} streams`);
  const growth = process.memoryUsage().heapUsed - heapBefore;
  assert.ok(growth < heapGrowthBytesMax, `the heap grew by ${growth} bytes`);
  const { text } = await service.as('admin')({ path: '//metrics' });
  assert.match(text, /^kipimo_mqtt_connections 1$/m);
});
