import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBroker } from './open-broker.ts';
import { connectPackets } from './packet-client.ts';
import { describePacket, readPayload } from './sequence-payload.ts';

/** Sends the bytes on a connection of their own; answers what came until it was closed. */
async function exchange(port: number, words: readonly string[]): Promise<string[]> {
  const client = await connectPackets(port);
  for (const text of words) client.send(readPayload(text));
  const answers: string[] = [];
  for (let packet = await client.receive(); ; packet = await client.receive()) {
    if (packet === undefined) return answers;
    answers.push(describePacket(packet));
  }
}

const connect4 = "10 r13 s4 'MQTT' 04 02 k10 s1 'p'";
const connect5 = "10 r14 s4 'MQTT' 05 02 k10 v0 s1 'p'";

test('packets that broke other brokers end their connection, and only that', async () => {
  await using open = await openBroker();
  const witness = await connectPackets(open.port);
  witness.send(readPayload("10 r13 s4 'MQTT' 04 02 k10 s1 'w'"));
  assert.equal(describePacket((await witness.receive()) ?? Buffer.alloc(2)), 'CONNACK 0');
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['a topic of length 0', [connect5, '30 r3 s0 00'], ['CONNACK 0', 'DISCONNECT 81']],
    ['a CONNACK from a client', [connect5, '20 r3 00 00 00'], ['CONNACK 0', 'DISCONNECT 82']],
    ['256 MB before CONNECT', ['30 ff ff ff 7f'], []],
    ['256 MB of CONNECT', ['10 ff ff ff 7f'], []],
    [
      'a wrong type among will properties',
      ["10 r20 s4 'MQTT' 05 06 k10 v0 s1 'p' 02 21 0a s0 s0"],
      ['CONNACK 81'],
    ],
    ['a second CONNECT', [connect5, connect5], ['CONNACK 0', 'DISCONNECT 82']],
    ['a list of filters that is cut off', [connect4, '82 r4 m1 s5'], ['CONNACK 0']],
    [
      'bytes after CONNECT that are none',
      [connect4, '62 02 d3 01 e0 02 00 20'],
      ['CONNACK 0', 'PUBCOMP 0'],
    ],
    ['AUTH out of nowhere', [connect5, 'f0 r2 18 00'], ['CONNACK 0', 'DISCONNECT 82']],
    ['a packet of type 0', [connect5, '00 r0'], ['CONNACK 0', 'DISCONNECT 81']],
    ['no MQTT at all', ["'GET / HTTP/1.1' 0d0a0d0a"], []],
  ];
  for (const [name, words, expected] of cases) {
    assert.deepEqual(await exchange(open.port, words), expected, name);
  }
  witness.send(Buffer.from([0xc0, 0]));
  assert.equal(describePacket((await witness.receive()) ?? Buffer.alloc(2)), 'PINGRESP');
  assert.equal(open.broker.metrics().connections, 1);
  witness.close();
});

test('a topic that starts with a dollar is refused, and a # brings none of it', async () => {
  await using open = await openBroker();
  const client = await connectPackets(open.port);
  client.send(readPayload(connect5));
  client.send(readPayload("82 r7 m1 v0 s1 '#' 00"));
  client.send(readPayload("32 r13 s7 '$aws/x/' m2 v0 'y'"));
  const answers: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    answers.push(describePacket((await client.receive()) ?? Buffer.alloc(2)));
  }
  assert.deepEqual(answers, ['CONNACK 0', 'SUBACK 0', 'PUBACK 87']);
  client.close();
});

test('a thousand messages of QoS 2 with one id are answered and held nowhere', async () => {
  await using open = await openBroker();
  const client = await connectPackets(open.port);
  client.send(readPayload(connect4));
  await client.receive();
  const one = readPayload("34 r8 s1 't' m1 'abc'");
  client.send(Buffer.concat(Array.from({ length: 1_000 }, () => one)));
  for (let count = 0; count < 1_000; count += 1) {
    assert.equal(describePacket((await client.receive()) ?? Buffer.alloc(2)), 'PUBREC 0');
  }
  assert.equal(open.broker.metrics().queuedMessages, 0);
  client.close();
});

test('packets may arrive byte by byte, or all at once', async () => {
  await using open = await openBroker();
  const bytes = Buffer.concat(
    [connect4, "82 r6 m1 s1 't' 00", "32 r8 s1 't' m2 'abc'"].map((text) => readPayload(text)),
  );
  const expected = ['CONNACK 0', 'SUBACK 0', 'PUBLISH', 'PUBACK 0'];
  for (const size of [1, bytes.length]) {
    const client = await connectPackets(open.port);
    for (let at = 0; at < bytes.length; at += size) client.send(bytes.subarray(at, at + size));
    const answers: string[] = [];
    while (answers.length < expected.length) {
      answers.push(describePacket((await client.receive()) ?? Buffer.alloc(2)));
    }
    assert.deepEqual(answers.sort(), [...expected].sort());
    // By itself: whoever says goodbye before a PUBACK waits for none.
    client.send(readPayload('e0 r0'));
    assert.equal(await client.receive(), undefined);
  }
});
