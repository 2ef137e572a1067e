import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { createHeartbeat } from '../../domain/members/heartbeat.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import type { Member } from '../../domain/members/member-store.ts';
import { silentLog } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { migrate, readMigrations } from './migrate.ts';
import { openPostgres } from './postgres-storage.ts';

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

describe('a database of a version that knew further ones', { skip: noPostgres }, () => {
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
      `select to_regclass('chunks') is not null as chunks, to_regclass('shards') as shards,
        (select count(*)::integer from chunks) as n`,
    );
    assert.deepEqual(rows, [{ chunks: true, shards: null, n: 1 }]);
    await onServer(url, 'delete from chunks');
  });
});
