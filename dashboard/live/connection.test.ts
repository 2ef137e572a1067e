import assert from 'node:assert/strict';
import { test } from 'node:test';
import mqtt, { type Packet } from 'mqtt-packet';
import {
  type Connection,
  type ConnectionState,
  openConnection,
  retryDelayMs,
  type SocketEvents,
} from './connection.ts';
import { createHandTimers } from './hand-timers.ts';
import { liveLimits } from './live-limits.ts';

/** A service made of an independent codec, one socket at a time. */
function createStage() {
  const timers = createHandTimers();
  const sockets: { events: SocketEvents; sent: Packet[]; isClosed: boolean }[] = [];
  const states: ConnectionState[] = [];
  const messages: [topic: string, payload: string][] = [];
  let tokens = 0;
  const connection: Connection = openConnection({
    timers,
    random: () => 0.5,
    credentials: async () => {
      tokens += 1;
      return { username: 'ama', token: `token-${tokens}` };
    },
    openSocket: (events) => {
      const socket = { events, sent: [] as Packet[], isClosed: false };
      const parser = mqtt.parser({ protocolVersion: 4 });
      parser.on('packet', (packet) => socket.sent.push(packet));
      sockets.push(socket);
      return {
        send: (bytes) => void parser.parse(Buffer.from(bytes)),
        close: () => {
          socket.isClosed = true;
        },
      };
    },
    onMessage: (topic, payload) => messages.push([topic, new TextDecoder().decode(payload)]),
    onState: (state) => states.push(state),
  });
  const current = () => {
    const socket = sockets.at(-1);
    assert.ok(socket !== undefined);
    return socket;
  };
  const answer = (packet: Packet): void => current().events.received(mqtt.generate(packet));
  const accept = async (): Promise<void> => {
    // Credentials come by a promise.
    await new Promise((resolve) => setImmediate(resolve));
    current().events.opened();
    answer({ cmd: 'connack', returnCode: 0, sessionPresent: false });
  };
  return { timers, sockets, states, messages, connection, current, answer, accept };
}

test('connects with the name and token, and says when it is live', async () => {
  const { accept, current, states } = createStage();
  await accept();
  const [connect] = current().sent;
  assert.ok(connect?.cmd === 'connect');
  assert.equal(connect.username, 'ama');
  assert.equal(connect.password?.toString(), 'token-1');
  assert.deepEqual(states, ['connecting', 'live']);
});

test('subscribes once for many subscribers, and again after a loss', async () => {
  const { accept, connection, current, timers, sockets } = createStage();
  connection.subscribe('a');
  await accept();
  connection.subscribe('a');
  connection.subscribe('b');
  connection.unsubscribe('a');
  const topics = () =>
    current().sent.flatMap((packet) =>
      packet.cmd === 'subscribe' ? packet.subscriptions.map(({ topic }) => topic) : [],
    );
  assert.deepEqual(topics(), ['a', 'b']);
  current().events.closed();
  timers.advance(liveLimits.retryMsMin);
  await accept();
  assert.equal(sockets.length, 2);
  assert.deepEqual(topics(), ['a', 'b']);
  connection.unsubscribe('a');
  assert.ok(current().sent.some(({ cmd }) => cmd === 'unsubscribe'));
});

test('asks for credentials before every attempt, so that an ended token is renewed', async () => {
  const { accept, current, timers } = createStage();
  await accept();
  current().events.closed();
  timers.advance(liveLimits.retryMsMin);
  await accept();
  const [connect] = current().sent;
  assert.ok(connect?.cmd === 'connect');
  assert.equal(connect.password?.toString(), 'token-2');
});

test('hands messages over and publishes while it is live', async () => {
  const { accept, answer, connection, current, messages } = createStage();
  assert.equal(connection.publish('a', '1'), false);
  await accept();
  answer({ cmd: 'publish', topic: 'a', payload: 'hi', qos: 0, dup: false, retain: false });
  assert.deepEqual(messages, [['a', 'hi']]);
  assert.equal(connection.publish('b', '{"value":1}'), true);
  const last = current().sent.at(-1);
  assert.ok(last?.cmd === 'publish' && last.payload.toString() === '{"value":1}');
});

test('pauses longer after each failure, says offline, and never stops trying', async () => {
  const { states, sockets, timers } = createStage();
  for (let failed = 1; failed <= 8; failed += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(sockets.length, failed);
    sockets.at(-1)?.events.closed();
    timers.advance(retryDelayMs(failed, () => 0.5) - 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(sockets.length, failed, 'not before the pause is over');
    timers.advance(1);
  }
  assert.equal(states.at(-1), 'offline');
  assert.equal(
    retryDelayMs(50, () => 1),
    60_000,
  );
  assert.ok(retryDelayMs(3, () => 0) < retryDelayMs(3, () => 1));
});

test('asks after silence, and gives up a service that does not answer', async () => {
  const { accept, answer, current, timers, states } = createStage();
  await accept();
  timers.advance(liveLimits.keepAliveSeconds * 1000);
  assert.equal(current().sent.at(-1)?.cmd, 'pingreq');
  answer({ cmd: 'pingresp' });
  timers.advance(liveLimits.answerMsMax);
  assert.equal(states.at(-1), 'live');
  timers.advance(liveLimits.keepAliveSeconds * 1000);
  timers.advance(liveLimits.answerMsMax);
  assert.equal(states.at(-1), 'connecting');
  assert.equal(current().isClosed, true);
});

test('a refused login, a door that stays shut and garbage are failures, not crashes', async () => {
  for (const fault of ['refused', 'silent', 'garbage'] as const) {
    const { answer, current, states, timers } = createStage();
    await new Promise((resolve) => setImmediate(resolve));
    current().events.opened();
    if (fault === 'refused') answer({ cmd: 'connack', returnCode: 4, sessionPresent: false });
    if (fault === 'silent') timers.advance(liveLimits.answerMsMax);
    if (fault === 'garbage') current().events.received(Uint8Array.of(0xf0, 0));
    assert.equal(current().isClosed, true, fault);
    assert.ok(!states.includes('live'), fault);
  }
});

test('when told that the network is back it tries at once', async () => {
  const { connection, sockets, timers } = createStage();
  await new Promise((resolve) => setImmediate(resolve));
  sockets.at(-1)?.events.closed();
  connection.reconnect();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sockets.length, 2);
  timers.advance(liveLimits.retryMsMax);
  await new Promise((resolve) => setImmediate(resolve));
  // The second one got no answer in time, so there is a third one; the first pause is forgotten.
  assert.equal(sockets.length, 3);
});

test('a closed connection stays closed', async () => {
  const { accept, connection, current, sockets, timers } = createStage();
  await accept();
  connection.close();
  assert.equal(current().sent.at(-1)?.cmd, 'disconnect');
  timers.advance(liveLimits.retryMsMax * 2);
  connection.reconnect();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sockets.length, 1);
});
