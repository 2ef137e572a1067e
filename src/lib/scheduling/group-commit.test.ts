import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGroupCommit, type GroupCommitOptions } from './group-commit.ts';

/** A group whose commits are finished by hand, and a diary of what happened. */
function aGroup(
  options: Partial<
    Pick<GroupCommitOptions<string, string>, 'queueWeightMax' | 'payerWeightMax' | 'gatherPart'>
  > = {},
) {
  const diary: string[] = [];
  const commits: { readonly finish: () => void; readonly fail: () => void }[] = [];
  const group = createGroupCommit<string, string, string>({
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
    payerOf: (item) => (/[A-Z]/.exec(item) ?? [''])[0],
    queueWeightMax: options.queueWeightMax ?? 100,
    payerWeightMax: options.payerWeightMax ?? 100,
    payerWeightFloor: 1,
    gatherPart: options.gatherPart,
    refusal: (full) => new Error(`the ${full} is full`),
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

test('a batch waits for callers of the one before, where others wait', async () => {
  const { group, diary, add, nextCommit } = aGroup({ gatherPart: 1_000 });
  void add('a').then(() => add('c'));
  const first = await nextCommit();
  void add('b');
  first.finish();
  const second = await nextCommit();
  assert.deepEqual(diary, ['commit a', 'A', 'commit bc']);
  second.finish();
  await group.drain();
});

test('a batch whose callers do not come again keeps nobody waiting for long', async () => {
  const { group, diary, add, nextCommit } = aGroup({ gatherPart: 1_000_000 });
  void add('a');
  const first = await nextCommit();
  void add('b');
  first.finish();
  (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(diary, ['commit a', 'A', 'commit b', 'B']);
});

test('a batch that is full waits for nobody', async () => {
  const { group, diary, add, nextCommit } = aGroup({ gatherPart: 1_000 });
  void add('a');
  const first = await nextCommit();
  void add('bbb');
  first.finish();
  (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(diary, ['commit a', 'commit bbb', 'A', 'BBB']);
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

test('payers take turns: who brings little does not wait for all that others brought', async () => {
  const { diary, add, nextCommit } = aGroup();
  void add('first');
  const first = await nextCommit();
  for (const item of ['Aa', 'Ab', 'Ac', 'Ad', 'Ae']) void add(item);
  void add('B');
  first.finish();
  (await nextCommit()).finish();
  const leftWith = diary.findIndex((line) => line.startsWith('commit') && line.includes('B'));
  assert.ok(leftWith >= 0 && leftWith <= 2, diary.join());
});

test('a heavy item leaves after the light ones of others, and alone', async () => {
  const { group, diary, add, nextCommit } = aGroup();
  void add('first');
  const first = await nextCommit();
  for (const item of ['Aheavy', 'Cheavy', 'b', 'd']) void add(item);
  first.finish();
  for (let at = 0; at < 3; at += 1) (await nextCommit()).finish();
  await group.drain();
  assert.deepEqual(
    diary.filter((line) => line.startsWith('commit')),
    ['commit first', 'commit bd', 'commit Aheavy', 'commit Cheavy'],
  );
});

test('a heavy item is not put off for ever by light ones', async () => {
  const { diary, add, nextCommit } = aGroup();
  void add('first');
  let commit = await nextCommit();
  void add('Aheavy');
  for (let round = 0; round < 20; round += 1) {
    void add('Bb');
    commit.finish();
    commit = await nextCommit();
  }
  assert.ok(diary.includes('commit Aheavy'), diary.join());
});

test('a full payer refuses its own alone; a full queue lets in who brings little', async () => {
  const { diary, add, nextCommit } = aGroup({ queueWeightMax: 8, payerWeightMax: 4 });
  void add('first');
  await nextCommit();
  void add('Aaaa');
  await add('Ab');
  assert.equal(diary.at(-1), 'Ab: the payer is full');
  void add('Bbbb');
  await add('Cc');
  assert.equal(diary.at(-1), 'Cc: the queue is full');
  let isRefused = false;
  void add('D').then(() => {
    isRefused = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isRefused, false);
});

test('what waits elsewhere counts in its payer and in the queue until it is let go', async () => {
  const { group, diary, add, nextCommit } = aGroup({ queueWeightMax: 8, payerWeightMax: 4 });
  const release = group.hold('Aaaa');
  assert.throws(() => group.hold('Ab'), /the payer is full/);
  await add('Ab');
  assert.equal(diary.at(-1), 'Ab: the payer is full');
  const releaseOther = group.hold('Bbbb');
  await add('Cc');
  assert.equal(diary.at(-1), 'Cc: the queue is full');
  release();
  releaseOther();
  const added = add('Aaaa');
  (await nextCommit()).finish();
  await added;
  assert.equal(diary.at(-1), 'AAAA');
});

/** A group whose commits are `commit`, with the limits of each test. */
const anOpenGroup = <Item extends string | number>(
  options: Pick<GroupCommitOptions<Item, Item>, 'commit' | 'batchWeightMax'> &
    Partial<GroupCommitOptions<Item, Item>>,
) =>
  createGroupCommit<Item, Item>({
    weigh: () => 1,
    payerOf: String,
    queueWeightMax: 1_000,
    payerWeightMax: 1_000,
    payerWeightFloor: 1,
    gatherPart: options.gatherPart,
    refusal: (full) => new Error(`the ${full} is full`),
    ...options,
  });

test('a batch has so many items at most, and payers alternate in it', async () => {
  const batches: string[] = [];
  const group = anOpenGroup<string>({
    commit: async (batch) => {
      batches.push(batch.join(''));
      return batch;
    },
    batchWeightMax: 1_000,
    batchItemsMax: 16,
  });
  for (let n = 0; n < 40; n += 1) void group.add('A');
  void group.add('B');
  await group.drain();
  assert.ok(
    batches.every(({ length }) => length <= 16),
    batches.join(),
  );
  assert.equal(batches.join('').length, 41);
  assert.ok(batches[0]?.includes('B'), batches.join());
});

test('batches that come back at once leave the event loop its turn', async (t) => {
  // Each reading of the clock is a little later.
  let now = performance.now();
  t.mock.method(performance, 'now', () => (now += 1));
  let answered = 0;
  const group = anOpenGroup<number>({
    commit: (batch) => Promise.resolve(batch),
    settle(item, { resolve }) {
      answered += 1;
      resolve(item);
    },
    batchWeightMax: 1,
    payerOf: () => 'A',
  });
  const outcomes = Array.from({ length: 100 }, (_, n) => group.add(n));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.ok(answered > 0 && answered < 50, `${answered} in one turn`);
  assert.deepEqual(
    await Promise.all(outcomes),
    outcomes.map((_, n) => n),
  );
});
