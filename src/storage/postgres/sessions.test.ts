import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { type Message, type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type {
  ClaimRequest,
  ShareClaim,
  SharedSessions,
  ShareStep,
} from '../../domain/messaging/session-store.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { postgresLimits } from './postgres-limits.ts';
import { openPostgres } from './postgres-storage.ts';

/** Two processes on one empty schema. */
async function twoOf(name: string) {
  const url = await emptySchemaCalled(name);
  const open = () => openPostgres({ url, log: silentLog, serving: 'shared' });
  const one = await open();
  const two = await open();
  return { one, two, a: sharedOf(one), b: sharedOf(two), open };
}

function sharedOf({ mqttSessions }: Storage): SharedSessions {
  assert.ok(mqttSessions.shared);
  return mqttSessions.shared;
}

const identity = 'user/ana';
const payer = payerOfAccount('ana');
const key = sessionKey(identity, 'c');

const claiming = (fields: Partial<ClaimRequest> = {}): ClaimRequest => ({
  ...{ key, identity, clientId: 'c', payer, expirySeconds: 60 },
  ...{ isKnown: false, isForced: false, note: (turn) => `!${turn}` },
  ...fields,
});

const turnOf = ({ turn }: { readonly turn: number }): number => turn;

const aMessage = (topic: string, fields: Partial<Message> = {}): Message => ({
  ...{ topic, payload: Buffer.from(topic), qos: 1, retain: false },
  ...fields,
});

/** A session of `one`, with a subscription and two messages. */
async function openSession({ mqttSessions }: Storage): Promise<void> {
  const { shared } = mqttSessions;
  assert.ok(shared);
  assert.ok('turn' in (await shared.claim(claiming())));
  const session = { key, identity, clientId: 'c', payer, expirySeconds: 60 };
  const entry = (packetId: number) =>
    ({ key, packetId, qos: 1, retain: false, identifiers: [] }) as const;
  const subscription = {
    ...({ filter: 'devices/#', qos: 1, noLocal: false, retainAsPublished: false } as const),
    ...({ retainHandling: 0, identifier: 0 } as const),
  };
  await mqttSessions.apply([
    { kind: 'opened', session },
    { kind: 'subscribed', key, subscription },
    {
      ...{ kind: 'queued', entries: [entry(1)] },
      message: aMessage('devices/a', { origin: { writer: 7, at: 5 } }),
    },
    {
      ...{ kind: 'queued', entries: [entry(2)] },
      message: aMessage('devices/b', { origin: { writer: 7, at: 4 } }),
    },
  ]);
}

describe('sessions that a process has without its knowledge', { skip: noPostgres }, () => {
  test('what is known of a session that another process had since is not taken', async () => {
    const { one, two, a, b } = await twoOf('claims_stale');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => one.close());
    await openSession(one);
    assert.ok('turn' in (await b.claim(claiming({ isForced: true }))));
    await two.close();
    assert.deepEqual(await a.claim(claiming({ isKnown: true })), { owner: two.members?.own });
    const again = await a.claim(claiming({ isForced: true }));
    assert.ok('turn' in again && again.session?.wasElsewhere);
  });

  test('what a refused claim made its own a process takes up as that of others', async () => {
    const { one, two, a, b } = await twoOf('claims_unknown');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => two.close());
    closing.defer(() => one.close());
    const will = { key, delayMs: 0, message: aMessage('w', { publisher: key, payer }) };
    await a.claim(claiming({ will }));
    // As if the answer had been lost.
    const claimed = await b.claim(claiming({ will, isForced: true }));
    assert.ok('turn' in claimed && claimed.wills[0] !== undefined);
    const [left] = claimed.wills;
    const known = (keys: readonly (typeof key)[], terms: readonly number[]) => ({
      ...{ keys: () => keys, terms: () => terms },
    });
    assert.deepEqual(await b.adopt(), []);
    assert.deepEqual(await b.adopt(known([key], [])), []);
    const [unknown, ...more] = await b.adopt(known([], []));
    assert.deepEqual([unknown?.key, unknown?.wasElsewhere, more], [key, false, []]);
    assert.ok((unknown?.turn ?? 0) > claimed.turn, 'the claim is older');
    await b.caughtUp([key]);
    assert.deepEqual(await b.adopt(known([], [])), []);
    const turnsOf = async (terms: readonly number[]) =>
      (await b.adoptWills(known([], terms))).map(turnOf);
    assert.deepEqual(await turnsOf([left.turn, claimed.turn]), []);
    assert.deepEqual(await turnsOf([claimed.turn]), [left.turn]);
    assert.deepEqual(await a.adoptWills(known([], [])), [], 'it is of another process');
    await b.beginWill(key, left.turn);
    assert.deepEqual(await turnsOf([]), [claimed.turn]);
  });
});

