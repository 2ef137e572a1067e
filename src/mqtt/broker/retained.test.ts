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
