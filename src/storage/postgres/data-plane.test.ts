import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { aDevice, aSensor, aUser, noon } from '../../../test/contract/storage/builders.ts';
import {
  checkWhole,
  connectTo,
  device,
  lockSensor,
  openSeveral,
  pushTo,
  sensor,
  stillWaits,
} from '../../../test/postgres-processes.ts';
import { noPostgres } from '../../../test/postgres-schemas.ts';
import { isInParts, onServer } from '../../../test/postgres-server.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { Storage } from '../storage.ts';

describe('changes of datapoints', { skip: noPostgres, timeout: 60_000 }, () => {
  test('wait for no change of another kind', async () => {
    await using several = await openSeveral('plane_apart');
    await using other = await connectTo(several.url);
    await other.run('begin; select from writers where writer = 0 for update');
    assert.equal((await several.one.datapoints.append([pushTo('a', 1)]))[0]?.kind, 'stored');
    await other.run(lockSensor('a'));
    const waiting = several.one.datapoints.append([pushTo('a', 2)]);
    assert.ok(await stillWaits(waiting));
    assert.equal((await several.other.datapoints.append([pushTo('b', 1)]))[0]?.kind, 'stored');
    const change = several.other.users.insert(aUser('bo'), 'hash');
    assert.ok(await stillWaits(change), 'a change of another kind did not wait');
    await other.run('rollback');
    await Promise.all([waiting, change]);
  });

  test('of two processes, moved to chunks meanwhile, are all kept once', async () => {
    await using several = await openSeveral('plane_same');
    const { one, other, url } = several;
    const pushes = async (storage: Storage, names: readonly string[], from: number) => {
      for (let at = from; at < from + 120; at += 1) {
        const batch = names.map((name) => pushTo(name, at, at % 3 === 0 ? noon + at : undefined));
        const outcomes = await storage.datapoints.append(batch);
        assert.ok(outcomes.every(({ kind }) => kind === 'stored'));
      }
    };
    await Promise.all([
      pushes(one, ['a', 'b'], 0),
      pushes(other, ['b', 'a'], 1_000),
      pushes(one, ['b'], 2_000),
    ]);
    assert.equal(await one.datapoints.count(sensor('a'), {}), 240);
    assert.equal(await other.datapoints.count(sensor('b'), {}), 360);
    await checkWhole(url);
    const chunks = await onServer(url, 'select from chunks limit 1');
    assert.equal(chunks.rowCount, 1, 'nothing was moved');
  });

  test('that are repeated at another process are stored once', async () => {
    await using several = await openSeveral('plane_repeats');
    const { one, other } = several;
    for (let at = 0; at < 40; at += 1) {
      await Promise.all(
        [one, other].map(({ datapoints }) => datapoints.append([pushTo('a', at, noon + at)])),
      );
    }
    assert.equal(await one.datapoints.count(sensor('a'), {}), 40);
  });

  test('lock a sensor that was made anew while they waited', { skip: isInParts }, async () => {
    await using several = await openSeveral('plane_anew');
    await using other = await connectTo(several.url);
    await other.run(`
      create function slow() returns trigger language plpgsql as $$
        begin perform pg_sleep(1.5); return null; end $$;
      create trigger slow before insert on hot execute function slow();
      create temp table before as select * from sensors where sensor_id = 'a';
      begin;
      delete from sensors where sensor_id = 'a';
      insert into sensors (bucket, device_id, sensor_id, details)
        select bucket, device_id, sensor_id, details from before`);
    const waiting = several.one.datapoints.append([pushTo('a', 1)]);
    assert.ok(await stillWaits(waiting));
    await other.run('commit');
    const isInserting = "select from pg_stat_activity where wait_event = 'PgSleep'";
    while ((await other.run(isInserting)).rowCount === 0) await wait(10);
    const removing = other.run(lockSensor('a'));
    assert.ok(await stillWaits(removing), 'it was not locked');
    assert.equal((await waiting)[0]?.kind, 'stored');
    await removing;
  });
});

