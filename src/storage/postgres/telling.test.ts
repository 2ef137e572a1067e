import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import type { Told } from '../../domain/members/member-store.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { ClaimRequest, SharedSessions } from '../../domain/messaging/session-store.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { postgresLimits } from './postgres-limits.ts';
import { openPostgres } from './postgres-storage.ts';

const payer = payerOfAccount('ana');
const identity = 'user/ana';
const key = sessionKey(identity, 'c');
const message = { topic: 'devices/a/x', payload: Buffer.from('1'), qos: 1, retain: true } as const;

const claiming = (fields: Partial<ClaimRequest> = {}): ClaimRequest => ({
  ...{ key, identity, clientId: 'c', payer, expirySeconds: 60 },
  ...{ isKnown: false, isForced: true, note: () => '!' },
  ...fields,
});

/** Two processes on one empty schema. */
async function openTwo(name: string) {
  const url = await emptySchemaCalled(name);
  const closing = new AsyncDisposableStack();
  const open = async (): Promise<Storage> => {
    const storage = await openPostgres({ url, log: silentLog, serving: 'shared' });
    closing.defer(() => storage.close());
    return storage;
  };
  const [one, two] = [await open(), await open()];
  return { one, two, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

const sharedOf = ({ mqttSessions: { shared } }: Storage): SharedSessions => {
  assert.ok(shared);
  return shared;
};

/** Tells one message, and answers what became of it. */
async function tell({ members }: Storage, about: Partial<Told>): Promise<string | undefined> {
  const one = { text: () => 'told', payer, bytes: 4, ...about };
  return (await members?.log.tell([one]))?.[0];
}

async function readAll({ members }: Storage): Promise<readonly string[]> {
  const page = await members?.log.read();
  return page?.entries.map(({ text }) => text) ?? [];
}

describe('messages to other processes', { skip: noPostgres }, () => {
  test('the id of a message is kept in the commit that tells it, by its process', async () => {
    await using both = await openTwo('telling_ids');
    const { one, two } = both;
    await sharedOf(one).claim(claiming());
    const receivedAs = { session: key, packetId: 7, retain: false };
    assert.equal(await tell(two, { receivedAs }), 'elsewhere');
    assert.equal(await tell(one, { receivedAs }), 'told');
    assert.equal(await tell(one, { receivedAs }), 'known');
    assert.equal(await tell(one, { receivedAs: { ...receivedAs, packetId: 8 } }), 'told');
    // The process that takes the session knows both.
    const taken = await sharedOf(two).claim(claiming());
    assert.ok('turn' in taken);
    assert.deepEqual(taken.session?.received.toSorted(), [7, 8]);
    assert.deepEqual(
      [await tell(one, { receivedAs }), await tell(two, { receivedAs })],
      ['elsewhere', 'known'],
    );
    assert.deepEqual(
      (await readAll(two)).filter((text) => text === 'told'),
      ['told', 'told'],
    );
  });

  test('the id of a message that is retained is known, and not done before that', async () => {
    await using both = await openTwo('telling_retained');
    const { one, two } = both;
    await sharedOf(one).claim(claiming());
    const receivedAs = { session: key, packetId: 7, retain: true };
    assert.equal(await tell(one, { receivedAs }), 'told');
    const taken = await sharedOf(two).claim(claiming());
    assert.ok('turn' in taken);
    assert.deepEqual(taken.session?.received, []);
    assert.equal(await tell(two, { receivedAs }), 'known');
    await one.close();
    assert.equal(await tell(two, { receivedAs }), 'known');
  });

  test('a will that is retained is told once, and stays until that is done', async () => {
    await using both = await openTwo('telling_wills');
    const { one, two } = both;
    const claimed = await sharedOf(one).claim(claiming({ will: { key, message, delayMs: 0 } }));
    assert.ok('turn' in claimed);
    const { turn } = claimed;
    const settled = { key, turn, isRetained: true };
    assert.equal(await tell(two, { settled }), 'gone');
    assert.equal(await sharedOf(one).beginWill(key, turn), true);
    assert.equal(await tell(one, { settled }), 'told');
    assert.equal(await tell(one, { settled }), 'known');
    // As if its process had been killed before it was retained.
    await one.close();
    const [left] = await sharedOf(two).adoptWills();
    assert.deepEqual([left?.turn, left?.message.retain], [turn, true]);
    assert.equal(await tell(two, { settled }), 'known');
  });

  test('a will that was told to others ended in that commit, and is told once', async () => {
    await using both = await openTwo('telling_once');
    const { one, two } = both;
    const will = { key, message: { ...message, retain: false }, delayMs: 0 };
    const claimed = await sharedOf(one).claim(claiming({ will }));
    assert.ok('turn' in claimed);
    const { turn } = claimed;
    const settled = { key, turn };
    assert.equal(await tell(one, { settled: { key, turn: turn - 1 } }), 'gone', 'another term');
    assert.equal(await tell(two, { settled }), 'gone', 'of another process');
    assert.equal(await sharedOf(one).beginWill(key, turn), true);
    assert.deepEqual(
      [await tell(one, { settled }), await tell(one, { settled })],
      [...['told', 'gone']],
    );
    assert.deepEqual(await sharedOf(one).adoptWills({ keys: () => [], terms: () => [] }), []);
  });

  test('a page of the log ends behind so many bytes', async () => {
    await using both = await openTwo('telling_pages');
    const { one, two } = both;
    const sizes = Array.from({ length: 10 }, (_, at) => 1_000_000 + at);
    const many = sizes.map((size) => ({ text: () => 'x'.repeat(size), payer, bytes: size }));
    assert.deepEqual(new Set(await one.members?.log.tell(many)), new Set(['told']));
    const found: number[] = [];
    const pages: number[] = [];
    for (let isLast = false; !isLast; ) {
      const page = await two.members?.log.read();
      assert.ok(page);
      const own = page.entries.filter(({ text }) => text.startsWith('x'));
      found.push(...own.map(({ text }) => text.length));
      pages.push(own.length);
      isLast = page.isLast;
    }
    assert.deepEqual(found, sizes);
    assert.ok(pages.every((count) => count * 1_000_000 <= postgresLimits.logBytesPerRead + 1e6));
    const missed: number[] = [];
    for (let [after, isLast] = [0, false]; !isLast; ) {
      const page = await sharedOf(two).missed(after);
      missed.push(...page.entries.map(({ text }) => text.length));
      after = page.entries.at(-1)?.place ?? after;
      isLast = page.isLast;
    }
    assert.deepEqual(missed.slice(-sizes.length), sizes);
  });
});
