// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Packet } from 'mqtt-packet';
import { noPostgres, postgresOfTests } from '../postgres-schemas.ts';
import { fieldOf, type MemberProcess } from './member-processes.ts';
import { connectPeer, type Peer } from './mqtt-peer.ts';

const patienceMs = 10_000;

async function until(isTrue: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < giveUpAt, what());
    await wait(20);
  }
}

/** A client whose session is kept; it answers what it gets unless told to keep quiet. */
interface Client {
  readonly peer: Peer;
  /** Values with QoS 1 and 2, in the order in which they came; of QoS 2 when they were released. */
  readonly got: number[];
  /** As they arrive, with those that come again. */
  readonly arrivals: number[];
  /** Reason codes of DISCONNECT. */
  readonly ended: (number | undefined)[];
  isQuiet: boolean;
}

const topic = 'devices/field/sensors/s/value';

/** What of exactly-once messages a client keeps over its connections. */
type Held = Map<number, number>;

async function connect(
  { running }: MemberProcess,
  token: string,
  { clientId = 'c', held = new Map<number, number>(), isQuiet = false } = {},
): Promise<Client> {
  const client = { got: [], arrivals: [], ended: [], isQuiet } as unknown as Client & {
    peer: Peer;
  };
  const packets: Packet[] = [];
  const take = (packet: Packet): void => answer(client, held, packet);
  client.peer = await connectPeer({
    ...{ url: running.url, clientId, version: 5, username: 'x', password: token },
    onPacket: (packet) => (client.peer === undefined ? packets.push(packet) : take(packet)),
  });
  for (const packet of packets) take(packet);
  return client;
}

function answer(client: Client, held: Held, packet: Packet): void {
  const { peer } = client;
  if (packet.cmd === 'disconnect') client.ended.push(packet.reasonCode);
  if (packet.cmd === 'publish') {
    const { value } = JSON.parse(String(packet.payload)) as { value: number };
    client.arrivals.push(value);
    if (packet.qos === 2) held.set(packet.messageId ?? 0, value);
    else client.got.push(value);
    if (client.isQuiet) return;
    const cmd = packet.qos === 2 ? 'pubrec' : 'puback';
    peer.send({ cmd, messageId: packet.messageId ?? 0 });
  }
  if (packet.cmd === 'pubrel') {
    const value = held.get(packet.messageId ?? 0);
    if (value !== undefined) client.got.push(value);
    held.delete(packet.messageId ?? 0);
    if (!client.isQuiet) peer.send({ cmd: 'pubcomp', messageId: packet.messageId ?? 0 });
  }
}

async function subscribe(client: Client, filter: string, qos: 1 | 2): Promise<void> {
  client.peer.send({
    ...{ cmd: 'subscribe', messageId: 1 },
    subscriptions: [{ topic: filter, qos }],
  });
  await wait(300);
}

