import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatchedQueries } from './batched-queries.ts';

/** Queries that end when the test says. */
function createStage(limits = { keysMax: 3, underWayMax: 1 }) {
  const looks: { keys: readonly string[]; end: PromiseWithResolvers<Map<string, string>> }[] = [];
  const ask = createBatchedQueries<string, string>((keys) => {
    const end = Promise.withResolvers<Map<string, string>>();
    looks.push({ keys, end });
    return end.promise;
  }, limits);
  const endEvaluation = async (at: number, said: string): Promise<void> => {
    const { keys = [], end } = looks[at] ?? {};
    end?.resolve(new Map(keys.filter((key) => key !== 'none').map((key) => [key, key + said])));
    await new Promise(setImmediate);
  };
  return { ask, endEvaluation, keysOf: () => looks.map(({ keys }) => keys), looks };
}

test('the first goes at once, those that come meanwhile together, so many at a time', async () => {
  const { ask, endEvaluation, keysOf } = createStage();
  const asked = ['a', 'b', 'none', 'c', 'd'].map(ask);
  assert.deepEqual(keysOf(), [['a']]);
  await endEvaluation(0, '1');
  assert.deepEqual(keysOf(), [['a'], ['b', 'none', 'c']]);
  await endEvaluation(1, '2');
  await endEvaluation(2, '3');
  assert.deepEqual(keysOf().at(-1), ['d']);
  assert.deepEqual(await Promise.all(asked), ['a1', 'b2', undefined, 'c2', 'd3']);
});

test('who asks while the same is looked for gets the answer of a later look', async () => {
  const { ask, endEvaluation, keysOf } = createStage();
  const before = ask('a');
  const [after, beside] = [ask('a'), ask('a')];
  await endEvaluation(0, ' before');
  await endEvaluation(1, ' after');
  assert.deepEqual(keysOf(), [['a'], ['a']]);
  assert.deepEqual(await Promise.all([before, after, beside]), ['a before', 'a after', 'a after']);
});

test('several are under way at once, and one that fails fails those in it alone', async () => {
  const { ask, endEvaluation, looks } = createStage({ keysMax: 3, underWayMax: 2 });
  const [first, second, third] = ['a', 'b', 'c'].map(ask);
  assert.equal(looks.length, 2);
  looks[0]?.end.reject(new Error('the connection is lost'));
  await assert.rejects(first ?? Promise.resolve(), /the connection is lost/);
  await endEvaluation(1, '1');
  await endEvaluation(2, '2');
  assert.deepEqual(await Promise.all([second, third]), ['b1', 'c2']);
});
