import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectTo, device, openSeveral, pushTo } from '../../../test/postgres-processes.ts';
import { noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { valueGroupOf } from '../../domain/members/wanted-values.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { Storage } from '../storage.ts';

const of = { identity: 'user/ana', clientId: 'c' };
const key: SessionKey = sessionKey(of.identity, of.clientId);
const another = ['b', 'c', 'd'].find((id) => valueGroupOf(id) !== valueGroupOf(device)) ?? '';

const sharedOf = ({ mqttSessions: { shared } }: Storage) => {
  assert.ok(shared);
  return shared;
};

const claim = (storage: Storage) =>
  sharedOf(storage).claim({
    ...{ ...of, key, payer: 'account ana' as never },
    ...{ expirySeconds: 60, isKnown: false, isForced: true, note: () => '!' },
  });

/** A commit of the process, which stores what is wanted by then; it has looked for sessions. */
async function commit(storage: Storage): Promise<void> {
  if (!looked.has(storage)) await sharedOf(storage).adopt();
  looked.add(storage);
  await storage.ping();
}
const looked = new WeakSet<Storage>();

/** Whether a push at this process is to be written for others. */
async function isWrittenAt({ datapoints }: Storage): Promise<boolean> {
  let isWanted: boolean | undefined;
  await datapoints.append([pushTo('a', 1)], async (_, { isWanted: isWantedOf }) => {
    isWanted = isWantedOf(device);
    return [{ text: '["datapoints"]', isOwn: !isWanted }];
  });
  assert.ok(isWanted !== undefined);
  return isWanted;
}

describe('values that processes want', { skip: noPostgres, timeout: 60_000 }, () => {
  test('are written for them, and no others', async () => {
    await using several = await openSeveral('wanted_groups');
    const { one, other, url } = several;
    const { wanted } = sharedOf(other);
    // A process of a version before says nothing, and wants all.
    await commit(one);
    await onServer(url, 'update writers set wants = default where writer = 2');
    assert.ok(await isWrittenAt(one));
    await commit(other);
    await onServer(url, `update writers set wants = 0::bit(128) where writer = 2`);
    assert.equal(await isWrittenAt(one), false);
    wanted.count([another], 1);
    await wanted.settled([another]);
    assert.equal(await isWrittenAt(one), false);
    wanted.count([device], 1);
    await wanted.settled([device]);
    assert.ok(wanted.areSettled([device]));
    assert.ok(await isWrittenAt(one));
    // Also of its own: another process adopts its sessions when it ends.
    assert.ok(await isWrittenAt(other));
    const { rows } = await onServer(url, 'select count(*)::integer as n from feed_log');
    assert.equal(rows[0].n, 3);
    wanted.count([device], -1);
    await commit(other);
    assert.equal(await isWrittenAt(one), false);
  });

  test('are given up though the process commits nothing', async () => {
    await using several = await openSeveral('wanted_idle');
    const { one, other } = several;
    await Promise.all([commit(one), commit(other)]);
    const { wanted } = sharedOf(other);
    wanted.count([device], 1);
    await wanted.settled([device]);
    wanted.count([device], -1);
    assert.ok(await isWrittenAt(one));
    await other.members?.log.tidy();
    for (let tries = 0; await isWrittenAt(one); tries += 1) assert.ok(tries < 100);
  });

  for (const isBehind of [false, true]) {
    const which = isBehind ? 'behind the commit that stores them' : 'before it';
    test(`are waited for until commits have ended that began ${which}`, async () => {
      await using several = await openSeveral(`wanted_while_${isBehind}`);
      const { one, other, url } = several;
      await Promise.all([commit(one), commit(other)]);
      const { wanted } = sharedOf(other);
      const begun = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      let isOver = false;
      const push = async (): Promise<void> => {
        await one.datapoints.append([pushTo('a', 1)], async (_, { isWanted }) => {
          assert.equal(isWanted(device), false);
          begun.resolve();
          await goOn.promise;
          return [];
        });
        isOver = true;
      };
      const settle = async (): Promise<void> => {
        wanted.count([device], 1);
        await wanted.settled([device]);
        assert.ok(isOver);
      };
      await using lock = await connectTo(url);
      await lock.run('begin');
      // The commit that stores what is wanted has its number, and waits.
      if (isBehind) await lock.run('select from writers where writer = 2 for update');
      const first = isBehind ? settle() : push();
      await (isBehind ? new Promise((resolve) => setTimeout(resolve, 200)) : begun.promise);
      const second = isBehind ? push() : settle();
      await begun.promise;
      await lock.run('rollback');
      await new Promise((resolve) => setTimeout(resolve, 200));
      goOn.resolve();
      await Promise.all([first, second]);
    });
  }

  test('are all that there are from the commit on that takes a session', async () => {
    await using several = await openSeveral('wanted_taken');
    const { one, other } = several;
    await claim(one);
    await Promise.all([commit(one), commit(other)]);
    assert.equal(await isWrittenAt(one), false);
    await claim(other);
    assert.ok(await isWrittenAt(one));
    // The subscriptions of the session alone count once it has caught up.
    await commit(other);
    assert.ok(await isWrittenAt(one), 'given up while the session is behind');
    await sharedOf(other).caughtUp([key]);
    await commit(other);
    assert.equal(await isWrittenAt(one), false);
  });

  test('stay those of a process that ended until its sessions are taken', async () => {
    await using several = await openSeveral('wanted_left', 1);
    const { one, open } = several;
    const ended = await open();
    await claim(ended);
    sharedOf(ended).wanted.count([device], 1);
    await commit(ended);
    await ended.close();
    await commit(one);
    assert.ok(await isWrittenAt(one));
    await sharedOf(one).adopt();
    assert.ok(await isWrittenAt(one), 'of a session that is not caught up');
    await sharedOf(one).caughtUp([key]);
    await sharedOf(one).adopt();
    await commit(one);
    assert.equal(await isWrittenAt(one), false);
  });
});
