import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aUser, deviceId, noon, userId } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import type { ClaimedDelivery, NewDelivery } from '../../domain/notifications/delivery.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';

/** Opens a schema, which is emptied first, as each of several processes does. */
async function openTwo(name: string): Promise<readonly [Storage, Storage, string]> {
  const url = await emptySchemaCalled(name);
  const share = () => openPostgres({ url, log: silentLog, serving: 'shared' });
  return [await share(), await share(), url];
}

const delivery: NewDelivery = {
  ...{ username: 'bob', channel: 'webhook', message: 'hot' },
  progress: { status: 'pending', dueAt: noon },
};

async function fileWith({ users, notifications }: Storage, deliveries: readonly NewDelivery[]) {
  await users.insert(aUser('ana'), 'hash');
  const rule = aNotification('n1');
  await notifications.insert(rule);
  const about = { notificationId: rule.id, deviceId: deviceId('d1'), at: noon };
  await notifications.fire([{ ...about, throttlingMs: 0, deliveries, state: {} }]);
}

const claimSome = ({ outbox }: Storage, now: number, quota = 100) =>
  outbox.claimDue({
    ...{ now, leaseEndsAt: now + 60_000 },
    quotas: new Map([
      ['webhook', quota],
      ['actuation', quota],
    ]),
  });

const idsOf = (claimed: readonly ClaimedDelivery[]) => claimed.map(({ id }) => id);

/** The others notice that it moves no more. */
async function giveUp(by: Storage, gone: Storage): Promise<void> {
  const own = gone.members?.own ?? 0;
  const members = await by.members?.beat();
  assert.ok(Array.isArray(members));
  const { beat = -1 } = members.find(({ id }) => id === own) ?? {};
  assert.equal(await by.members?.giveUp(own, beat), 'lost');
}

describe('the outbox of processes that share a database', { skip: noPostgres }, () => {
  test('hands each delivery to one of them', async () => {
    const [one, other] = await openTwo('outbox_claims');
    await fileWith(
      one,
      Array.from({ length: 90 }, () => delivery),
    );
    const claims = [one, other, one, other, one, other].map((by) => claimSome(by, noon, 20));
    const claimed = (await Promise.all(claims)).flatMap((found) => idsOf(found.claimed));
    assert.equal(new Set(claimed).size, 90);
    assert.equal(claimed.length, 90);
    await Promise.all([one.close(), other.close()]);
  });

  test('is due at once where a process that claimed it was given up', async () => {
    const [one, other] = await openTwo('outbox_given_up');
    const actuation: NewDelivery = {
      ...{ username: 'ana', channel: 'actuation', message: '{}', isUnderWay: true },
      progress: { status: 'pending', dueAt: noon + 60_000 },
    };
    await fileWith(one, [delivery, delivery, delivery, actuation]);
    const [first, second, third] = (await claimSome(one, noon)).claimed;
    assert.ok(first && second && third);
    const done = { attempts: 1, at: noon } as const;
    const dueAt = noon + 500_000;
    await one.outbox.complete([
      { id: first.id, ...done, kind: 'sent', code: 200 },
      { id: second.id, ...done, kind: 'retry', dueAt, reason: 'busy' },
    ]);
    assert.deepEqual((await claimSome(other, noon + 1)).claimed, []);
    await giveUp(other, one);
    const freed = (await claimSome(other, noon + 1)).claimed;
    assert.deepEqual(freed.map(({ channel, attempts }) => `${channel} ${attempts}`).toSorted(), [
      'actuation 2',
      'webhook 2',
    ]);
    assert.ok(idsOf(freed).includes(third.id));
    // An outcome that the ended process reports afterwards is refused.
    const late = one.outbox.complete([{ id: third.id, ...done, kind: 'sent', code: 200 }]);
    await assert.rejects(late, /another process of Kipimo serves this database/);
    assert.deepEqual(idsOf((await claimSome(other, dueAt)).claimed).includes(second.id), true);
    await Promise.all([one.close(), other.close()]);
  });

  test('is due at once where a process left, or served before one alone', async () => {
    const [one, other, url] = await openTwo('outbox_left');
    await fileWith(one, [delivery, delivery]);
    assert.equal((await claimSome(one, noon, 1)).claimed.length, 1);
    await one.close();
    assert.equal((await claimSome(other, noon)).claimed.length, 2);
    // Killed: it cannot say good-bye.
    await onServer(url, "update members set state = 'lost'");
    await other.close();
    await onServer(url, `update deliveries set claimed_by = 2, due_at = ${noon + 60_000}`);
    const alone = await openPostgres({ url, log: silentLog });
    assert.equal((await claimSome(alone, noon)).claimed.length, 2);
    await alone.close();
  });

  test('takes one credit and one place of the day for each message, whoever sends it', async () => {
    const [one, other] = await openTwo('outbox_credit');
    await one.users.insert(aUser('ana'), 'hash');
    await one.users.update(userId('id-ana'), { smsCredit: 5 });
    const pay = (by: Storage, max: number) =>
      by.outbox.pay('ana', 'sms', noon, { each: max, all: 100 });
    const all = [one, other, one, other, one, other];
    const paid = await Promise.all(all.map((by) => pay(by, 4)));
    assert.deepEqual(paid.toSorted(), [
      ...['own_day_full', 'own_day_full'],
      ...['paid', 'paid', 'paid', 'paid'],
    ]);
    const more = await Promise.all(all.map((by) => pay(by, 100)));
    assert.deepEqual(more.filter((outcome) => outcome === 'paid').length, 1);
    assert.ok(more.includes('no_credit'));
    await Promise.all([one.close(), other.close()]);
  });
});
