import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { createRetainedDelivery, createRetainedMessages } from './retained.ts';
import type { Session } from './session.ts';

test('a filter that includes nothing is looked for in pieces, and brings what it includes', () => {
  const retained = createRetainedMessages({
    journal: { add() {} } as never,
    budgets: createBudgets(),
    clock: { now: () => 0 },
  });
  for (let at = 0; at < 2_000; at += 1) {
    const topic = `d/${at >> 3}/${at & 7}/y`;
    retained.restore({ topic, payload: Buffer.from('1'), qos: 0, retain: true });
  }
  const found = [...retained.find('d/+/+/z')];
  assert.ok(found.length > 100, `${found.length} pieces`);
  assert.ok(found.every((message) => message === undefined));
  const topics = [...retained.find('d/7/+/y')].flatMap((message) => message?.topic ?? []);
  assert.deepEqual(
    topics,
    Array.from({ length: 8 }, (_, at) => `d/7/${at}/y`),
  );
});

test('what is below a device that went is found no more, and is freed a message at a time', () => {
  const freed: string[] = [];
  const retained = createRetainedMessages({
    journal: { add: ({ topic }: { topic: string }) => freed.push(topic) } as never,
    budgets: createBudgets(),
    clock: { now: () => 0 },
  });
  const put = (topic: string) =>
    retained.restore({ topic, payload: Buffer.from('1'), qos: 0, retain: true });
  for (let at = 0; at < 100; at += 1) put(`devices/a/x/${at}`);
  put('devices/ab/x');
  const steps = retained.forgetBelow('devices/a/');
  steps.next();
  assert.ok(freed.length <= 1, `${freed.length} in one step`);
  assert.deepEqual([...retained.find('devices/a/#')], []);
  // The id is taken again before all is freed.
  put('devices/a/x/99');
  while (steps.next().done !== true);
  assert.equal(retained.of('devices/a/x/99')?.topic, 'devices/a/x/99');
  assert.ok(!freed.includes('devices/a/x/99'));
  assert.equal(freed.length, 99);
  assert.equal(retained.size, 2);
});

const clock = { now: () => 0 };
const subscription = { filter: 'd/t', qos: 1, identifier: 0 } as Subscription;

/** Retained messages on d/t, a session that gets them, and a log that is read on demand. */
function open() {
  const retained = createRetainedMessages({
    ...{ journal: { add() {} } as never, budgets: createBudgets(), clock },
  });
  const retain = (text: string) =>
    retained.restore({ topic: 'd/t', payload: Buffer.from(text), qos: 1, retain: true });
  const offered: string[] = [];
  const outbound = {
    offer: (_: unknown, { message }: { message: { payload: Uint8Array } }) =>
      void offered.push(String(message.payload)),
  };
  const looks: (() => void)[] = [];
  const delivery = createRetainedDelivery({
    ...{ retained, outbound: outbound as never, clock },
    heard: () => new Promise((resolve) => void looks.push(resolve)),
  });
  // Only the fields that the delivery reads.
  const session = { payer: 'p', link: { writer: { waitingBytes: 0 } } } as unknown as Session;
  const settle = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { retain, offered, looks, delivery, session, settle };
}

test('no retained message is delivered before messages of other processes were read', async () => {
  const { retain, offered, looks, delivery, session, settle } = open();
  retain('old');
  delivery.start(session, subscription);
  await settle();
  assert.deepEqual(offered, []);
  retain('new');
  looks[0]?.();
  await settle();
  assert.deepEqual(offered, ['new']);
});

test('who subscribes again waits for one more look, and who left for none', async () => {
  const { retain, offered, looks, delivery, session, settle } = open();
  retain('old');
  delivery.start(session, subscription);
  await settle();
  for (let again = 0; again < 100; again += 1) delivery.start(session, { ...subscription });
  assert.equal(looks.length, 1, 'looks under way');
  looks[0]?.();
  await settle();
  assert.deepEqual(offered, []);
  retain('new');
  looks[1]?.();
  await settle();
  assert.deepEqual([offered, looks.length], [['new'], 2]);
  delivery.start(session, subscription);
  delivery.stop(session, subscription.filter);
  looks[2]?.();
  await settle();
  assert.deepEqual([offered, looks.length], [['new'], 3]);
});