test('what was heard of processes that serve is kept, also of their settings', {
  skip: noPostgres,
}, async () => {
  const { one, two, a, b } = await twoOf('claims_heard');
  await using closing = new AsyncDisposableStack();
  closing.defer(() => Promise.all([one.close(), two.close()]).then(() => undefined));
  await openSession(one);
  const own = one.members?.own ?? 0;
  const entry = { key, packetId: 3, qos: 1, retain: false, identifiers: [] } as const;
  for (const writer of [own, -own]) {
    const message = aMessage('devices/c', { origin: { writer, at: 6 } });
    await one.mqttSessions.apply([{ kind: 'queued', entries: [entry], message }]);
    await one.mqttSessions.apply([{ kind: 'settled', key, packetId: 3 }]);
  }
  await b.claim(claiming({ isForced: true }));
  await b.caughtUp([key]);
  const back = await a.claim(claiming({ isForced: true }));
  assert.ok('turn' in back && back.session !== undefined);
  const heard = [...back.session.heard].toSorted(([x], [y]) => x - y);
  assert.deepEqual(heard, [
    [-own, 6],
    [own, 6],
  ]);
});

describe('MQTT sessions of several processes', { skip: noPostgres }, () => {
  test('what others change of a session than who claimed it last is refused', async () => {
    const { one, two, a, b } = await twoOf('claims_refuse');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => Promise.all([one.close(), two.close()]).then(() => undefined));
    const refused: SessionKey[] = [];
    a.onFenced((keys) => refused.push(...keys));
    await openSession(one);
    assert.deepEqual(await b.claim(claiming()), { owner: one.members?.own });
    const claimed = await b.claim(claiming({ isForced: true }));
    assert.ok('turn' in claimed && claimed.session !== undefined);
    const { session, turn } = claimed;
    assert.deepEqual(
      session.queue.map(({ packetId, message }) => [packetId, message?.topic]),
      [
        [1, 'devices/a'],
        [2, 'devices/b'],
      ],
    );
    assert.deepEqual([[...session.heard], session.since.size], [[[7, 5]], 1]);
    await one.mqttSessions.apply([
      { kind: 'settled', key, packetId: 1 },
      { kind: 'ended', key },
    ]);
    assert.deepEqual(refused, [key]);
    await two.mqttSessions.apply([{ kind: 'settled', key, packetId: 2 }]);
    assert.deepEqual(await a.claim(claiming()), { owner: two.members?.own });
    const back = await a.claim(claiming({ isForced: true }));
    assert.ok('turn' in back && back.turn > turn);
    assert.deepEqual(
      back.session?.queue.map(({ packetId }) => packetId),
      [1],
    );
    // Its own: nothing is read that it knows.
    assert.deepEqual(Object.keys(await a.claim(claiming({ isKnown: true }))), ['turn', 'wills']);
  });

  test('what a process left is adopted once, and the log kept for it', async () => {
    const { one, two, b } = await twoOf('claims_adopt');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => two.close());
    await openSession(one);
    assert.deepEqual(await b.adopt(), []);
    const log = two.members?.log;
    assert.ok(log && two.members);
    await one.close();
    await log.append('[1]');
    await log.read();
    await log.acknowledgement()();
    const keeps = async (): Promise<boolean> => {
      await log.tidy();
      return (await b.missed(0)).entries.some(({ text }) => text === '[1]');
    };
    assert.ok(await keeps(), 'nobody has adopted the session');
    const adopted = await b.adopt();
    assert.deepEqual(
      adopted.map((session) => [session.key, session.wasElsewhere]),
      [[key, true]],
    );
    assert.deepEqual(await b.adopt(), []);
    assert.ok(await keeps(), 'it was not looked through');
    await b.caughtUp([key]);
    assert.equal(await keeps(), false);
    assert.equal(await log.append('[2]'), undefined, 'nobody else is there to be told');
  });

  test('a will that a process publishes no other one takes that serves', async () => {
    const { one, two, a, b } = await twoOf('claims_begun');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => two.close());
    const message = aMessage('w', { publisher: key, payer });
    const will = { key, delayMs: 0, message };
    const first = await a.claim(claiming({ will }));
    assert.ok('turn' in first);
    assert.equal(await b.beginWill(key, first.turn), false);
    assert.equal(await a.beginWill(key, first.turn), true);
    const taken = await b.claim(claiming({ isForced: true }));
    assert.ok('turn' in taken);
    assert.deepEqual(taken.wills, []);
    // Of the next connection.
    const next = await a.claim(claiming({ will, isForced: true }));
    assert.ok('turn' in next);
    const again = await b.claim(claiming({ isForced: true }));
    assert.ok('turn' in again);
    assert.deepEqual(again.wills.map(turnOf), [next.turn]);
    assert.equal(await a.beginWill(key, next.turn), false, 'another one has taken it');
    await one.close();
    // A will that it had begun is no other process's.
    assert.deepEqual((await b.adoptWills()).map(turnOf), [first.turn]);
  });

  test('a will is of who has the client, and goes with the process', async () => {
    const { one, two, a, b } = await twoOf('claims_wills');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => two.close());
    const willOf = (topic: string) => ({
      ...{ key, delayMs: 0, message: aMessage(topic, { publisher: key, payer, retain: true }) },
    });
    const first = await a.claim(claiming({ will: willOf('first'), expirySeconds: 0 }));
    const second = await a.claim(claiming({ will: willOf('second'), expirySeconds: 0 }));
    assert.ok('turn' in first && 'turn' in second);
    // Of the connection before: it is not this one's.
    await one.mqttSessions.apply([{ kind: 'will_settled', key, turn: first.turn }]);
    assert.deepEqual(await b.adoptWills(), []);
    await one.close();
    const [will, ...others] = await b.adoptWills();
    assert.deepEqual([will?.message.topic, will?.turn, others], ['second', second.turn, []]);
    assert.deepEqual([will?.message.retain, will?.message.payer], [true, payer]);
    await two.mqttSessions.apply([{ kind: 'will_settled', key, turn: second.turn }]);
    const third = await b.claim(claiming());
    assert.ok('turn' in third);
    assert.deepEqual(third.wills, []);
  });

  test('the will of one connection is not lost when the next one begins elsewhere', async () => {
    const { one, two, a, b, open } = await twoOf('claims_kept');
    const three = await open();
    await using closing = new AsyncDisposableStack();
    closing.defer(() => three.close());
    const will = { key, delayMs: 0, message: aMessage('w', { publisher: key, payer }) };
    const first = await a.claim(claiming({ will }));
    const second = await b.claim(claiming({ will, isForced: true }));
    assert.ok('turn' in first && 'turn' in second);
    assert.deepEqual(second.wills.map(turnOf), [first.turn], 'it is taken along');
    assert.equal(await a.beginWill(key, first.turn), false);
    await one.mqttSessions.apply([{ kind: 'will_settled', key, turn: first.turn }]);
    // The process that took it ends before it was published.
    await one.close();
    await two.close();
    const left = (await sharedOf(three).adoptWills()).map(turnOf);
    assert.deepEqual(left, [first.turn, second.turn]);
  });
});

