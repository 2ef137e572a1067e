import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { createRetainedMessages } from './retained.ts';
import { createRetainedDelivery } from './retained-backlog.ts';
import type { Session } from './session.ts';

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

test('nothing retained is told before the others are heard', async () => {
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
