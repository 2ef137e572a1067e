import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payer } from '../domain/budgets/budget.ts';
import {
  type ColumnBatch,
  toColumnBatch,
  toDatapoints,
} from '../domain/datapoints/column-batch.ts';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { FeedEvent, FeedListener } from '../domain/datapoints/feed.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import { parseActuatorId, parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { PublishContext } from '../domain/publish-context.ts';
import { yieldToEventLoop } from '../lib/event-loop.ts';
import { parseJson } from '../lib/json.ts';
import type { Broker } from './broker.ts';
import { deliverEvent, deliverLive, MqttPublishContext } from './deliveries.ts';
import { mqttLimits } from './limits.ts';

const sensor = { deviceId: parseDeviceId('d'), sensorId: parseSensorId('s') };

/** A stored push, with what it waits for before it is answered. */
function stored(batch: ColumnBatch, publishContext?: PublishContext) {
  const held: Promise<void>[] = [];
  const event: FeedEvent = {
    ...{ kind: 'datapoints', ...sensor, batch, datapoints: toDatapoints(batch) },
    ...(publishContext !== undefined && { publishContext }),
    holdAnswer: (work) => void held.push(work),
  };
  return { event, held };
}

/** A broker where every topic has a subscriber, and each message takes a while. */
function openBroker(onDeliver: () => void = () => undefined) {
  const told: Message[] = [];
  const waiting: (() => void)[] = [];
  const behind = new Set<Payer>();
  const broker: Pick<Broker, 'deliver' | 'hasSubscribers' | 'hasAnySubscriber' | 'renewRetained'> &
    Pick<Broker, 'isBehind' | 'turnOf'> = {
    deliver(messages) {
      told.push(...messages);
      onDeliver();
    },
    hasSubscribers: () => true,
    hasAnySubscriber: () => true,
    renewRetained: () => undefined,
    isBehind: (payer) => behind.has(payer),
    turnOf: () => new Promise((resolve) => waiting.push(resolve)),
  };
  let listener: FeedListener = () => undefined;
  const watch = {
    open(one: FeedListener) {
      listener = one;
      return () => undefined;
    },
  };
  deliverLive(watch as unknown as Watch, broker as Broker);
  return { broker, told, behind, waiting, publish: (...events: FeedEvent[]) => listener(events) };
}

const numbers = (count: number): ColumnBatch =>
  toColumnBatch(Array.from({ length: count }, (_, value) => ({ value, receivedAt: 7 })));

const texts = (told: readonly Message[]): string[] =>
  told.map(({ topic, payload }) => `${topic} ${Buffer.from(payload)}`);

/** Uses the processor for a while, so that a slice is over at some time. */
function work(): void {
  for (const end = performance.now() + 0.05; performance.now() < end; );
}

test('a long push is handed on as a short one is, published or pushed over HTTP', async () => {
  const values = ['1.5', '-0', '"ä\\n"', '{"a":[1]}', '12345678901234567890', 'null', 'false'];
  const datapoints: Datapoint[] = Array.from({ length: 300 }, (_, at) => ({
    ...{ value: parseJson(values[at % values.length] ?? ''), receivedAt: 1_000 },
    ...(at % 3 > 0 && { timestamp: 86_400_000 * at }),
  }));
  const batch = toColumnBatch(datapoints);
  const message = {
    topic: 't',
    payload: Buffer.from('[as it was]'),
    qos: 1,
    retain: true,
  } as const;
  const contexts = [300, 301].map(
    (count) =>
      new MqttPublishContext(message, {
        form: 'array',
        datapoints: Array.from({ length: count }, () => ({ value: 1 })),
      }),
  );
  for (const context of [undefined, ...contexts]) {
    const { event, held } = stored(batch, context);
    const inSlices = openBroker();
    inSlices.publish(event);
    await Promise.all(held);
    const inOneGo = openBroker();
    const { kind, deviceId, sensorId } = event as Extract<FeedEvent, { kind: 'datapoints' }>;
    const short = { kind, deviceId, sensorId, datapoints };
    deliverEvent(inOneGo.broker, context ? { ...short, publishContext: context } : short);
    assert.equal(inSlices.told.length, 301);
    assert.deepEqual(texts(inSlices.told), texts(inOneGo.told));
    const terms = (told: readonly Message[]) =>
      told.map(({ qos, retain, receivedAt }) => ({ qos, retain, receivedAt }));
    assert.deepEqual(terms(inSlices.told), terms(inOneGo.told));
  }
});

