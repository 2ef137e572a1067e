import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silentLog } from '../../../src/lib/log.ts';
import { readMigrations } from '../../../src/storage/postgres/migrate.ts';
import { openPostgres } from '../../../src/storage/postgres/postgres-storage.ts';
import { aDevice, aSensor, aUser, noon, userId } from '../../../test/contract/storage/builders.ts';
import { at, push } from '../../../test/contract/storage/datapoint-builders.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { openAccounts } from './accounts.ts';

describe('accounts beside a service', { skip: noPostgres }, () => {
  test('a command takes its turn between the commits of the service', async () => {
    const url = await emptySchemaCalled('accounts-turns');
    const storage = await openPostgres({ url, log: silentLog });
    await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
    const { users, close } = await openAccounts(url, { makes: false, textOf: JSON.stringify });
    const pushes = async () => {
      for (let n = 0; n < 100; n += 1) await storage.datapoints.append([push([at(n, n)])]);
    };
    const accounts = async () => {
      for (let n = 0; n < 40; n += 1) await users.insert(aUser(`user${n}`), 'hash');
      await assert.rejects(users.insert({ ...aUser('x'), id: null as never }, 'hash'));
      assert.equal(await users.insert(aUser('USER1'), 'hash'), 'duplicate');
    };
    await Promise.all([pushes(), accounts()]);
    assert.equal(await storage.datapoints.count(push([]), {}), 100);
    assert.equal((await storage.users.list({ limit: 1, offset: 0 })).total, 40);
    // A service that is there for itself: the number of its commits is its own.
    await storage.users.insert(aUser('last'), 'hash');
    // No entry is written for it either: no process would ever read that.
    assert.equal(await users.update(userId('id-user1'), { isDisabled: true }), 'updated');
    assert.deepEqual((await onServer(url, 'select entry from feed_log')).rows, []);
    assert.equal((await users.list({ limit: 1, offset: 0 })).total, 41);
    await close();
    await storage.close();
  });

  test('tables of an earlier version are changed while no service runs', async () => {
    const url = await emptySchemaCalled('accounts-version');
    const storage = await openPostgres({ url, log: silentLog });
    await emptySchemaCalled('accounts-version');
    const version = 'create table schema_version (version integer); insert into schema_version';
    await onServer(url, `${readMigrations()[0]?.sql}; ${version} values (1)`);
    await assert.rejects(
      openAccounts(url, { makes: false, textOf: JSON.stringify }),
      /another process of Kipimo serves/,
    );
    await storage.close();
    const accounts = await openAccounts(url, { makes: false, textOf: JSON.stringify });
    await accounts.users.insert({ ...aUser('ama'), createdAt: noon }, 'hash');
    await accounts.close();
    const { rows } = await onServer(url, 'select version from schema_version');
    assert.equal(rows[0].version, readMigrations().length);
    // The lock was given back at once.
    await (await openPostgres({ url, log: silentLog })).close();
  });
});
