import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { createOwnership } from './ownership.ts';

test('a session is given away although what it sent waits for the log', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const did: string[] = [];
  const session = {
    ...{ key: 'k', claimedAt: 1, link: { end: () => void did.push('ended') } },
    received: new Map([[1, new Promise(() => undefined)]]),
  };
  const ownership = createOwnership({
    shared: {
      onFenced: () => undefined,
      wanted: { isElsewhere: () => void did.push('elsewhere') },
    },
    peers: {},
    registry: {
      ...{ find: () => session, findFormer: () => undefined },
      release: () => void did.push('released'),
    },
    journal: { settled: async () => void did.push('stored') },
    wills: { cancel: () => undefined },
  } as never);
  const who = { identity: 'user/ana', clientId: 'c', cleanStart: false };
  ownership.told({ kind: 'wanted', ...who });
  const over = ownership.givenAway();
  await undefined;
  assert.deepEqual(did, ['ended']);
  context.mock.timers.tick(memberLimits.barrierMs);
  await over;
  // The process that asked for it may never have it.
  assert.deepEqual(did.splice(0), ['ended', 'stored']);
  ownership.told({ kind: 'opened', turn: 2, ...who });
  assert.deepEqual(did, ['elsewhere', 'ended', 'released']);
});

test('what this process changed of a session is refused before it takes that again', async () => {
  const did: string[] = [];
  let here: object | undefined = { key: 'i\u0000c', isDurable: true };
  const ownership = createOwnership({
    shared: {
      onFenced: () => undefined,
      claim: async ({ isKnown, isForced }: { isKnown: boolean; isForced: boolean }) => {
        did.push(`${isForced ? 'forced' : 'claimed'}, ${isKnown ? 'known' : 'unknown'}`);
        return isForced ? { turn: 5, wills: [] } : { owner: 2 };
      },
    },
    peers: { ask: async (_: string, by: number) => void did.push(`asked ${by}`) },
    registry: {
      find: () => here,
      release: () => {
        did.push('released');
        here = undefined;
      },
    },
    journal: { synced: async () => void did.push('stored') },
    wills: { cancel: () => undefined },
  } as never);
  const client = { identity: 'i', clientId: 'c', payer: 'p', cleanStart: false, expirySeconds: 9 };
  await ownership.take(client as never, () => did.push('open') > 0);
  const asked = ['stored', 'claimed, known', 'released', 'asked 2'];
  assert.deepEqual(did, [...asked, 'stored', 'forced, unknown', 'open']);
});

test('what is adopted of another process replaces what this one had of it', async () => {
  const did: string[] = [];
  const aSession = (name: string) => ({
    ...{ key: 'k', name, claimedAt: 1, subscriptions: new Map(), payer: 'p', identity: 'i' },
    link: { end: () => void did.push(`${name} ended`) },
  });
  let here: ReturnType<typeof aSession> | undefined = aSession('old');
  const pages = [{ wasElsewhere: false }, { wasElsewhere: true }].map((how, at) => [
    { ...how, key: 'k', turn: at + 2, subscriptions: [], heard: new Map(), since: new Map() },
  ]);
  const ownership = createOwnership({
    shared: {
      ...{ onFenced: () => undefined, adoptWills: async () => [] },
      adopt: async () => pages.shift() ?? [],
      missed: async () => ({ entries: [], isLast: true }),
      caughtUp: async () => undefined,
    },
    peers: {},
    registry: {
      find: () => here,
      restore: () => {
        here = aSession('new');
      },
      release: ({ name }: ReturnType<typeof aSession>) => {
        did.push(`${name} released`);
        here = undefined;
      },
    },
    journal: { settled: async () => undefined },
    wills: { cancel: () => undefined },
    log: { warn: (fields: object) => void did.push(JSON.stringify(fields)) },
  } as never);
  await ownership.adopt();
  assert.deepEqual(did, ['old ended', 'old released']);
  assert.deepEqual([here?.name, here?.claimedAt], ['new', 3]);
  await ownership.close();
});

test('an adoption that was long in coming replaces no session that was claimed since', async () => {
  const here = { key: 'k', takenAt: 5, link: { end: () => assert.fail('its client left') } };
  const pages = [[{ key: 'k', turn: 4, wasElsewhere: true, subscriptions: [], heard: new Map() }]];
  const ownership = createOwnership({
    shared: {
      ...{ onFenced: () => undefined, adoptWills: async () => [] },
      ...{ adopt: async () => pages.shift() ?? [], caughtUp: async () => undefined },
    },
    registry: { find: () => here, release: () => assert.fail('it is released') },
    journal: { settled: async () => undefined },
    log: { warn: (fields: object) => assert.fail(JSON.stringify(fields)) },
  } as never);
  await ownership.adopt();
  await ownership.close();
});

test('the delayed will of a session that came up elsewhere is its client’s', () => {
  const did: string[] = [];
  const ownership = createOwnership({
    shared: { onFenced: () => undefined, wanted: { isElsewhere: () => undefined } },
    registry: { find: () => undefined, findFormer: () => undefined },
    wills: {
      cancel: (key: string, before: number) => void did.push(`${key} cancelled ${before}`),
      publishNow: (key: string, before: number) => void did.push(`${key} published ${before}`),
    },
  } as never);
  const who = { identity: 'i', clientId: 'c' };
  ownership.told({ kind: 'opened', turn: 2, ...who, cleanStart: false });
  ownership.told({ kind: 'opened', turn: 3, ...who, cleanStart: true });
  assert.deepEqual(did, ['i\u0000c cancelled 2', 'i\u0000c published 3']);
});

