import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DomainError } from '../../domain/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { unavailable } from './failures.ts';
import type { Link } from './link.ts';
import { postgresLimits } from './postgres-limits.ts';
import { createWriter, type WriteSession } from './writer.ts';

const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** A database that can be lost in the middle of a commit, and a clock that is wound by hand. */
function onFragileLink(context: TestContext) {
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  let seq = 1;
  let isAway = false;
  /** Why the next attempt to connect fails. */
  let refusal: Error | undefined;
  /** The fate of the next commit: its connection is lost, before or after it is made. */
  let next: 'made' | 'lost' | 'made and lost' = 'made';
  let reached: (seqs: ReadonlyMap<number, number>) => void = () => undefined;
  const told: (readonly string[] | undefined)[] = [];
  const link = {
    parts: [],
    isShared: true,
    hasDataPlane: () => true,
    isFenced: () => false,
    onReached(listener: typeof reached) {
      reached = listener;
    },
    async ready() {
      if (refusal !== undefined) {
        const error = refusal;
        refusal = undefined;
        isAway = false;
        throw error;
      }
      if (!isAway) return new Map([[-1, seq]]);
      // For longer than calls wait.
      now += postgresLimits.awayMs + 1;
      throw lost();
    },
    async transact(_plane: unknown, work: (transaction: unknown) => Promise<unknown>) {
      const session = { all: async () => [], first: async () => undefined, run: async () => 0 };
      const rest = { send: () => undefined, others: () => ({ own: 1 }), news: () => undefined };
      const answer = await work({ session, part: -1, seq: seq + 1, ...rest });
      if (next !== 'lost') seq += 1;
      if (next === 'made') return answer;
      next = 'made';
      isAway = true;
      throw lost();
    },
    close: async () => undefined,
  };
  const writer = createWriter(link as unknown as Link, silentLog, (own) => void told.push(own));
  return {
    writer,
    told,
    loseNext(how: 'lost' | 'made and lost') {
      next = how;
    },
    /** The next commit is made, its connection lost, and the next one refused. */
    loseAndRefuse(error: Error) {
      next = 'made and lost';
      refusal = error;
    },
    /** The link connects again. */
    comeBack() {
      isAway = false;
      reached(new Map([[-1, seq]]));
    },
  };
}

const tell =
  (...entries: readonly string[]) =>
  async ({ news }: WriteSession) => {
    news(entries);
    return entries.length;
  };

const isRefused = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'unavailable';

describe('a commit that is refused while nobody knows whether it was made', () => {
  test('is told here once it proves to be made, and once only', async (context) => {
    const { writer, told, loseNext, comeBack } = onFragileLink(context);
    loseNext('made and lost');
    await assert.rejects(writer.call(tell('a', 'b'), {}), isRefused);
    // A commit behind it that does not reach the database takes nothing of it back.
    await assert.rejects(writer.call(tell('c'), {}), isRefused);
    assert.deepEqual(told, []);
    comeBack();
    assert.deepEqual(told, [['a', 'b']]);
    comeBack();
    assert.equal(await writer.call(tell('d'), {}), 1);
    comeBack();
    assert.deepEqual(told, [['a', 'b'], undefined]);
    await writer.close();
  });

  test('is not told where it was not made', async (context) => {
    const { writer, told, loseNext, comeBack } = onFragileLink(context);
    loseNext('lost');
    await assert.rejects(writer.call(tell('a'), {}), isRefused);
    comeBack();
    assert.deepEqual(told, []);
    assert.equal(await writer.call(tell('b'), {}), 1);
    comeBack();
    assert.deepEqual(told, [undefined]);
    await writer.close();
  });

  test('is answered, and told to others alone, where it is known in time', async (context) => {
    const { writer, told, loseNext, comeBack } = onFragileLink(context);
    loseNext('made and lost');
    const called = writer.call(tell('a'), {});
    // After the loss, and before the next attempt.
    await new Promise((resolve) => setTimeout(resolve, postgresLimits.retryMs / 2));
    comeBack();
    assert.equal(await called, 1);
    assert.deepEqual(told, []);
    await writer.close();
  });

  for (const [what, error] of [
    ['a standby answers', unavailable('KIPIMO_DATABASE_URL names a standby')],
    ['something unknown fails', new Error('a word that no list has')],
  ] as const) {
    test(`is made once where ${what} before the primary does`, async (context) => {
      const { writer, told, loseAndRefuse } = onFragileLink(context);
      let runs = 0;
      const count = async ({ news }: WriteSession) => {
        runs += 1;
        if (runs === 1) loseAndRefuse(error);
        news(['a']);
        return runs;
      };
      // Calls that wait for the first go together.
      void writer.call(async () => 0, {});
      const both = [writer.call(count, {}), writer.call(count, {})];
      assert.deepEqual(await Promise.all(both), [1, 2]);
      assert.equal(runs, 2);
      assert.deepEqual(told, []);
      await writer.close();
    });
  }
});