describe('the log that is read for sessions', { skip: noPostgres }, () => {
  test('the log is read in the order of commits, page by page, whoever wrote', async () => {
    const { one, two, a } = await twoOf('claims_pages');
    await using closing = new AsyncDisposableStack();
    closing.defer(() => two.close());
    closing.defer(() => one.close());
    const logs = [one, two].map(({ members }) => members?.log);
    const texts = Array.from(
      { length: 2 * postgresLimits.logEntriesPerRead + 1 },
      (_, at) => `${at}`,
    );
    for (const [at, text] of texts.entries()) await logs[at % 3 === 0 ? 0 : 1]?.append(text);
    const read: string[] = [];
    let pages = 0;
    for (let after = 0, isLast = false; !isLast; pages += 1) {
      const page = await a.missed(after);
      read.push(...page.entries.map(({ text }) => text));
      after = page.entries.at(-1)?.place ?? after;
      isLast = page.isLast;
    }
    assert.deepEqual(read, texts);
    assert.equal(pages, 3);
    assert.deepEqual(await a.missed(Number.MAX_SAFE_INTEGER), { entries: [], isLast: true });
  });
});

describe('messages for groups of sessions that processes share', { skip: noPostgres }, () => {
  const claimOf = (message: string, fields: Partial<ShareClaim> = {}): ShareClaim => ({
    ...{ group: 'g', message, token: 1, isHere: true, isSettled: false, isAgain: false },
    ...fields,
  });
  const stepOf = (fields: Partial<ShareStep>): ShareStep => ({
    ...{ claims: [], settled: [], givenBack: [], here: new Map(), notes: [] },
    ...fields,
  });
  const claim = (shared: SharedSessions, ...claims: ShareClaim[]) =>
    shared.share(stepOf({ claims }));

  test('of two processes one wins, and the same claim made again is the same', async () => {
    const { one, two, a, b } = await twoOf('shares_once');
    assert.deepEqual(await claim(a, claimOf('m1'), claimOf('m2', { token: 2 })), ['won', 'won']);
    assert.deepEqual(await claim(b, claimOf('m3'), claimOf('m2')), ['won', 'taken']);
    assert.deepEqual(await claim(a, claimOf('m1')), ['won']);
    assert.deepEqual(await claim(a, claimOf('m1', { token: 3 })), ['taken']);
    await Promise.all([one.close(), two.close()]);
  });

  test('who is away leaves a message to who is there', async () => {
    const { one, two, a, b } = await twoOf('shares_here');
    await a.share(stepOf({ here: new Map([['g', true]]) }));
    const away = claimOf('m', { isHere: false });
    assert.deepEqual(await claim(b, away), ['left']);
    await a.share(stepOf({ here: new Map([['g', false]]) }));
    assert.deepEqual(await claim(b, away), ['won']);
    await Promise.all([one.close(), two.close()]);
  });

  test('what is not settled when a process ends is claimed again, and nothing else', async () => {
    const { one, two, a, b } = await twoOf('shares_again');
    await claim(a, claimOf('open'), claimOf('done', { token: 2 }), claimOf('back', { token: 3 }));
    await a.share(stepOf({ settled: [{ group: 'g', message: 'done' }] }));
    const again = (message: string, token: number) => claimOf(message, { token, isAgain: true });
    assert.deepEqual(await claim(b, again('open', 1), again('back', 2)), ['taken', 'taken']);
    await a.share(stepOf({ givenBack: [{ group: 'g', message: 'back' }] }));
    assert.deepEqual(await claim(b, again('back', 3)), ['won_again']);
    await claim(a, claimOf('found', { token: 9 }));
    await one.close();
    // As a process claims it that goes through the log for a session.
    assert.deepEqual(await claim(b, claimOf('found', { token: 7 })), ['won_again']);
    assert.deepEqual(await claim(b, claimOf('found', { token: 7 })), ['won']);
    assert.deepEqual(await claim(b, again('open', 4), again('done', 5)), ['won_again', 'taken']);
    assert.deepEqual(await claim(b, again('never claimed', 6)), ['taken']);
    await two.close();
  });

  test('a share is settled with the entry that queues it', async () => {
    const { one, two, a, b } = await twoOf('shares_queued');
    await openSession(one);
    await claim(a, claimOf('m'));
    const entry = { key, packetId: 9, qos: 1, retain: false, identifiers: [] } as const;
    const share = { group: 'g', message: 'm' };
    const message = aMessage('shared');
    await one.mqttSessions.apply([{ kind: 'queued', message, entries: [{ ...entry, share }] }]);
    await one.close();
    assert.deepEqual(await claim(b, claimOf('m', { isAgain: true, token: 2 })), ['taken']);
    await two.close();
  });

  test('a share whose session is gone is given back, and that is told', async () => {
    const { one, two, a, b } = await twoOf('shares_gone');
    const told: number[] = [];
    a.onFenced((keys) => void told.push(keys.length));
    await claim(a, claimOf('m'));
    const entry = { key, packetId: 9, qos: 1, retain: false, identifiers: [] } as const;
    const share = { group: 'g', message: 'm' };
    const message = aMessage('shared');
    await one.mqttSessions.apply([{ kind: 'queued', message, entries: [{ ...entry, share }] }]);
    assert.deepEqual(told, [0]);
    assert.deepEqual(await claim(b, claimOf('m', { isAgain: true, token: 2 })), ['won_again']);
    await Promise.all([one.close(), two.close()]);
  });
});
