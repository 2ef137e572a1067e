import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import { silentLog } from '../../lib/log.ts';
import { openPostgres } from './postgres-storage.ts';

const about = { identity: 'user/ana', clientId: 'c', payer: payerOfAccount('ana') };
const key = sessionKey(about.identity, about.clientId);
const subscription = {
  ...({ filter: 'devices/#', qos: 1, noLocal: false, retainAsPublished: false } as const),
  ...({ retainHandling: 0, identifier: 0 } as const),
};

/** A process on the schema, as far as its sessions and its log go. */
async function openMember(url: string) {
  const storage = await openPostgres({ url, log: silentLog, serving: 'shared' });
  const { members, mqttSessions } = storage;
  assert.ok(members && mqttSessions.shared);
  const { log, own } = members;
  const { shared } = mqttSessions;
  return {
    ...{ own, log, shared, close: () => storage.close() },
    /** Acts on all that others wrote, and on what it wrote itself before the last call. */
    async act(): Promise<void> {
      await log.read();
      await log.acknowledgement()();
      await log.tidy();
    },
    /** Opens the session of the client, or takes it from the process that has it. */
    async take() {
      const terms = { expirySeconds: 60, isKnown: false, isForced: true, note: () => '!taken' };
      const claimed = await shared.claim({ key, ...about, ...terms });
      assert.ok('turn' in claimed);
      return claimed.session;
    },
    async subscribe(): Promise<void> {
      const session = { key, ...about, expirySeconds: 60 };
      await mqttSessions.apply([
        { kind: 'opened', session },
        { kind: 'subscribed', key, subscription },
      ]);
    },
  };
}

/** Three processes on one schema: `a` has the session at first, `b` takes it, `c` writes. */
async function openMembers(name: string) {
  const url = await emptySchemaCalled(name);
  const [a, b, c] = [await openMember(url), await openMember(url), await openMember(url)];
  await a.take();
  await a.subscribe();
  return {
    ...{ url, a, b, c },
    async isKept(text: string): Promise<boolean> {
      for (let times = 0; times < 3; times += 1) for (const one of [a, b, c]) await one.act();
      const found = await onServer(url, `select from feed_log where entry = '${text}'`);
      return (found.rowCount ?? 0) > 0;
    },
    async [Symbol.asyncDispose]() {
      for (const one of [a, b, c]) await one.close();
    },
  };
}

test('a session keeps what its process had not acknowledged, wherever it goes meanwhile', {
  skip: noPostgres,
}, async () => {
  await using members = await openMembers('behind_moves');
  const { a, b, c, isKept } = members;
  await c.log.append('before');
  for (const one of [a, b, c]) await one.act();
  const lacked = await c.log.append('lacked');
  assert.ok(lacked);
  await b.act();
  const since = (await b.take())?.since.get('devices/#');
  assert.ok(since);
  assert.ok(since(c.own) < lacked.place, 'what it lacks is not read');
  assert.equal(await isKept('before'), false);
  assert.ok(await isKept('lacked'));
  // All have acknowledged it, and it is in no queue yet.
  const again = (await a.take())?.since.get('devices/#');
  assert.ok(
    again !== undefined && again(c.own) < lacked.place,
    'the next process does not read it',
  );
  assert.ok(await isKept('lacked'), 'dropped although it is in no queue');
  await c.log.append('later');
  assert.ok(await isKept('later'));
  await a.shared.caughtUp([key]);
  assert.deepEqual([await isKept('lacked'), await isKept('later')], [false, false]);
});

test('for a session that a version before took, all is kept', { skip: noPostgres }, async () => {
  await using members = await openMembers('behind_older');
  const { url, a, b, c, isKept } = members;
  await c.log.append('heard');
  for (const one of [a, b, c]) await one.act();
  await b.take();
  // As that version does.
  await onServer(url, 'update mqtt_sessions set term = term + 1, behind = true');
  assert.ok(await isKept('heard'));
  const since = (await a.take())?.since.get('devices/#');
  assert.equal(since?.(c.own), 0);
  assert.ok(await isKept('heard'));
});

test('the log does not grow while sessions move without a pause', {
  skip: noPostgres,
}, async () => {
  await using members = await openMembers('behind_always');
  const { url, a, b, c } = members;
  const other = sessionKey(about.identity, 'd');
  const terms = { expirySeconds: 60, isKnown: false, isForced: true, note: () => '!taken' };
  const takeOther = (by: typeof a) =>
    by.shared.claim({ key: other, ...about, clientId: 'd', ...terms });
  await takeOther(a);
  // One of the two sessions is behind at every moment.
  for (const [at, by] of [b, a, b, a, b, a].entries()) {
    await by.take();
    if (at > 0) await (by === a ? b : a).shared.caughtUp([other]);
    await c.log.append(`${at}`);
    for (const one of [a, b, c]) await one.act();
    await takeOther(by);
    await by.shared.caughtUp([key]);
  }
  const { rows } = await onServer(
    url,
    `select min(entry) as first from feed_log where entry ~ '^[0-9]'`,
  );
  assert.ok(Number(rows[0]?.first) >= 3, `all since ${rows[0]?.first} is kept`);
});
