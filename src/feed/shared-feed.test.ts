import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { feedContract } from '../../test/contract/feed/feed-contract.ts';
import type { Change } from '../domain/changes.ts';
import type { FeedEvent } from '../domain/datapoints/feed.ts';
import { DomainError } from '../domain/errors.ts';
import type { DeviceId, SensorId } from '../domain/ids.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import type { FeedLog, LogEntry, OnNews } from '../domain/members/member-store.ts';
import { silentLog } from '../lib/log.ts';
import { createInProcessFeed } from './in-process-feed.ts';
import { createSharedFeed } from './shared-feed.ts';

const contexts = {
  origin: () => ({ writer: 1, at: 1 }),
  settingOrigin: () => ({ writer: -1, at: 1 }),
  toJson: () => undefined,
  fromJson: () => undefined,
  hasWhole: () => false,
};
/** Shorter than that of members, whose tests would take long. */
const heldBackMs = 5_000;
const changed = (id: string): Change => ({ kind: 'device_changed', deviceId: id as DeviceId });

/** A log in memory, and what can happen to it. */
function createLog() {
  const entries: LogEntry[] = [];
  const listeners = new Set<OnNews>();
  const state = { isAway: false, saysNews: true };
  const positions = new Map<number, Map<number, number>>();

  function open(own: number): FeedLog {
    const read = new Map<number, number>();
    positions.set(own, new Map());
    const reach = (): void => {
      if (state.isAway) throw new DomainError('unavailable', 'away');
    };
    const news = (): void => {
      if (state.saysNews) for (const listener of listeners) listener();
    };
    return {
      async append(text) {
        reach();
        if (positions.size === 1) return undefined;
        const place = entries.length + 1;
        entries.push({ writer: own, place, text });
        news();
        return { writer: own, place };
      },
      async tell(messages) {
        for (const { text } of messages) await this.append(text());
        return messages.map(() => 'told');
      },
      async read() {
        reach();
        const found = entries.filter(
          ({ writer, place }) => writer !== own && place > (read.get(writer) ?? 0),
        );
        for (const { writer, place } of found) read.set(writer, place);
        return { entries: found, isLast: true };
      },
      lastPlaces: async () => new Map(),
      before: () =>
        new Map(
          entries.flatMap(({ writer, place }) =>
            writer === own ? [] : [[writer, place] as const],
          ),
        ),
      acknowledgement() {
        const places = new Map(read);
        return async () => {
          reach();
          positions.set(own, places);
          news();
        };
      },
      async isHeard({ writer, place }, by) {
        reach();
        return [...positions].every(
          ([member, heard]) =>
            member === writer || member !== (by ?? member) || (heard.get(writer) ?? 0) >= place,
        );
      },
      tidy: async () => undefined,
      onNews(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
  }
  const tellOwn = (texts: readonly string[]): void => {
    for (const listener of listeners) listener(texts);
  };
  return { entries, open, state, tellOwn };
}

type Shared = ReturnType<typeof createLog>;

/** A process on the log, with the changes that it received. */
async function join(context: TestContext, shared: Shared, own: number) {
  const local = createInProcessFeed({ log: silentLog });
  const log = shared.open(own);
  const feed = createSharedFeed({ local, shared: log, log: silentLog, contexts, heldBackMs });
  const told: Change[] = [];
  feed.onChange(async (change) => void told.push(change));
  const values: unknown[] = [];
  feed.subscribe((events) => values.push(...events.map(toldValueOf)));
  await feed.start();
  context.after(() => feed.stop());
  return { feed, told, values };
}

const toldValueOf = (event: FeedEvent): unknown =>
  event.kind === 'datapoints' ? event.datapoints[0]?.value : event.value;
const [deviceId, sensorId] = ['d' as DeviceId, 's' as SensorId];
const pushed = (value: number): FeedEvent => ({
  ...{ kind: 'datapoints', deviceId, sensorId, datapoints: [{ value, receivedAt: 0 }] },
});
const textOf = (value: number): string =>
  JSON.stringify(['datapoints', 'd', 's', { t: [0], r: [0], m: [0], n: [value] }, null]);

describe('a feed whose changes others hear', () => {
  feedContract(({ log }) =>
    createSharedFeed({
      ...{ local: createInProcessFeed({ log }), shared: createLog().open(1), log, contexts },
    }),
  );

  test('a change is told when the others have acted on it', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    const other = await join(context, shared, 2);
    await one.feed.publishChange(changed('d'));
    assert.deepEqual(other.told, [changed('d')]);
    assert.deepEqual(one.told, [changed('d')]);
    assert.equal(other.feed.isCurrent(0), true);
  });

  test('also when nobody says that there are news', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    const other = await join(context, shared, 2);
    shared.state.saysNews = false;
    await one.feed.publishChange(changed('d'));
    assert.deepEqual(other.told, [changed('d')]);
  });

  test('one that hears nothing is waited for a second, and trusts nothing', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    // This process never reads.
    const deaf = shared.open(2);
    const askedAt = performance.now();
    await one.feed.publishChange(changed('d'));
    const took = performance.now() - askedAt;
    assert.ok(took >= memberLimits.barrierMs - 50, `${took} ms`);
    assert.equal((await deaf.read()).entries.length, 1);
    shared.state.isAway = true;
    await wait(memberLimits.trustMs + 50);
    const now = performance.now();
    assert.equal(one.feed.isCurrent(now), true, 'what is read from now on counts for a moment');
    assert.equal(one.feed.isCurrent(now - memberLimits.rememberedMs), false);
    // A timer may be a millisecond early.
    await wait(memberLimits.rememberedMs + 5);
    assert.equal(one.feed.isCurrent(now), false);
  });

  test('a change that could not be written is refused, and made up for', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    const other = await join(context, shared, 2);
    shared.state.isAway = true;
    await assert.rejects(one.feed.publishChange(changed('d')), { code: 'unavailable' });
    assert.deepEqual(one.told, [changed('d')]);
    shared.state.isAway = false;
    await wait(3 * memberLimits.logLookMs);
    assert.deepEqual(other.told, [{ kind: 'anything' }]);
  });

  test('what was refused and written all the same is told here in its place', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    const heard: string[] = [];
    one.feed.peers.onTold(async (text) => void heard.push(text));
    shared.state.saysNews = false;
    await other.append(textOf(1));
    shared.tellOwn([textOf(2), '!a will', JSON.stringify(changed('d')), textOf(3)]);
    assert.deepEqual([one.values, heard], [[], []]);
    await one.feed.held?.released();
    assert.deepEqual(one.values, [1, 2, 3]);
    assert.deepEqual(heard, ['a will']);
    assert.deepEqual(one.told, [changed('d')]);
  });

  test('what others committed before is told before', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    shared.state.saysNews = false;
    one.feed.publish([pushed(1)]);
    await other.append(textOf(2));
    one.feed.publish([pushed(3)]);
    one.feed.publish([pushed(4)]);
    assert.deepEqual(one.values, [1]);
    assert.equal(one.feed.held?.areAny(), true);
    await one.feed.held?.released();
    assert.deepEqual(one.values, [1, 2, 3, 4]);
    one.feed.publish([pushed(5)]);
    assert.deepEqual(one.values, [1, 2, 3, 4, 5]);
    assert.equal(one.feed.held?.areAny(), false);
  });

  test('whoever cannot read the others goes on without them in the end', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    await other.append(textOf(1));
    shared.state.isAway = true;
    one.feed.publish([pushed(2)]);
    await wait(heldBackMs + 4 * memberLimits.logLookMs);
    // Nothing says that it is not the one that is cut off.
    assert.deepEqual(one.values, []);
    one.feed.publish([pushed(3)]);
    assert.deepEqual(one.values, [2], 'commits succeed, and others cannot be read');
    shared.state.isAway = false;
    await wait(2 * memberLimits.logLookMs);
    assert.deepEqual(one.values, [2, 1, 3]);
  });

  test('whoever stood still hands on nothing before it has read the others', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    await other.append(textOf(1));
    shared.state.isAway = true;
    one.feed.publish([pushed(2)]);
    const stoodUntil = performance.now() + heldBackMs + 500;
    while (performance.now() < stoodUntil);
    one.feed.publish([pushed(3)]);
    await wait(0);
    assert.deepEqual(one.values, []);
    shared.state.isAway = false;
    await wait(2 * memberLimits.logLookMs);
    assert.deepEqual(one.values, [1, 2, 3]);
  });

  test('whoever ends leaves what it did not hand on to its heir', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    shared.state.saysNews = false;
    await other.append(textOf(1));
    one.feed.publish([pushed(2)]);
    const released = one.feed.held?.released();
    one.feed.peers.rest();
    await released;
    one.feed.publish([pushed(3)]);
    const position = await other.append(textOf(4));
    await wait(2 * memberLimits.logLookMs);
    assert.deepEqual(one.values, []);
    assert.ok(position);
    assert.equal(await other.isHeard(position), false);
    assert.equal(one.feed.held?.areAny(), false);
  });
});