test('while a long push is handed on others have their turn, and its sensor waits', async () => {
  const { told, publish } = openBroker(work);
  const long = stored(numbers(5_000));
  const behind = stored(numbers(1));
  publish(long.event);
  const begun = told.length;
  assert.ok(begun > 0 && begun < 1_000, `${begun} were handed on in one go`);
  publish(behind.event);
  assert.equal(told.length, begun);
  assert.deepEqual([long.held.length, behind.held.length], [1, 1]);
  // Other sensors wait for nothing.
  publish({ ...sensor, kind: 'datapoints', sensorId: parseSensorId('t'), datapoints: [] });
  assert.equal(told.length, begun + 1);
  await long.held[0];
  const ofLong = texts(told).filter((text) => !text.startsWith('devices/d/sensors/t/'));
  const one = (value: number): string => `{"value":${value}}`;
  const all = Array.from({ length: 5_000 }, (_, value) => one(value));
  assert.deepEqual(ofLong, [
    ...all.slice(-1_000).map((text) => `devices/d/sensors/s/value ${text}`),
    `devices/d/sensors/s/values [${all.join()}]`,
  ]);
  await behind.held[0];
  assert.deepEqual(texts(told).slice(-2), [
    `devices/d/sensors/s/value ${one(0)}`,
    `devices/d/sensors/s/values [${one(0)}]`,
  ]);
  // Nothing is under way any more.
  await yieldToEventLoop();
  const later = stored(numbers(1));
  publish(later.event);
  assert.deepEqual([texts(told).length, later.held.length], [1_001 + 1 + 2 + 2, 0]);
});

test('pushes of who had much handed on wait for the turn of their payer, in order', async () => {
  const { told, behind, waiting, publish } = openBroker();
  const payer = 'address/10.0.0.1';
  const of = (value: number, by: Payer, sensorId = sensor.sensorId) => {
    const one = stored(toColumnBatch([{ value, receivedAt: 7 }]));
    return { ...one, event: { ...one.event, payer: by, sensorId } as FeedEvent };
  };
  behind.add(payer);
  const [first, second] = [of(1, payer), of(2, payer)];
  publish(first.event, second.event);
  assert.deepEqual([told.length, first.held.length, second.held.length], [0, 1, 1]);
  publish(of(3, 'account/1', parseSensorId('t')).event);
  assert.deepEqual(texts(told), [
    'devices/d/sensors/t/value {"value":3}',
    'devices/d/sensors/t/values [{"value":3}]',
  ]);
  assert.deepEqual(new Set(told.map((message) => message.payer)), new Set(['account/1']));
  for (const { held } of [first, second]) {
    await yieldToEventLoop();
    waiting.shift()?.();
    await held[0];
  }
  assert.deepEqual(
    texts(told).filter((text) => text.includes('/s/value ')),
    ['devices/d/sensors/s/value {"value":1}', 'devices/d/sensors/s/value {"value":2}'],
  );
});

test('properties count for each datapoint that they come with', async () => {
  const { told, publish } = openBroker(work);
  const properties = Buffer.alloc(30_000);
  const message = { topic: 't', payload: Buffer.from('[]'), qos: 0, retain: false } as const;
  const context = new MqttPublishContext(
    { ...message, properties },
    { form: 'array', datapoints: [] },
  );
  const { event, held } = stored(numbers(60), context);
  publish(event);
  assert.equal(held.length, 1, 'it is handed on in slices');
  await held[0];
  assert.equal(told.length, 61);
});

test('settings of who had much handed on wait for a turn, and the newest are kept', async () => {
  const { told, behind, waiting, publish } = openBroker();
  const payer = 'address/10.0.0.1';
  behind.add(payer);
  const setting = (value: number, by: Payer | undefined, actuator = 'a'): FeedEvent => {
    const message = { topic: 't', payload: Buffer.from(''), qos: 0, retain: false } as const;
    const sent = { ...message, ...(by !== undefined && { payer: by }) };
    const publishContext = new MqttPublishContext(sent, { form: 'bare', datapoints: [] });
    const actuatorId = parseActuatorId(actuator);
    return { kind: 'actuator', deviceId: sensor.deviceId, actuatorId, value, publishContext };
  };
  const most = mqttLimits.settingsWaitingPerTopicMax;
  publish(...Array.from({ length: most + 5 }, (_, at) => setting(at, payer)));
  // In order, although its own payer could go on.
  publish(setting(1_000, 'account/1'));
  publish(setting(7, 'account/1', 'b'));
  assert.deepEqual(texts(told), ['devices/d/actuators/b/value 7']);
  for (let at = 0; at < most + 10; at += 1) {
    await yieldToEventLoop();
    waiting.shift()?.();
  }
  await yieldToEventLoop();
  const ofA = texts(told).slice(1);
  assert.equal(ofA.length, most);
  assert.equal(ofA.at(-1), 'devices/d/actuators/a/value 1000');
  publish(setting(8, 'account/1'));
  assert.equal(texts(told).at(-1), 'devices/d/actuators/a/value 8', 'nothing waits any more');
});
