import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aUser, noon } from '../../../test/contract/storage/builders.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { limits } from '../limits.ts';
import { createOfflineActors } from './credential-directory.ts';

async function start() {
  const { users, credentials } = await temporaryStorage();
  await users.insert(aUser('ana'), 'hash');
  const { id: userId } = aUser('ana');
  const sessions = { generation: 0 };
  let reading: Promise<void> | undefined;
  let reads = 0;
  const slowUsers = {
    ...users,
    async find(id: typeof userId) {
      reads += 1;
      const found = await users.find(id);
      await reading;
      return found;
    },
  };
  const clock = createManualClock(noon);
  const heard = { from: 0 };
  const changes = { isCurrent: (readAt: number) => readAt >= heard.from };
  const actors = createOfflineActors({ users: slowUsers, credentials, sessions, changes, clock });
  return {
    ...{ actors, users, sessions, userId, clock, heard },
    reads: () => reads,
    wait(until: Promise<void>) {
      reading = until;
    },
  };
}

test('who asks after a change is not told what was being read before it', async () => {
  const { actors, users, sessions, userId, wait } = await start();
  const slow = Promise.withResolvers<void>();
  wait(slow.promise);
  const before = actors.find({ userId });
  await new Promise(setImmediate);
  await users.update(userId, { isDisabled: true });
  sessions.generation += 1;
  const after = actors.find({ userId });
  slow.resolve();
  assert.equal((await before)?.kind, 'user');
  assert.equal(await after, undefined);
});

test('who hears nothing of others asks again, and joins nobody who asked before', async () => {
  const { actors, users, userId, heard, wait } = await start();
  const slow = Promise.withResolvers<void>();
  wait(slow.promise);
  const before = actors.find({ userId });
  await new Promise(setImmediate);
  await users.update(userId, { isDisabled: true });
  heard.from = Number.POSITIVE_INFINITY;
  const after = actors.find({ userId });
  slow.resolve();
  assert.equal((await before)?.kind, 'user');
  assert.equal(await after, undefined);
  assert.equal(actors.peek({ userId }), undefined);
});

test('an actor is at hand for a moment, and the store is asked again then', async () => {
  const { actors, userId, clock, reads } = await start();
  assert.equal(actors.peek({ userId }), undefined);
  await actors.find({ userId });
  await actors.find({ userId });
  assert.deepEqual([actors.peek({ userId })?.kind, reads()], ['user', 1]);
  clock.advance(limits.credentialCacheMs);
  assert.equal(actors.peek({ userId }), undefined);
  await actors.find({ userId });
  assert.equal(reads(), 2);
});
