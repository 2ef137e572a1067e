import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
import { singleBatch } from '../../domain/datapoints/column-batch.ts';
import { DomainError } from '../../domain/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { openLink } from './link.ts';
import { openPostgres } from './postgres-storage.ts';
import { createWriter } from './writer.ts';

// It ends all connections of the engine: on a server of its own.
delete process.env['TEST_POSTGRES_URL'];

const open = (url: string) => openPostgres({ url, log: silentLog });
const sensor = { deviceId: deviceId('d'), sensorId: sensorId('s') };

/** Ends all connections that the engine has, as a server that is restarted does. */
const cut = (url: string) =>
  onServer(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'kipimo %'`,
  );

describe('the connection that writes', { skip: noPostgres }, () => {
  test('of processes that start at once on an empty database one serves it', async () => {
    const url = await emptySchemaCalled('at_once');
    const outcomes = await Promise.allSettled([open(url), open(url), open(url)]);
    const opened = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? one.reason : []));
    assert.equal(opened.length, 1);
    for (const reason of refused) {
      assert.ok(reason instanceof UnusableStorageError);
      assert.match(reason.message, /another process of Kipimo serves this database/);
    }
    await opened[0]?.close();
    await (await open(url)).close();
  });

  test('everything is there after closing and opening again', async () => {
    const url = await emptySchemaCalled('again');
    const first = await open(url);
    await first.users.insert(aUser('ana'), 'hash');
    await first.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
    await first.datapoints.append([{ ...sensor, batch: singleBatch(1, noon, noon) }]);
    const secret = await first.installation.secret();
    await first.close();
    const second = await open(url);
    assert.equal((await second.users.findByUsername('ANA'))?.username, 'ana');
    assert.equal((await second.datapoints.lastValue(sensor))?.value, 1);
    assert.equal(await second.datapoints.count(sensor, {}), 1);
    assert.equal(await second.installation.secret(), secret);
    await second.close();
  });

  test('connections that are cut again and again lose and double nothing', async () => {
    const url = await emptySchemaCalled('cut');
    let reached = 0;
    const warn = (_: object, what: string): void => {
      if (what === 'the database was reached again') reached += 1;
    };
    const storage = await openPostgres({ url, log: { ...silentLog, warn } });
    await storage.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
    let [stored, refused] = [0, 0];
    const push = async (value: number): Promise<void> => {
      try {
        await storage.datapoints.append([
          { ...sensor, batch: singleBatch(value, undefined, noon) },
        ]);
        stored += 1;
      } catch (error) {
        assert.ok(error instanceof DomainError && error.code === 'unavailable', String(error));
        refused += 1;
      }
    };
    for (let round = 0; round < 8; round += 1) {
      const pushes = Array.from({ length: 20 }, (_, at) => push(round * 20 + at));
      await cut(url);
      await Promise.all(pushes);
    }
    assert.ok(reached > 0, 'the connection was lost');
    assert.equal(refused, 0, 'it was away for a moment only');
    assert.equal(await storage.datapoints.count(sensor, {}), stored);
    await storage.close();
  });

  test('a process that was replaced changes nothing, and says so', async () => {
    const url = await emptySchemaCalled('replaced');
    const storage = await open(url);
    await onServer(url, `update writers set member = 'another'`);
    await assert.rejects(storage.users.insert(aUser('ana'), 'hash'), (error) => {
      assert.ok(error instanceof DomainError);
      assert.equal(error.code, 'unavailable');
      assert.match(error.message, /another process of Kipimo serves this database now/);
      return true;
    });
    await assert.rejects(storage.ping());
    assert.equal((await storage.users.list({ limit: 1, offset: 0 })).total, 0);
    await storage.close();
  });

  test('a statement that nobody waits for refuses its call, and no other', async () => {
    const url = await emptySchemaCalled('sent');
    const writer = createWriter(await openLink({ url, log: silentLog }), silentLog);
    const write = (name: string, ...behind: readonly string[]) =>
      writer.call(async ({ run, send, all }) => {
        await run('insert into secrets (name, value) values ($1, $1)', name);
        for (const sql of behind) send(sql);
        return all<{ name: string }>('select name from secrets order by name');
      });
    const outcomes = await Promise.allSettled([
      write('first'),
      write('bad', 'insert into no_such_table values (1)'),
      write('last', "insert into secrets (name, value) values ('sent', '')"),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    // The failed statement is reported, and not what the server refused because of it.
    assert.match(String(outcomes[1]?.status === 'rejected' && outcomes[1].reason), /no_such_table/);
    const kept = await write('next');
    assert.deepEqual(kept.map(({ name }) => name).slice(0, 4), ['first', 'last', 'next', 'sent']);
    await writer.close();
  });

  test('tables of a newer version, or of another program, are left alone', async () => {
    const newer = await emptySchemaCalled('newer');
    await (await open(newer)).close();
    await onServer(newer, 'update schema_version set version = 999, usable_from = 999');
    await assert.rejects(open(newer), /version 999, and this kipimo knows versions up to/);
    const strange = await emptySchemaCalled('strange');
    await onServer(strange, 'create table customers (id integer)');
    await assert.rejects(open(strange), /tables of another program/);
  });

  test('a database that cannot be reached is named without its password', async () => {
    const url = 'postgres://kipimo:hunter2@127.0.0.1:1/kipimo';
    await assert.rejects(open(url), (error) => {
      assert.ok(error instanceof UnusableStorageError);
      assert.match(error.message, /the database of KIPIMO_DATABASE_URL cannot be opened/);
      assert.ok(!error.message.includes('hunter2'));
      return true;
    });
  });
});

describe('processes that share a database', { skip: noPostgres }, () => {
  test('lose and double nothing, and give up who is gone', async () => {
    const url = await emptySchemaCalled('shared');
    const share = () => openPostgres({ url, log: silentLog, serving: 'shared' });
    const [first, second, third] = await Promise.all([share(), share(), share()]);
    await first.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
    const push = (storage: typeof first, value: number) =>
      storage.datapoints.append([{ ...sensor, batch: singleBatch(value, undefined, noon) }]);
    const all = [first, second, third].flatMap((storage, place) =>
      Array.from({ length: 60 }, (_, at) => push(storage, 60 * place + at)),
    );
    const names = ['ana', 'bo', 'cleo'].flatMap((name, place) => {
      const storage = [first, second, third][place] ?? first;
      return [storage.users.insert(aUser(name), 'hash'), first.users.insert(aUser(name), 'hash')];
    });
    await Promise.all([...all, ...names]);
    assert.equal(await second.datapoints.count(sensor, {}), 180);
    assert.equal((await third.users.list({ limit: 9, offset: 0 })).total, 3);
    await assert.rejects(open(url), /another process of Kipimo serves this database/);

    const own = second.members?.own ?? 0;
    const members = await first.members?.beat();
    assert.ok(Array.isArray(members) && members.length === 3, JSON.stringify(members));
    const { beat = -1 } = members.find(({ id }) => id === own) ?? {};
    await second.members?.beat();
    assert.equal(await first.members?.giveUp(own, beat), 'moved');
    assert.equal(await first.members?.giveUp(own, beat + 1), 'lost');
    await assert.rejects(push(second, 1_000), /another process of Kipimo serves this database/);
    assert.equal(await second.members?.beat(), 'lost');
    await push(third, 1_001);
    assert.equal(await first.datapoints.count(sensor, {}), 181);

    await third.close();
    const left = await first.members?.beat();
    assert.deepEqual(Array.isArray(left) && left.map(({ state }) => state).toSorted(), [
      'left',
      'lost',
      'serving',
    ]);
    await Promise.all([first.close(), second.close()]);
    await (await open(url)).close();
  });
});
