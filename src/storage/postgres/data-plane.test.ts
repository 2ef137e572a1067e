import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
} from '../../../test/contract/storage/builders.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { singleBatch } from '../../domain/datapoints/column-batch.ts';
import type { Correction } from '../../domain/datapoints/corrections/correction.ts';
import type { Push } from '../../domain/datapoints/datapoint-store.ts';
import { parseCorrectionId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';
import { hotLimits } from './timeseries/hot-limits.ts';

const datapointLimits = { ...hotLimits, flushRowsMin: 4, flushDatapointsMin: 8 };

/** Processes on one empty schema that has a device with sensors a and b. */
async function openSeveral(name: string, count = 2) {
  const url = await emptySchemaCalled(name);
  const opened = new AsyncDisposableStack();
  const open = async (): Promise<Storage> => {
    const storage = await openPostgres({ url, log: silentLog, serving: 'shared', datapointLimits });
    opened.defer(() => storage.close());
    return storage;
  };
  const storages: Storage[] = [];
  for (let at = 0; at < count; at += 1) storages.push(await open());
  const [one, other = one] = storages;
  assert.ok(one && other);
  await one.users.insert(aUser('ana'), 'hash');
  await one.devices.insert(aDevice(device, { sensors: [aSensor('a'), aSensor('b')] }));
  return { url, open, one, other, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const device = deviceId('d');
const sensor = (name: string) => ({ deviceId: device, sensorId: sensorId(name) });
const pushTo = (name: string, value: number, at?: number): Push => ({
  ...sensor(name),
  batch: singleBatch(value, at, noon),
});

/** A connection on which nobody else runs anything. */
async function connectTo(url: string) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return {
    run: (sql: string) => client.query(sql),
    [Symbol.asyncDispose]: () => client.end().catch(() => undefined),
  };
}

const lockSensor = (name: string): string =>
  `select from sensors where sensor_id = '${name}' for no key update`;
const stillWaits = async (work: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([work, wait(300).then(() => wait)])) === wait;

/** Row by row, where there are gaps between the ordinals of a sensor or two have the same. */
const brokenOrdinals = `
  select series from (
    select series, ordinal, lag(ordinal + count) over (partition by series order by ordinal) as next
    from hot) as rows
  where next is not null and next <> ordinal`;
const miscounted = `
  select series from sensors where arrivals <>
    (select coalesce(sum(count), 0) from hot where hot.series = sensors.series)
    + (select coalesce(sum(count), 0) from chunks where chunks.series = sensors.series)`;
const orphans = 'select from hot where series not in (select series from sensors)';

async function checkWhole(url: string): Promise<void> {
  for (const sql of [brokenOrdinals, miscounted, orphans]) {
    assert.equal((await onServer(url, sql)).rowCount, 0, sql);
  }
}

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
      for (let at = from; at < from + 60; at += 1) {
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
    assert.equal(await one.datapoints.count(sensor('a'), {}), 120);
    assert.equal(await other.datapoints.count(sensor('b'), {}), 180);
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
});

let corrections = 0;
const correctionOf = (name: string): Correction => ({
  ...{ id: parseCorrectionId(`${++corrections}`.padStart(24, '0')), ...sensor(name) },
  ...{ kind: 'removed', items: [], count: 1, by: aUser('ana').username, createdAt: noon },
  ...{ from: noon, to: noon, reach: { until: noon } },
});

describe('corrections', { skip: noPostgres, timeout: 60_000 }, () => {
  test('wait for the pushes to their sensor, and for no change of another kind', async () => {
    await using several = await openSeveral('plane_corrections');
    const { one, other } = several;
    const [first, second] = [correctionOf('a'), correctionOf('b')];
    await one.corrections.insert(first);
    await using third = await connectTo(several.url);
    await third.run(`begin; select from writers where writer = 0 for update; ${lockSensor('a')}`);
    const undoing = one.corrections.remove(sensor('a'), first.id);
    assert.ok(await stillWaits(undoing), 'it did not wait for its sensor');
    assert.equal(await other.corrections.insert(second), 'inserted');
    assert.ok(await other.members?.log.append('told'), 'nobody was told');
    await third.run('rollback');
    assert.equal(await undoing, 'removed');
    assert.deepEqual(await one.corrections.list(sensor('b')), [second]);
  });

  test('of an owner are no more than so many, made at several processes at once', async () => {
    await using several = await openSeveral('plane_owner');
    const { one, other, url } = several;
    await one.devices.insert(aDevice('full', { sensors: [aSensor('a')] }));
    await onServer(
      url,
      `insert into corrections
         (bucket, series, id, kind, from_time, to_time, until, count, "by", created_at, details)
       select bucket, series, 'x' || number, 'removed', 0, 0, 0, 1, 'ana', 0, '{}'
       from sensors, generate_series(2, ${limits.correctionsPerOwnerMax}) as number
       where device_id = 'full'`,
    );
    await using third = await connectTo(url);
    await third.run('begin; lock table corrections in share mode');
    const making = [
      one.corrections.insert(correctionOf('a')),
      other.corrections.insert(correctionOf('b')),
    ];
    for (const one of making) assert.ok(await stillWaits(one));
    await third.run('rollback');
    assert.deepEqual((await Promise.all(making)).toSorted(), ['inserted', 'too_many']);
  });

  test('wait for every change while a version serves that locks no rows', async () => {
    await using several = await openSeveral('plane_older_corrections', 1);
    await onServer(several.url, 'insert into members (locks_rows) values (false)');
    const newer = await several.open();
    await using third = await connectTo(several.url);
    await third.run('begin; select from writers where writer = 0 for update');
    const waiting = newer.corrections.insert(correctionOf('a'));
    assert.ok(await stillWaits(waiting));
    await third.run('rollback');
    assert.equal(await waiting, 'inserted');
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

  test('lock a sensor that was made anew while they waited for the one before', async () => {
    await using several = await openSeveral('plane_anew');
    await using other = await connectTo(several.url);
    await other.run(`
      create function slow() returns trigger language plpgsql as $$
        begin perform pg_sleep(1.5); return null; end $$;
      create trigger slow before insert on hot execute function slow();
      begin; update sensors set series = default where sensor_id = 'a'`);
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
    assert.deepEqual(await joined.members?.log.read(), [], 'it was written for nobody');
    await one.datapoints.append([pushTo('a', 2)], notes);
    const read = await joined.members?.log.read();
    assert.deepEqual(
      read?.map(({ text }) => text),
      ['note'],
    );
  });

  test('wait for every change while a version serves that locks no rows', async () => {
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
