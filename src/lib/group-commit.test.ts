import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGroupCommit } from './group-commit.ts';

/** A group whose commits are finished by hand, and a diary of what happened. */
function aGroup(options: { readonly queueWeightMax?: number } = {}) {
  const diary: string[] = [];
  const commits: { readonly finish: () => void; readonly fail: () => void }[] = [];
  const group = createGroupCommit<string, string>({
    commit(batch) {
      diary.push(`commit ${batch.join('')}`);
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      commits.push({
        finish: () => resolve(batch.map((item) => item.toUpperCase())),
        fail: () => reject(new Error('the disk is full')),
      });
      return promise;
    },
    weigh: (item) => item.length,
    batchWeightMax: 3,
    queueWeightMax: options.queueWeightMax ?? 100,
    refusal: () => new Error('the queue is full'),
  });
  const add = (item: string) =>
    group.add(item).then(
      (outcome) => diary.push(outcome),
      (error: Error) => diary.push(`${item}: ${error.message}`),
    );
  const nextCommit = async () => {
    while (commits.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return commits.shift() ?? assert.fail();
  };
  return { group, diary, add, nextCommit };
}

test('callers of one turn share a commit, and get their outcomes in order', async () => {
  const { group, diary, add, nextCommit } = aGroup();
  for (const item of ['a', 'b', 'c']) void add(item);
  (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(diary, ['commit abc', 'A', 'B', 'C']);
});

test('the next batch leaves before the callers of the one before are answered', async () => {
  const { group, diary, add, nextCommit } = aGroup();
  void add('a');
  const first = await nextCommit();
  for (const item of ['b', 'c', 'dd']) void add(item);
  first.finish();
  (await nextCommit()).finish();
  (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(diary, ['commit a', 'commit bc', 'A', 'commit dd', 'B', 'C', 'DD']);
});

test('a commit that fails refuses its own callers, and not those after it', async () => {
  const { group, diary, add, nextCommit } = aGroup();
  void add('a');
  const first = await nextCommit();
  void add('b');
  first.fail();
  (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(diary, ['commit a', 'commit b', 'a: the disk is full', 'B']);
});

test('what is heavier than a batch travels alone, and a full queue refuses', async () => {
  const { group, diary, add, nextCommit } = aGroup({ queueWeightMax: 6 });
  void add('aaaaa');
  void add('b');
  await add('c');
  (await nextCommit()).finish();
  (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(diary, ['c: the queue is full', 'commit aaaaa', 'commit b', 'AAAAA', 'B']);
});
