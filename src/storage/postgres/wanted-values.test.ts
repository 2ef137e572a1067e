import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { device, openSeveral, pushTo, sensor } from '../../../test/postgres-processes.ts';
import { noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { singleBatch } from '../../domain/datapoints/column-batch.ts';
import { valueGroupOf, valueGroups } from '../../domain/members/member-store.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { WantedValues } from '../../domain/messaging/session-store.ts';
import type { Storage } from '../storage.ts';

const groupsOf = (...groups: readonly number[]): string =>
  Array.from({ length: valueGroups }, (_, at) => (groups.includes(at) ? '1' : '0')).join('');
const none: WantedValues = { groups: groupsOf(), isAll: true };
const own = valueGroupOf(device);
const another = (own + 1) % valueGroups;

async function want({ mqttSessions }: Storage, asked: WantedValues): Promise<void> {
  await mqttSessions.shared?.want(() => asked);
}

/** Whether a push at this process is to be written for others. */
async function isWrittenAt({ datapoints }: Storage): Promise<boolean> {
  let isWanted: boolean | undefined;
  await datapoints.append([pushTo('a', 1)], async (_, commit) => {
    isWanted = commit.isWanted(device);
    return [{ text: '["datapoints"]', isOwn: !isWanted }];
  });
  assert.ok(isWanted !== undefined);
  return isWanted;
}

describe('values that other processes want', { skip: noPostgres, timeout: 60_000 }, () => {
  test('are written for them, and no others', async () => {
    await using several = await openSeveral('wanted_groups');
    const { one, other, url } = several;
    // A process that has not said anything may want all.
    assert.ok(await isWrittenAt(one));
    await want(one, none);
    assert.ok(await isWrittenAt(one));
    await want(other, none);
    assert.equal(await isWrittenAt(one), false);
    await want(other, { groups: groupsOf(another), isAll: false });
    assert.equal(await isWrittenAt(one), false);
    await want(other, { groups: groupsOf(own), isAll: false });
    assert.ok(await isWrittenAt(one));
    // Also of its own: another process adopts its sessions when it ends.
    assert.ok(await isWrittenAt(other));
    const { rows } = await onServer(url, 'select count(*)::integer as n from feed_log');
    assert.equal(rows[0].n, 4);
    await want(other, { groups: groupsOf(another), isAll: true });
    assert.equal(await isWrittenAt(one), false);
  });

  test('are all that there are from the commit on that takes a session', async () => {
    await using several = await openSeveral('wanted_taken');
    const { one, other } = several;
    const { shared } = other.mqttSessions;
    assert.ok(shared && one.mqttSessions.shared);
    const of = { identity: 'user/ana', clientId: 'c' };
    const request = {
      ...{ ...of, key: sessionKey(of.identity, of.clientId), payer: 'account ana' as never },
      ...{ expirySeconds: 60, isKnown: false, isForced: true, note: () => '!' },
    };
    await one.mqttSessions.shared.claim(request);
    await Promise.all([want(one, none), want(other, none)]);
    assert.equal(await isWrittenAt(one), false);
    await shared.claim(request);
    assert.ok(await isWrittenAt(one));
    // What the process knows of its subscriptions holds once the session has caught up.
    await want(other, none);
    assert.ok(await isWrittenAt(one), 'given up while the session is behind');
    await shared.caughtUp([request.key]);
    await want(other, none);
    assert.equal(await isWrittenAt(one), false);
  });

  test('stay those of a process that ended until its sessions are taken', async () => {
    await using several = await openSeveral('wanted_left', 1);
    const { one, open } = several;
    const ended = await open();
    const of = { identity: 'user/ana', clientId: 'c' };
    assert.ok(ended.mqttSessions.shared);
    await ended.mqttSessions.shared.claim({
      ...{ ...of, key: sessionKey(of.identity, of.clientId), payer: 'account ana' as never },
      ...{ expirySeconds: 60, isKnown: false, isForced: false, note: () => '!' },
    });
    await want(one, none);
    await want(ended, { groups: groupsOf(own), isAll: true });
    await ended.close();
    assert.ok(await isWrittenAt(one));
    await one.mqttSessions.shared?.adopt();
    await one.mqttSessions.shared?.caughtUp([sessionKey(of.identity, of.clientId)]);
    await one.mqttSessions.shared?.adopt();
    await want(one, none);
    assert.equal(await isWrittenAt(one), false);
  });

  test('that come late count for when a sensor sent last', async () => {
    await using several = await openSeveral('wanted_heard');
    const { one, other } = several;
    assert.ok(other.looks);
    const ask = async () => (await other.looks?.heardAt([sensor('b'), sensor('a')])) ?? [];
    assert.deepEqual(await ask(), [undefined, undefined]);
    const at = Date.now();
    const append = (measured: number, received: number) =>
      one.datapoints.append([{ ...sensor('a'), batch: singleBatch(7, measured, received) }]);
    await append(at, at);
    assert.deepEqual(await ask(), [undefined, at]);
    await append(at - 3_600_000, at + 5_000);
    assert.deepEqual(await ask(), [undefined, at + 5_000]);
    // By a clock that was a year wrong, and is right again.
    await append(at - 3_600_001, at + 365 * 86_400_000);
    await append(at - 3_600_002, at + 6_000);
    assert.deepEqual(await ask(), [undefined, at + 6_000]);
  });
});
