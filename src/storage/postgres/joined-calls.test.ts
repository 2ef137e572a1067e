import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../domain/errors.ts';
import { createJoinedCalls } from './batched-queries.ts';
import type { Work, WriteSession } from './writer.ts';

/** Commits that begin when the test says; the session is never used. */
function createStage(work: (items: readonly string[]) => readonly string[]) {
  const begins: (() => void)[] = [];
  const writer = {
    call: async <Answer>(run: Work<Answer>): Promise<Answer> => {
      await new Promise<void>((resolve) => begins.push(resolve));
      return run({} as WriteSession);
    },
  };
  const groups: string[][] = [];
  const ask = createJoinedCalls<string, string>(
    writer,
    async (_, items) => {
      groups.push([...items]);
      return work(items);
    },
    3,
  );
  const begin = async (): Promise<void> => {
    for (const resolve of begins.splice(0)) resolve();
    await new Promise(setImmediate);
  };
  return { ask, begin, groups };
}

test('who comes before the commit begins is in it, so many at a time', async () => {
  const { ask, begin, groups } = createStage((items) => items.map((item) => `${item} done`));
  const first = ['a', 'b', 'c', 'd'].map(ask);
  await begin();
  const second = ask('e');
  await begin();
  assert.deepEqual(groups, [['a', 'b', 'c'], ['d'], ['e']]);
  assert.deepEqual(await Promise.all([...first, second]), [
    ...['a done', 'b done', 'c done', 'd done', 'e done'],
  ]);
});

test('what cannot be stored fails alone', async () => {
  const { ask, begin, groups } = createStage((items) => {
    if (items.includes('bad')) throw new Error('it cannot be stored');
    return items;
  });
  const [good, bad] = await Promise.all([
    ...[Promise.allSettled([ask('good'), ask('bad')]), begin().then(begin)],
  ]).then(([settled]) => settled ?? []);
  assert.deepEqual(groups, [['good', 'bad'], ['good'], ['bad']]);
  assert.deepEqual([good?.status, bad?.status], ['fulfilled', 'rejected']);
});

test('of a database that is away all hear at once', async () => {
  const { ask, begin, groups } = createStage(() => {
    throw new DomainError('unavailable', 'it is away');
  });
  const asked = Promise.allSettled([ask('a'), ask('b')]);
  await begin();
  assert.deepEqual(
    (await asked).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(groups.length, 1);
});
