import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { isInParts, onServer } from '../../../test/postgres-server.ts';
import { createHeartbeat } from '../../domain/members/heartbeat.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import type { Member } from '../../domain/members/member-store.ts';
import { silentLog } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { migrate, readMigrations } from './migrate.ts';
import { openPostgres } from './postgres-storage.ts';
import { lockService } from './service-lock.ts';

test('a process that loads for long is not given up by one that serves', {
  skip: noPostgres,
}, async () => {
  const url = await emptySchemaCalled('long_start');
  const open = () => openPostgres({ url, log: silentLog, serving: 'shared' });
  const [serving, starting] = [await open(), await open()];
  assert.ok(serving.members && starting.members);
  const { own } = starting.members;
  // Its services are not made yet, so nothing but its store can beat.
  const beats = 2 * memberLimits.silentBeats + 2;
  const told = await new Promise<readonly (readonly Member[])[]>((resolve) => {
    const lists: (readonly Member[])[] = [];
    const heartbeat = createHeartbeat({
      ...{ store: serving.members as NonNullable<typeof serving.members>, log: silentLog },
      listener: {
        onMembers(members) {
          lists.push(members);
          if (lists.length < beats) return;
          void heartbeat.stop();
          resolve(lists);
        },
      },
    });
    heartbeat.start();
  });
  assert.ok(told.every((members) => members.some(({ id }) => id === own)));
  const first = await starting.members.beat();
  assert.notEqual(first, 'lost');
  await starting.close();
  await serving.close();
});

describe('a database of a version that knew further ones', {
  skip: noPostgres || isInParts,
}, () => {
  /** One with a chunk, and whether its bytes are in a further one. */
  async function databaseOfBefore(name: string, isSent: boolean): Promise<string> {
    const url = await emptySchemaCalled(name);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const all = readMigrations();
    const at = all.findIndex((step) => step.name.endsWith('-one-database.sql'));
    await migrate(client, all.slice(0, at));
    await client.query(`
      insert into shards (id, has_joined) values ('one', true);
      insert into devices (bucket, id, owner, created_at, modified_at, details)
        values (1, 'd', 'ana', 0, 0, '{}');
      insert into sensors (bucket, device_id, sensor_id, details) values (1, 'd', 's', '{}');
      insert into chunks (bucket, series, min_time, max_time, count, points, shard, sent_bytes)
        select 1, series, 0, 1, 2, '', 1, ${isSent ? 9 : 'null'} from sensors`);
    await client.end();
    return url;
  }
  const open = (url: string) => openPostgres({ url, log: silentLog });

  test('is refused, and left as it is, while they have datapoints', async () => {
    const url = await databaseOfBefore('has_sent', true);
    const { rows: versions } = await onServer(url, 'select version from schema_version');
    for (const _ of [1, 2]) {
      await assert.rejects(open(url), (error) => {
        assert.ok(error instanceof UnusableStorageError);
        assert.match(error.message, /datapoints are in further databases.* kipimo move --to /);
        return true;
      });
    }
    const { rows } = await onServer(url, 'select version from schema_version');
    assert.deepEqual(rows, versions);
    const chunks = await onServer(url, 'select shard, sent_bytes from chunks');
    assert.deepEqual(chunks.rows, [{ shard: 1, sent_bytes: 9 }]);
  });

  test('is taken when all datapoints are in it', async () => {
    const url = await databaseOfBefore('has_all', false);
    await (await open(url)).close();
    const { rows } = await onServer(
      url,
      'select count(*)::integer as n, count(shard)::integer as shards from chunks',
    );
    assert.deepEqual(rows, [{ n: 1, shards: 1 }], 'the version before reads it as it was');
    await onServer(url, 'delete from chunks');
  });
});

describe('processes of two versions on one database', { skip: noPostgres }, () => {
  const newest = readMigrations().length;

  async function clientOf(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  }

  /** A member of an older version, which serves while its connection is open. */
  const joinOlder = async (client: pg.Client) => {
    await lockService(client, undefined, 'shared');
    await client.query(`
      insert into members (positions, beat, state, backend)
      values ('{}', 1, 'serving', pg_backend_pid())`);
  };

  test('that could not read each other’s tables do not serve together', async () => {
    const url = await emptySchemaCalled('versions_apart');
    const [older, client] = [await clientOf(url), await clientOf(url)];
    const before = readMigrations().slice(0, 20);
    await migrate(older, before);
    await joinOlder(older);
    const toNewest = () => migrate(client, readMigrations(), newest);
    await assert.rejects(
      toNewest(),
      /\(an older version\) cannot go on beside .*: stop all of them/,
    );
    const { rows } = await client.query('select version from schema_version');
    assert.deepEqual(rows, [{ version: 20 }], 'nothing was changed');
    const { rows: backends } = await older.query('select pg_backend_pid() as pid');
    await older.end();
    const isThere = `select 1 from pg_stat_activity where pid = ${backends[0].pid}`;
    while ((await onServer(url, isThere)).rowCount !== 0) await wait(10);
    await toNewest();
    await client.end();
  });

  test('that read each other’s tables serve together, and the older one starts again', async () => {
    const url = await emptySchemaCalled('versions_together');
    const [older, client] = [await clientOf(url), await clientOf(url)];
    const before = readMigrations().slice(0, 20);
    await migrate(older, before);
    await joinOlder(older);
    await migrate(client, readMigrations(), 20);
    await migrate(older, before);
    await client.query(`update schema_version set usable_from = ${newest}`);
    await assert.rejects(
      migrate(older, before),
      /version \d+, and this kipimo knows versions up to 20/,
    );
    await Promise.all([older.end(), client.end()]);
  });

  test('of which one meets newer tables when it comes back ends', async () => {
    const url = await emptySchemaCalled('versions_back');
    const replaced = Promise.withResolvers<string>();
    const onReplaced = replaced.resolve;
    const storage = await openPostgres({ url, log: silentLog, serving: 'shared', onReplaced });
    await onServer(url, `update schema_version set version = 1000, usable_from = 1000`);
    await onServer(
      url,
      `
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'kipimo writes' and pid <> pg_backend_pid()`,
    );
    assert.match(await replaced.promise, /version 1000, and this kipimo knows/);
    await storage.close();
  });
});