describe('what a process writes for others', () => {
  test('whoever is asked alone is waited for alone', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    const asked = await join(context, shared, 2);
    const heard: string[] = [];
    asked.feed.peers.onTold(async (text) => void heard.push(text));
    // This process never reads.
    shared.open(3);
    const begunAt = performance.now();
    await one.feed.peers.ask('wanted', 2);
    assert.deepEqual(heard, ['wanted']);
    assert.ok(performance.now() - begunAt < memberLimits.barrierMs, 'it waited for another one');
  });

  test('what cannot be acted on keeps nobody from what is behind it', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    const heard: string[] = [];
    one.feed.peers.onTold(async (text) => {
      heard.push(text);
      if (text === 'bad') throw new Error('a bug');
    });
    for (const text of ['!bad', textOf(1), '!good']) await other.append(text);
    await one.feed.peers.heard();
    assert.deepEqual(heard, ['bad', 'good']);
    assert.deepEqual(one.values, [1]);
  });

  test('what was told is not acknowledged before it was acted on', async (context) => {
    const shared = createLog();
    const other = shared.open(2);
    const one = await join(context, shared, 1);
    let isAway = true;
    one.feed.peers.onActed(async () => {
      if (isAway) throw new DomainError('unavailable', 'away');
    });
    const position = await other.append('!told');
    assert.ok(position);
    assert.equal(await one.feed.peers.heard(), false, 'it says that it knows');
    assert.equal(await other.isHeard(position), false);
    isAway = false;
    await wait(3 * memberLimits.logLookMs);
    assert.equal(await other.isHeard(position), true, 'nobody tried again');
    assert.equal(await one.feed.peers.heard(), true);
  });

  test('whoever cannot read what others wrote says so', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    assert.equal(await one.feed.peers.heard(), true);
    shared.state.isAway = true;
    assert.equal(await one.feed.peers.heard(), false);
  });

  test('whoever is alone writes nothing', async (context) => {
    const shared = createLog();
    const one = await join(context, shared, 1);
    await one.feed.publishChange(changed('d'));
    assert.deepEqual(shared.entries, []);
  });
});

test('one that reads slowly begins, and hears others that write all the time', async (t) => {
  const shared = createLog();
  const others = shared.open(1);
  const slow = shared.open(2);
  const own: FeedLog = {
    ...slow,
    async read() {
      const found = await slow.read();
      // There is always one more.
      await others.append(textOf(1));
      await wait(2);
      return found;
    },
  };
  const local = createInProcessFeed({ log: silentLog });
  const feed = createSharedFeed({ local, shared: own, log: silentLog, contexts });
  t.after(() => feed.stop());
  await others.append(textOf(0));
  await feed.start();
  assert.ok(feed.isCurrent(0));
  assert.equal(await feed.peers.heard(), true);
});