/** A process that adopts the session in these turns; `complete`: which keys were said to be. */
function adopting({ key, turns }: { key: string; turns: readonly number[] }) {
  const complete: string[][] = [];
  const pages = turns.map((turn) => [
    ...[{ key, turn, wasElsewhere: true, subscriptions: [], heard: new Map() }],
  ]);
  let here: object | undefined;
  return {
    complete,
    shared: {
      ...{ onFenced: () => undefined, adoptWills: async () => [] },
      wanted: { isElsewhere: () => undefined },
      adopt: async () => pages.shift() ?? [],
      missed: async (): Promise<object> => ({ entries: [], isLast: true }),
      caughtUp: async (keys: string[]) => void complete.push(keys),
    },
    peers: { heard: async () => true, entryOf: (text: string) => text },
    registry: {
      ...{ size: 0, find: () => here, findFormer: () => undefined },
      restore: ({ turn }: { turn: number }) => {
        here = { key, claimedAt: turn };
      },
      release: () => {
        here = undefined;
      },
    },
    journal: { synced: async () => undefined, settled: async () => undefined },
    wills: { cancel: () => undefined },
    log: { warn: (fields: object) => void complete.push([JSON.stringify(fields)]) },
  };
}

test('a session that went and came again is complete when both have read the log', async () => {
  const reads: (() => void)[] = [];
  const process = adopting({ key: 'k', turns: [2, 3] });
  process.shared.missed = () =>
    new Promise((resolve) => {
      reads.push(() => resolve({ entries: [], isLast: true }));
    });
  const ownership = createOwnership(process as never);
  await ownership.adopt();
  assert.equal(reads.length, 2);
  for (const read of reads) {
    read();
    await setImmediate();
  }
  assert.deepEqual(process.complete, [[], ['k']]);
  await ownership.close();
});

test('a session that came again is complete when its second read is stored', async () => {
  const stores: (() => void)[] = [];
  const process = adopting({ key: 'k', turns: [2, 3] });
  process.journal.settled = () =>
    new Promise((resolve) => void stores.push(() => resolve(undefined)));
  const ownership = createOwnership(process as never);
  await ownership.adopt();
  while (stores.length < 2) await setImmediate();
  // Both runs have read the log; the store answers the first run before the second.
  for (const store of stores) {
    store();
    await setImmediate();
  }
  assert.deepEqual(process.complete, [[], ['k']]);
  await ownership.close();
});

test('a session that a claim in doubt took is completed by no run of before', async () => {
  const stores: (() => void)[] = [];
  const asked: string[] = [];
  const process = adopting({ key: 'i\u0000c', turns: [2] });
  process.journal.settled = () =>
    new Promise((resolve) => void stores.push(() => resolve(undefined)));
  const claim = async ({ note }: { note(turn: number): string }) => {
    asked.push(note(4));
    throw new Error('the answer was lost');
  };
  const shared = { ...process.shared, claim };
  const ownership = createOwnership({ ...process, shared } as never);
  await ownership.adopt();
  while (stores.length === 0) await setImmediate();
  const who = { identity: 'i', clientId: 'c', cleanStart: false };
  ownership.told({ kind: 'opened', turn: 3, ...who });
  await assert.rejects(
    ownership.take({ ...who, payer: 'p', expirySeconds: 9 } as never, () => true),
  );
  assert.equal(asked.length, 1);
  stores[0]?.();
  await setImmediate();
  assert.deepEqual(process.complete, [[]]);
  await ownership.close();
});

test('a session that an adoption in doubt took is completed by no run of before', async () => {
  const stores: (() => void)[] = [];
  const process = adopting({ key: 'i\u0000c', turns: [2] });
  process.journal.settled = () =>
    new Promise((resolve) => void stores.push(() => resolve(undefined)));
  const ownership = createOwnership(process as never);
  await ownership.adopt();
  while (stores.length === 0) await setImmediate();
  ownership.told({ kind: 'opened', turn: 3, identity: 'i', clientId: 'c', cleanStart: false });
  process.shared.adopt = () => Promise.reject(new Error('the answer was lost'));
  await ownership.adopt();
  stores[0]?.();
  await setImmediate();
  assert.deepEqual(process.complete.slice(-1), [[]]);
  await ownership.close();
});

test('sessions whose log is not read yet keep no other one from being complete', async () => {
  const pages = Array.from({ length: 9 }, (_, at) => [
    { key: `k${at}`, turn: at + 2, wasElsewhere: true, subscriptions: [], heard: new Map() },
  ]);
  const here = new Map<string, object>();
  const complete: string[] = [];
  const allRead = Promise.withResolvers<void>();
  let reads = 0;
  const ownership = createOwnership({
    shared: {
      ...{ onFenced: () => undefined, adoptWills: async () => [] },
      adopt: async () => pages.shift() ?? [],
      async missed() {
        reads += 1;
        if (reads === 9) allRead.resolve();
        return { entries: [], isLast: true };
      },
      caughtUp: async (keys: string[]) => void complete.push(...keys),
    },
    registry: {
      find: (key: string) => here.get(key),
      restore: ({ key }: { key: string }) => void here.set(key, { key }),
    },
    // Messages that wait for each of them are stored when its log was read.
    journal: { settled: () => allRead.promise },
    log: { warn: (fields: object) => assert.fail(JSON.stringify(fields)) },
  } as never);
  await ownership.adopt();
  for (let turn = 0; turn < 100 && complete.length < 9; turn += 1) await setImmediate();
  assert.deepEqual([reads, complete.length], [9, 9]);
  await ownership.close();
});
