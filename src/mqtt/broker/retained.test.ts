import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import { createRetainedMessages } from './retained.ts';

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