/** Publishes these values one after the other; each is acknowledged. */
async function publish(
  { running }: MemberProcess,
  token: string,
  { from, to, qos, on = topic }: { from: number; to: number; qos: 1 | 2; on?: string },
): Promise<void> {
  const { connectAsync } = (await import('mqtt')).default;
  const publisher = await connectAsync(running.mqttUrl, { username: 'x', password: token });
  for (let value = from; value < to; value += 1) {
    await publisher.publishAsync(on, JSON.stringify({ value }), { qos });
  }
  await publisher.endAsync();
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

const field = async (schema: string) => fieldOf(await postgresOfTests(), schema);

describe('MQTT sessions of processes that share a database', { skip: noPostgres }, () => {
  const goesOn = (qos: 1 | 2) => async () => {
    const { one, other, ama } = await field(`session_moves_${qos}`);
    await using _one = one;
    await using _other = other;
    const held: Held = new Map();
    const first = await connect(one, ama, { held });
    await subscribe(first, topic, qos);
    await publish(other, ama, { from: 0, to: 5, qos });
    await publish(one, ama, { from: 5, to: 10, qos });
    await until(
      () => first.got.length === 10,
      () => `got ${first.got}`,
    );
    first.isQuiet = true;
    await publish(one, ama, { from: 10, to: 13, qos });
    await publish(other, ama, { from: 13, to: 16, qos });
    await until(
      () => first.arrivals.length === 16,
      () => `it arrived: ${first.arrivals}`,
    );
    const second = await connect(other, ama, { held });
    assert.ok(second.peer.isSessionPresent);
    await first.peer.closed;
    assert.deepEqual(first.ended, [0x8e]);
    await publish(one, ama, { from: 16, to: 20, qos });
    await publish(other, ama, { from: 20, to: 24, qos });
    const expected = range(10, 24);
    await until(
      () => second.got.length >= expected.length,
      () => `the second got ${second.got}`,
    );
    await wait(500);
    assert.deepEqual(
      second.got.toSorted((a, b) => a - b),
      expected,
    );
    await second.peer.end();
  };
  test('a client goes on at another process with QoS 1, each once', goesOn(1));
  test('a client goes on at another process with QoS 2, each once', goesOn(2));

  test('what is under way with QoS 2 when a process is killed arrives once', async () => {
    const { one, other, ama } = await field('session_killed');
    await using _one = one;
    await using _other = other;
    const held: Held = new Map();
    const first = await connect(one, ama, { held });
    await subscribe(first, topic, 2);
    await publish(one, ama, { from: 0, to: 5, qos: 2 });
    await publish(other, ama, { from: 5, to: 10, qos: 2 });
    await until(
      () => first.got.length === 10,
      () => `got ${first.got}`,
    );
    first.isQuiet = true;
    await publish(other, ama, { from: 10, to: 13, qos: 2 });
    await until(
      () => first.arrivals.length === 13,
      () => `it arrived: ${first.arrivals}`,
    );
    one.running.kill('SIGKILL');
    await publish(other, ama, { from: 13, to: 16, qos: 2 });
    // Nobody has noticed that the process is gone: it is asked for the session, in vain.
    const second = await connect(other, ama, { held });
    assert.ok(second.peer.isSessionPresent);
    await publish(other, ama, { from: 16, to: 20, qos: 2 });
    await until(
      () => second.got.length >= 10,
      () => `the second got ${second.got}`,
    );
    await wait(500);
    assert.deepEqual(second.got, range(10, 20));
    await second.peer.end();
  });

  test('what a client sends again with QoS 2 to another process was sent once', async () => {
    const { one, other, ama } = await field('session_sends');
    await using _one = one;
    await using _other = other;
    const listener = await connect(other, ama, { clientId: 'listener' });
    await subscribe(listener, topic, 2);
    const answers: string[] = [];
    const open = ({ running }: MemberProcess) =>
      connectPeer({
        ...{ url: running.url, clientId: 'sender', version: 5, username: 'x', password: ama },
        onPacket: ({ cmd }) => answers.push(cmd),
      });
    const packet = { cmd: 'publish', topic, qos: 2, messageId: 7, retain: false } as const;
    const payload = JSON.stringify({ value: 1 });
    const here = await open(one);
    here.send({ ...packet, payload, dup: false });
    await until(
      () => answers.includes('pubrec'),
      () => `it was answered ${answers}`,
    );
    answers.length = 0;
    const there = await open(other);
    assert.ok(there.isSessionPresent);
    there.send({ ...packet, payload, dup: true });
    there.send({ cmd: 'pubrel', messageId: 7 });
    await until(
      () => answers.includes('pubcomp'),
      () => `it was answered ${answers}`,
    );
    await wait(500);
    assert.deepEqual(listener.got, [1]);
    const { json } = await one.call({ path: '/devices/field/sensors/s/values', token: ama });
    assert.equal((json as unknown[]).length, 1);
    await Promise.all([there.end(), listener.peer.end()]);
  });

  test('what is published after a process was killed waits for its clients', async () => {
    const { one, other, ama } = await field('session_heirs');
    await using _one = one;
    await using _other = other;
    const first = await connect(one, ama);
    await subscribe(first, topic, 1);
    await publish(one, ama, { from: 0, to: 3, qos: 1 });
    await until(
      () => first.got.length === 3,
      () => `got ${first.got}`,
    );
    await first.peer.end();
    await publish(other, ama, { from: 3, to: 6, qos: 1 });
    one.running.kill('SIGKILL');
    // One by one, until the other has adopted the session and after that.
    const endAt = performance.now() + 9_000;
    let count = 6;
    while (performance.now() < endAt) {
      await publish(other, ama, { from: count, to: count + 1, qos: 1 });
      count += 1;
      await wait(100);
    }
    const second = await connect(other, ama);
    assert.ok(second.peer.isSessionPresent);
    await until(
      () => second.got.length >= count - 3,
      () => `the second got ${second.got} of ${count}`,
    );
    await wait(300);
    assert.deepEqual(second.got, range(3, count));
    await second.peer.end();
  });
});

describe('what processes that share a database keep of MQTT besides', { skip: noPostgres }, () => {
  test('what is retained at one process is there for who subscribes at the other', async () => {
    const { one, other, ama } = await field('session_retained');
    await using _one = one;
    await using _other = other;
    const { connectAsync } = (await import('mqtt')).default;
    const login = { username: 'x', password: ama };
    const here = await connectAsync(one.running.mqttUrl, login);
    const there = await connectAsync(other.running.mqttUrl, login);
    const heard: string[] = [];
    there.on('message', (on, payload, { retain }) => heard.push(`${on} ${payload} ${retain}`));
    const tunnel = 'devices/field/tunnel';
    try {
      for (let round = 0; round < 5; round += 1) {
        await here.publishAsync(tunnel, `${round}`, { qos: 1, retain: true });
        await there.subscribeAsync(tunnel, { qos: 1 });
        await until(
          () => heard.includes(`${tunnel} ${round} true`),
          () => `round ${round}: it heard ${heard}`,
        );
        await there.unsubscribeAsync(tunnel);
      }
      // Whoever is there gets it as it comes, and the last one to retain is right everywhere.
      await there.subscribeAsync('devices/field/#', { qos: 1 });
      await here.publishAsync(tunnel, 'live', { qos: 1 });
      await until(
        () => heard.includes(`${tunnel} live false`),
        () => `it heard ${heard}`,
      );
      await there.publishAsync(tunnel, 'last', { qos: 1, retain: true });
      const late: string[] = [];
      here.on('message', (_, payload) => late.push(String(payload)));
      await here.subscribeAsync(tunnel, { qos: 1 });
      await until(
        () => late.length > 0,
        () => 'nothing was retained',
      );
      assert.deepEqual(late, ['last']);
      await here.publishAsync(tunnel, '', { qos: 1, retain: true });
      heard.length = 0;
      await there.unsubscribeAsync('devices/field/#');
      await there.subscribeAsync(tunnel, { qos: 1 });
      await wait(500);
      assert.deepEqual(
        heard.filter((text) => text.endsWith('true')),
        [],
      );
    } finally {
      await Promise.all([here.endAsync(true), there.endAsync(true)]);
    }
  });

  test('a gateway that is connected to one process is seen at the other', async () => {
    const { one, other, ama } = await field('session_presence');
    await using _one = one;
    await using _other = other;
    const json = { id: 'gw' };
    await one.call({ method: 'POST', path: '/gateways', token: ama, json });
    const isConnected = async () => {
      const { json: seen } = await other.call({ path: '/gateways/gw', token: ama });
      return (seen as { connected: boolean }).connected;
    };
    const { connectAsync } = (await import('mqtt')).default;
    const login = { username: 'x', password: ama, clientId: 'gw', reconnectPeriod: 0 };
    const first = await connectAsync(one.running.mqttUrl, login);
    await until(isConnected, () => 'it never connected');
    await first.endAsync();
    await until(
      async () => !(await isConnected()),
      () => 'it never left',
    );
    const second = await connectAsync(one.running.mqttUrl, login);
    second.on('error', () => undefined);
    await until(isConnected, () => 'it never came back');
    one.running.kill('SIGKILL');
    await until(
      async () => !(await isConnected()),
      () => 'it is still connected to a process that was killed',
    );
  });

  test('the last will of a client comes once, also when its process was killed', async () => {
    const { one, other, ama } = await field('session_wills');
    await using _one = one;
    await using _other = other;
    const { connectAsync } = (await import('mqtt')).default;
    const login = { username: 'x', password: ama, reconnectPeriod: 0 };
    const heard: string[] = [];
    const there = await connectAsync(other.running.mqttUrl, login);
    there.on('message', (_, payload) => heard.push(String(payload)));
    await there.subscribeAsync('devices/field/#', { qos: 1 });
    const leave = (clientId: string) =>
      connectAsync(one.running.mqttUrl, {
        ...{ ...login, clientId },
        will: {
          topic: 'devices/field/gone',
          payload: Buffer.from(clientId),
          qos: 1,
          retain: false,
        },
      });
    try {
      const polite = await leave('polite');
      const dropped = await leave('dropped');
      const killed = await leave('killed');
      for (const client of [polite, dropped, killed]) client.on('error', () => undefined);
      await polite.endAsync();
      dropped.stream.destroy();
      await until(
        () => heard.length === 1,
        () => `it heard ${heard}`,
      );
      one.running.kill('SIGKILL');
      await until(
        () => heard.length === 2,
        () => `it heard ${heard}`,
      );
      await wait(2_000);
      assert.deepEqual(heard, ['dropped', 'killed']);
    } finally {
      await there.endAsync(true);
    }
  });
});
