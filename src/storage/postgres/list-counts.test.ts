import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { connectTo, stillWaits } from '../../../test/postgres-processes.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import { migrate, readMigrations } from './migrate.ts';
import { openPostgres } from './postgres-storage.ts';

const differences = `
  select kind, part, sum(things) from (
    select kind, part, things from list_counts
    union all select 'device', unnest(array['*', listed, '=' || nocase(owner)]), -1 from devices
    union all select 'gateway', unnest(array['*', listed, '=' || nocase(owner)]), -1 from gateways
    union all select 'user', '*', -1 from users
    union all select 'social', '*', -1 from socials
    union all select 'social', '=' || nocase(name), -1 from (
      select sender as name, id from socials union select recipient, id from socials) as people)
  as both_ways group by kind, part having sum(things) <> 0`;

const planOfPage = `
  explain (costs off)
  select position, id from (select * from (select position as place from (
      select * from (select position from devices where listed = '' and position > -1
        order by position limit 20) as part
      union all select * from (select position from devices where listed = 'ana'
        and position > -1 order by position limit 20) as part) as parts
      order by position limit 20) as places order by place limit 20 offset 0) as shown
  join devices on position = place order by place`;

test('what processes change at once is counted once, in few rows', {
  skip: noPostgres,
}, async () => {
  const url = await emptySchemaCalled('list_counts');
  await (await openPostgres({ url, log: silentLog })).close();
  const changes = (process: number): readonly string[] => [
    `insert into devices (bucket, id, owner, visibility, created_at, modified_at, details)
     select 0, ${process} || '-' || n, case when n % 3 = 0 then 'Ana' else 'ben' end,
       case when n % 2 = 0 then 'private' end, 0, 0, '{}' from generate_series(1, 2000) as n`,
    `update devices set visibility = 'private' where id like '${process}-%1'`,
    `update devices set owner = 'guest' where id like '${process}-%2'`,
    `delete from devices where id like '${process}-%3'`,
  ];
  const runAll = async (process: number): Promise<void> => {
    for (const change of changes(process)) await onServer(url, change);
  };
  await Promise.all([1, 2, 3, 4].map(runAll));
  assert.deepEqual((await onServer(url, differences)).rows, []);
  const { rows } = await onServer(url, 'select count(*)::integer as n from list_counts');
  // Of some 30,000 that changes added.
  assert.ok(rows[0].n < 3_000, `${rows[0].n} rows`);
  await onServer(url, 'analyze devices');
  const plan = (await onServer(url, planOfPage)).rows.map((row) => String(row['QUERY PLAN']));
  assert.match(plan.join('\n'), /Index (Only )?Scan using devices_listed/);
  assert.doesNotMatch(plan.join('\n'), /Seq Scan/);
});

const adds = {
  user: `insert into users (id, username, email_proof, password_hash, created_at, is_admin,
      is_disabled, profile, proofs)
    values ('u', 'u', 0, '', 0, 0, 0, '{}', '[]')`,
  socials: `insert into socials (id, sender, recipient, status, created_at, details)
    select n, 'ana', case when n % 2 = 0 then 'ben' else 'ana' end, 'sent', 0, '{}'
    from generate_series(1, 20000) as n`,
  gateways: `insert into gateways (id, owner, created_at, modified_at, status, details)
    select n, 'ana', 0, 0, '', '{}' from generate_series(1, 5000) as n`,
};

test('what an account leaves goes with it, however much it is', {
  skip: noPostgres,
  timeout: 60_000,
}, async () => {
  const url = await emptySchemaCalled('list_counts_end');
  await (await openPostgres({ url, log: silentLog })).close();
  for (const add of Object.values(adds)) await onServer(url, add);
  assert.deepEqual((await onServer(url, differences)).rows, []);
  for (const table of ['socials', 'gateways', 'users']) await onServer(url, `delete from ${table}`);
  assert.deepEqual((await onServer(url, differences)).rows, []);
  const { rows } = await onServer(url, `select part from list_counts where part like '=%'`);
  assert.deepEqual(rows, []);
});

test('what is under way while a new version counts is counted', { skip: noPostgres }, async () => {
  const url = await emptySchemaCalled('list_counts_late');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await using other = await connectTo(url);
  await migrate(client, readMigrations().slice(0, 22));
  await other.run(`begin; select from writers where writer = 0 for update; ${adds.user}`);
  const migrating = migrate(client);
  assert.ok(await stillWaits(migrating));
  await other.run('commit');
  await migrating;
  await client.end();
  assert.deepEqual((await onServer(url, differences)).rows, []);
});
