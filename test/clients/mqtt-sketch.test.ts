import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeDevice } from '../mqtt/mqtt-clients.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { type MqttSketch, openSketch, type SketchOptions } from './mqtt-sketch.ts';

let service: Service;

before(async () => {
  service = await startService();
  const parts = { sensors: ['TC1', 'TC2'], actuators: ['led'] };
  await makeDevice(service, 'ama', 'board', { visibility: 'private', ...parts });
  await makeDevice(service, 'guest', 'open', parts);
});

after(() => service[Symbol.asyncDispose]());

const ama = { username: 'ama', password: passwordOf('ama') };

const sketch = (options: Partial<SketchOptions> = {}): Promise<MqttSketch> =>
  openSketch({ url: service.mqttUrl, clientId: 'ESP8266Client-1a2b', ...options });

async function valuesOf(path: string): Promise<readonly unknown[]> {
  const { json } = await service.as('ama')({ path: `/devices/${path}/values` });
  return (json as { value: unknown }[]).map(({ value }) => value);
}

const topic = 'devices/board/sensors/TC1/value';

test('a sketch pushes bare numbers with QoS 0 and sees them come back', async () => {
  using board = await sketch(ama);
  assert.equal(board.state, 0);
  assert.equal(await board.subscribe('devices/board/sensors/+/value'), 0);
  board.publish(topic, '25');
  assert.deepEqual(await board.message(), [topic, '{"value":25}']);
  await board.loop();
  board.publish(topic, '25.50');
  assert.deepEqual(await board.message(), [topic, '{"value":25.5}']);
  board.publish(topic, '{"value":"26"}');
  assert.deepEqual(await board.message(), [topic, '{"value":"26"}']);
  assert.deepEqual(await valuesOf('board/sensors/TC1'), [25, 25.5, '26']);
  board.disconnect();
  assert.equal(await board.isClosed(), true);
});

const clientIds = [
  'ESP8266Client-&?#+/<>',
  'arduino client 7 (garage)',
  'é°C 温度 🌡',
  '24:6F:28:AE:52:7C',
  'a'.repeat(100),
  'devices/board',
  '',
];

for (const clientId of clientIds) {
  test(`a sketch may call itself "${clientId.slice(0, 30)}"`, async () => {
    using board = await sketch({ ...ama, clientId });
    assert.equal(board.state, 0);
    const path = 'board/sensors/TC2';
    await board.subscribe(`devices/${path}/value`);
    board.publish(`devices/${path}/value`, JSON.stringify(clientId));
    await board.message();
    assert.equal((await valuesOf(path)).at(-1), clientId);
  });
}

test('a sketch without a login pushes to what belongs to nobody', async () => {
  using board = await sketch();
  assert.equal(board.state, 0);
  const open = 'devices/open/sensors/TC1/value';
  await board.subscribe(open);
  board.publish(open, '25');
  assert.deepEqual(await board.message(), [open, '{"value":25}']);
});

test('a sketch with a wrong password reads a code and is not let in', async () => {
  using board = await sketch({ username: 'ama', password: 'wrong' });
  assert.ok([4, 5].includes(board.state), `code ${board.state}`);
  assert.equal(await board.isClosed(), true);
});

test('a sketch that publishes nonsense keeps its connection, and what follows counts', async () => {
  using board = await sketch(ama);
  await board.subscribe('devices/open/#');
  const before = (await valuesOf('open/sensors/TC2')).length;
  const nonsense: readonly (readonly [string, string])[] = [
    ['temperature', '25'],
    ['devices/none/sensors/TC1/value', '25'],
    ['devices/open/sensors/none/value', '25'],
    ['devices/open/sensors/TC2/value', ''],
    ['devices/open/sensors/TC2/value', '{"value":'],
    ['devices/open/sensors/TC2/value', '{"temperature":25}'],
    ['/devices/open/sensors/TC2/value', '25'],
  ];
  for (const [place, payload] of nonsense) board.publish(place, payload);
  await board.loop();
  board.publish('devices/open/sensors/TC2/value', '1');
  assert.deepEqual(await board.message(), ['devices/open/sensors/TC2/value', '{"value":1}']);
  assert.equal((await valuesOf('open/sensors/TC2')).length, before + 1);
});

test('a sketch switches its lamp by what an app sets over HTTP', async () => {
  using board = await sketch(ama);
  const lamp = 'devices/board/actuators/led/value';
  await board.subscribe(lamp);
  for (const [value, payload] of [
    [1, '1'],
    [true, 'true'],
    ['on', '"on"'],
  ] as const) {
    await service.as('ama')({ method: 'PUT', path: `/${lamp}`, json: value });
    assert.deepEqual(await board.message(), [lamp, payload]);
  }
});

test('a board that loses its power leaves its last words as a value', async () => {
  using watcher = await sketch({ ...ama, clientId: 'watcher' });
  await watcher.subscribe(topic);
  const board = await sketch({ ...ama, clientId: 'board', will: { topic, payload: '"off"' } });
  board[Symbol.dispose]();
  assert.deepEqual(await watcher.message(), [topic, '{"value":"off"}']);
  assert.equal((await valuesOf('board/sensors/TC1')).at(-1), 'off');
});

test('a board that starts again takes over from itself', async () => {
  using first = await sketch(ama);
  using second = await sketch(ama);
  assert.equal(await first.isClosed(), true);
  await second.loop();
  assert.equal(second.state, 0);
});