describe('changes of datapoints beside others', { skip: noPostgres, timeout: 60_000 }, () => {
  test('are tried again when the server ends a deadlock with them', async () => {
    await using several = await openSeveral('plane_deadlock');
    await using other = await connectTo(several.url);
    await other.run(`begin; ${lockSensor('b')}`);
    // It has a, and waits for b.
    const waiting = several.one.datapoints.append([pushTo('a', 1), pushTo('b', 1)]);
    assert.ok(await stillWaits(waiting));
    await other.run(lockSensor('a'));
    await other.run('commit');
    assert.deepEqual(
      (await waiting).map(({ kind }) => kind),
      ['stored', 'stored'],
    );
    assert.equal(await several.one.datapoints.count(sensor('a'), {}), 1);
  });

  test('beside the removal of their device leave nothing behind', async () => {
    await using several = await openSeveral('plane_removal');
    const { one, other, url } = several;
    let isOver = false;
    const push = async (storage: Storage): Promise<void> => {
      for (let at = 0; !isOver; at += 1) {
        const outcomes = await storage.datapoints.append([pushTo('a', at), pushTo('b', at)]);
        assert.ok(outcomes.every(({ kind }) => kind !== 'failed'));
      }
    };
    const pushing = [push(one), push(other)];
    for (let round = 0; round < 15; round += 1) {
      await one.devices.remove(device);
      await one.devices.insert(aDevice(device, { sensors: [aSensor('a'), aSensor('b')] }));
    }
    isOver = true;
    await Promise.all(pushing);
    await checkWhole(url);
  });

  test('under way are waited for by a process that joins', async () => {
    await using several = await openSeveral('plane_join', 1);
    const { one, open, url } = several;
    await using other = await connectTo(url);
    await other.run(`begin; ${lockSensor('a')}`);
    const notes = async () => [{ text: 'note' }];
    const waiting = one.datapoints.append([pushTo('a', 1)], notes);
    assert.ok(await stillWaits(waiting));
    const joining = open();
    assert.ok(await stillWaits(joining), 'it did not wait');
    await other.run('commit');
    await waiting;
    const joined = await joining;
    assert.deepEqual((await joined.members?.log.read())?.entries, [], 'written for nobody');
    await one.datapoints.append([pushTo('a', 2)], notes);
    const read = await joined.members?.log.read();
    assert.deepEqual(
      read?.entries.map(({ text }) => text),
      ['note'],
    );
  });

  test('wait for all beside a version that locks no rows', { skip: isInParts }, async () => {
    await using several = await openSeveral('plane_older', 1);
    const { one, open, url } = several;
    await onServer(url, 'insert into members (locks_rows) values (false)');
    const newer = await open();
    await using other = await connectTo(url);
    await other.run('begin; select from writers where writer = 0 for update');
    const waiting = newer.datapoints.append([pushTo('a', 1)]);
    assert.ok(await stillWaits(waiting));
    await other.run('commit');
    await waiting;
    await onServer(url, "update members set state = 'left' where not locks_rows");
    await newer.datapoints.append([pushTo('a', 2)]);
    await other.run('begin; select from writers where writer = 0 for update');
    await newer.datapoints.append([pushTo('a', 3)]);
    await other.run('commit');
    assert.equal(await one.datapoints.count(sensor('a'), {}), 3);
  });

  test('come before an evaluation that a client calls for, which keeps no other', async () => {
    await using several = await openSeveral('plane_tasks');
    const { one, other, url } = several;
    await using third = await connectTo(url);
    await third.run(`begin; ${lockSensor('a')}`);
    const { looks } = one;
    assert.ok(looks);
    const filing = looks.file({ id: 'task', member: looks.member, deviceId: device });
    assert.ok(await stillWaits(filing), 'it did not wait for a push under way');
    await other.users.insert(aUser('bo'), 'hash');
    await third.run('commit');
    await filing;
    assert.deepEqual(
      (await looks.line(device)).looks.map(({ id }) => id),
      ['task'],
    );
  });

  test('file evaluations of a device in the order of their commits', async () => {
    await using several = await openSeveral('plane_looks');
    const { one, other, url } = several;
    const push = async ({ datapoints, members }: Storage, name: string) => {
      for (let at = 0; at < 40; at += 1) {
        const id = `${members?.own} ${at}`;
        const look = { id, member: members?.own ?? 0, deviceId: device };
        await datapoints.append([pushTo(name, at)], async () => [{ text: id, look }]);
      }
    };
    await Promise.all([push(one, 'a'), push(other, 'b')]);
    const filed = await onServer(url, 'select id from looks order by place');
    const told = await onServer(url, 'select entry as id from feed_log order by place');
    assert.equal(filed.rowCount, 80);
    assert.deepEqual(filed.rows, told.rows);
  });

  test('under way when a subscription came are for it, whatever their place', async () => {
    await using several = await openSeveral('plane_since', 3);
    const { one, other, url } = several;
    const shared = one.mqttSessions.shared;
    assert.ok(shared && other.mqttSessions.shared);
    const key = sessionKey('user/ana', 'c');
    const payer = payerOfAccount('ana');
    const session = { key, identity: 'user/ana', clientId: 'c', payer, expirySeconds: 60 };
    const claiming = { ...session, isKnown: false, note: (turn: number) => `!${turn}` };
    await shared.claim({ ...claiming, isForced: false });
    const writer = other.members?.own ?? 0;
    await using late = await connectTo(url);
    await onServer(url, `insert into feed_log (writer, entry) values (${writer}, 'before')`);
    const { rows } = await late
      .run(`begin; insert into feed_log (writer, entry) values (${writer}, 'late') returning place`)
      .then((answer) => (answer as unknown as readonly pg.QueryResult[])[1] as pg.QueryResult);
    await one.mqttSessions.apply([
      { kind: 'opened', session },
      {
        ...{ kind: 'subscribed', key },
        subscription: {
          ...({ filter: 'devices/#', qos: 1, noLocal: false, retainAsPublished: false } as const),
          ...({ retainHandling: 0, identifier: 0 } as const),
        },
      },
    ]);
    await late.run('commit');
    const claimed = await other.mqttSessions.shared.claim({ ...claiming, isForced: true });
    assert.ok('turn' in claimed && claimed.session);
    const since = claimed.session.since.get('devices/#');
    const [place] = rows.map((row) => Number(row['place']));
    assert.ok(since && place);
    assert.ok(since(writer) < place);
    assert.ok(since(writer) > 0, 'what was committed before is for it as well');
  });
});
