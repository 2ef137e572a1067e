import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOfEach, PayerQueues } from './payer-queues.ts';

test('payers alternate, an item waits once, and the size is that of what waits', () => {
  const queues = new PayerQueues<string>();
  for (const item of ['a1', 'a2', 'a1', 'a3']) queues.push('ann', item);
  queues.push('ben', 'b1');
  assert.deepEqual([queues.size, queues.countOf('ann'), queues.countOf('ben')], [4, 3, 1]);
  queues.remove('ann', 'a2');
  queues.remove('ann', 'a2');
  const order: unknown[] = [];
  while (queues.size > 0) order.push(queues.shift());
  assert.deepEqual([order, queues.shift(), queues.size], [['a1', 'b1', 'a3'], undefined, 0]);
});

test('a payer that is served out of turn goes behind the others', () => {
  const queues = new PayerQueues<string>();
  for (const name of ['ann', 'ben', 'cem']) for (const at of [1, 2]) queues.push(name, name + at);
  assert.equal(queues.shift('ben'), 'ben1');
  assert.equal(queues.shift('nobody'), undefined);
  assert.deepEqual([queues.shift(), queues.shift(), queues.shift()], ['ann1', 'cem1', 'ben2']);
});

test('the first of each list come, then the second of each, as many as are wanted', () => {
  const lists = [['a1', 'a2', 'a3'], ['b1'], [], ['c1', 'c2']];
  assert.deepEqual(oneOfEach(lists, 4), ['a1', 'b1', 'c1', 'a2']);
  assert.deepEqual(oneOfEach(lists, 99), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});
