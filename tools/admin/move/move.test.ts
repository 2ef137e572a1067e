import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { hourMs } from '../../../src/domain/datapoints/retention/retention.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { openPostgres } from '../../../src/storage/postgres/postgres-storage.ts';
import { openSqlite } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { StoragePlace } from '../../../src/storage/storage.ts';
import { aDevice, aSensor, noon, username } from '../../../test/contract/storage/builders.ts';
import { allValues, at, push, sensor } from '../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { isInParts, onServer } from '../../../test/postgres-server.ts';
import { move } from '../open-for-commands.ts';
import { openMoveSource } from '../sqlite/move/move-source.ts';
import { digestOf } from './move.ts';
import { movedTables } from './tables.ts';

const odd = `'Maji, 测 \uffff0 ''"\\ ' || char(10)`;

/** Rows of the tables that no datapoint is in, with all kinds of texts, bytes and nulls. */
const rows = `
  insert into users values
    (1, 'u1', 'ama', 'ama@example.org', 'hash', ${noon}, 1, 0, 2.5, ${odd}, '[]', 1, 'key', 0, 1,
      ${noon}),
    (7, 'u2', 'Kofi', null, 'hash', ${noon}, 0, 1, null, '{}', '[]', 0, null, 1, 0, null);
  insert into login_sessions values
    ('l1', 'u1', 'h1', 'h0', 1, 2, 3, 4, '{}'), ('l2', 'u1', 'h2', null, null, 2, 3, 4, ${odd});
  insert into tokens values (1, 't1', 'u1', 9, 8, 'l1'), (5, 't2', 'u2', 9, 8, null);
  insert into access_keys values (3, 'k1', 'h1', 'u1', 5, null, ${odd});
  insert into login_networks values ('u1', '10.0.0.0/24', 5);
  insert into password_resets values ('u1', 'c', 6, 7);
  insert into failures values ('login', ${odd}, 3, 4);
  insert into call_texts values ('c1', ${odd}, 9);
  insert into user_groups values (2, 'g1', 'ama', '{}');
  insert into group_members values ('Kofi', 'g1'), ('ama', 'g1');
  insert into grants values ('device', 'd1', 'Kofi', '[]'), ('device', 'd1', 'esi', '["x"]');
  insert into group_grants values ('g1', 'device', 'd1', '[]');
  insert into invitations values (2, 'i1', 'h1', 'u1', 5, 6, 7, 0, '{}');
  insert into invitation_uses values ('i1', 'u2', 1);
  insert into actuators values (4, 'd1', 'a1', ${odd});
  insert into damaged_chunks values (900, 1, 1, 2, 3, x'0102');
  insert into gateways values (1, 'gw', 'ama', null, 5, ${odd}, 6, 7, '{}');
  insert into projects values (1, 'p', 'ama', '{}');
  insert into project_members values ('p', 'device', 'd1');
  insert into socials values (2, 's', 'ama', 'Kofi', 'sent', 5, ${odd});
  insert into notifications values
    (3, 'n', 'ama', 1, 5, 6, '{}', 7, null, 8, 200, null, ${odd});
  insert into notification_states values (3, 'd1', '{}');
  insert into deliveries
    (position, notification, social, payer, channel, status, attempts, created_at, due_at, sent_at,
      is_charged, token, details)
    values (1, 3, null, 'ama', 'sms', 'pending', 1, 2, 3, null, 1, 't', '{}'),
      (6, null, 's', 'ama', 'email', 'sent', 1, 2, null, 4, 0, 't', '{}');
  insert into paid_messages values (20000, 'ama', 'sms', 4);
  insert into mqtt_sessions (session, identity, client_id, expiry_seconds, left_at, payer)
    values (2, 'u:u1', ${odd}, 60, null, null), (9, 'guest', 'c', 4294967295, 5, 'a:1');
  insert into mqtt_subscriptions values (1, 2, 'devices/#', 1, 0, 1, 2, 268435455);
  insert into mqtt_messages values (4, 'a/b', x'', 1, 0, null, null, null),
    (5, 'a/b', x'00ff', 2, 1, x'01', 7, '["u:u1","c"]');
  insert into mqtt_queue values (1, 2, 1, 4, 1, 0, '[]'), (3, 2, 2, null, 2, 0, '[1]');
  insert into mqtt_received values (9, 65535, 0);
  insert into mqtt_retained values (1, ${odd}, x'0102', 0, null, null, null, null);
  insert into installation_settings values ('signUp', 'closed');`;

/** A data directory with something in every table. */
async function filled(): Promise<string> {
  const directory = temporaryDirectory({ after });
  const storage = await openSqlite({ directory, log: silentLog });
  const secret = await storage.installation.secret();
  assert.match(secret, /^[0-9a-f]{64}$/);
  await storage.devices.insert(
    aDevice('d1', { owner: username('ama'), sensors: [aSensor('s1'), aSensor('s2')] }),
  );
  const many = Array.from({ length: 6_000 }, (_, n) => at(n, n % 97));
  await storage.datapoints.append([push(many, sensor('d1', 's1'))]);
  await storage.datapoints.append([
    push([at(5, 'Maji, 测'), { value: { a: [1] }, receivedAt: noon }], sensor('d1', 's1')),
  ]);
  await storage.corrections.insert({
    ...{ id: 'c1' as never, ...sensor('d1', 's1'), kind: 'removed', items: [], count: 1 },
    ...{ from: noon, to: noon, by: username('ama'), createdAt: noon, reach: { until: noon } },
  });
  await storage.retentions.put({ kind: 'sensor', ...sensor('d1', 's1') }, { rawDays: 3 });
  const tally = {
    ...{ begin: Math.floor(noon / hourMs) * hourMs - 240 * hourMs, count: 1, numbers: 1 },
    ...{ textNumbers: 0, min: 1, max: 1, sum: 1, first: 1, last: 1, rise: 0, fall: 0 },
  };
  await storage.retaining.restore(sensor('d1', 's1'), { rawBefore: noon - 9e8 }, [tally]);
  await storage.close();
  using database = new DatabaseSync(join(directory, 'kipimo.db'));
  database.exec(rows);
  database.exec(`
    insert into retentions values (null, 'd1', null, null, null), (null, null, 'ama', 1, 2)`);
  return directory;
}

const quiet = { onProgress: () => undefined };

/** What all tables of a data directory come to. */
async function digests(directory: string): Promise<ReadonlyMap<string, object>> {
  const source = await openMoveSource(directory, silentLog);
  const found = new Map<string, object>();
  for (const table of movedTables) {
    found.set(table.name, await digestOf(source, table, () => undefined));
  }
  await source.close();
  return found;
}

describe('moving everything to another engine', { skip: noPostgres }, () => {
  test('there and back, every table is the same', async () => {
    const directory = await filled();
    const before = await digests(directory);
    for (const [name, digest] of before) {
      assert.ok(Reflect.get(digest, 'rows') > 0, `nothing is tried of ${name}`);
    }
    const url = await emptySchemaCalled('move-there');
    const postgres: StoragePlace = { kind: 'postgres', url };
    const told: number[] = [];
    const there = await move({ kind: 'sqlite', directory }, postgres, {
      onProgress: (done, total) => told.push(done / total),
    });
    assert.equal(there.datapoints, 6_002);
    assert.equal(there.rows.size, movedTables.length);
    assert.equal(told.at(-1), 1);
    assert.deepEqual(told, told.toSorted());
    const secret = await secretOf({ kind: 'sqlite', directory });
    assert.equal(await secretOf(postgres), secret);

    const back = join(temporaryDirectory({ after }), 'made');
    const again = await move(postgres, { kind: 'sqlite', directory: back }, quiet);
    assert.deepEqual(again, there);
    assert.deepEqual(await digests(back), before);
    assert.deepEqual(await digests(directory), before);
    assert.equal(await secretOf({ kind: 'sqlite', directory: back }), secret);
  });

  test('what was moved is read, added to and removed as what was made there', async () => {
    const url = await emptySchemaCalled('move-used');
    await move({ kind: 'sqlite', directory: await filled() }, { kind: 'postgres', url }, quiet);
    const storage = await openPostgres({ url, log: silentLog });
    const s1 = sensor('d1', 's1');
    assert.equal((await allValues(storage.pushedDatapoints, s1)).length, 6_002);
    // It knows of repeats, and numbers go on.
    const repeat = await storage.datapoints.append([push([at(5, 5), at(9_000, 1)], s1)]);
    assert.equal(repeat[0]?.kind === 'stored' ? repeat[0].fresh.count : undefined, 1);
    assert.equal((await storage.datapoints.lastValue(s1))?.value, 1);
    assert.equal(
      await storage.devices.insert(aDevice('d2', { sensors: [aSensor('x')] })),
      'inserted',
    );
    await storage.datapoints.append([push([at(1, 1)], sensor('d2', 'x'))]);
    assert.deepEqual(await allValues(storage.datapoints, sensor('d2', 'x')), [1]);
    assert.equal((await storage.mqttSessions.load()).sessions.length, 2);
    const ama = await storage.users.findByUsername(username('AMA'));
    assert.ok(ama !== undefined);
    await storage.users.remove(ama.id);
    assert.equal(await storage.devices.find(s1.deviceId), undefined);
    await storage.close();
  });
});

describe('moving that does not go well', { skip: noPostgres }, () => {
  test('one that broke off goes on with the same, and nothing else starts on it', async () => {
    const directory = await filled();
    const from: StoragePlace = { kind: 'sqlite', directory };
    const url = await emptySchemaCalled('move-half');
    const back = temporaryDirectory({ after });
    const way = async (source: StoragePlace, target: StoragePlace, other: () => Promise<void>) => {
      for (const pages of [1, 16, 19, 60]) {
        const stop = new AbortController();
        let told = 0;
        const broken = move(source, target, {
          signal: stop.signal,
          onProgress: () => {
            told += 1;
            if (told === pages) stop.abort(new Error('stopped here'));
          },
        });
        await assert.rejects(broken, /stopped here/);
        await other();
      }
      await move(source, target, quiet);
      await assert.rejects(move(source, target, quiet), /holds data already/);
    };
    await way(from, { kind: 'postgres', url }, async () => {
      await assert.rejects(openPostgres({ url, log: silentLog }), /run kipimo move again/);
      const other: StoragePlace = { kind: 'sqlite', directory: await filled() };
      await assert.rejects(move(other, { kind: 'postgres', url }, quiet), /from another place/);
    });
    await way({ kind: 'postgres', url }, { kind: 'sqlite', directory: back }, async () => {
      const target: StoragePlace = { kind: 'sqlite', directory: back };
      await assert.rejects(move(from, target, quiet), /from another place/);
    });
    assert.deepEqual(await digests(back), await digests(directory));
  });

  test('while a service runs on either nothing is moved', async () => {
    const directory = await filled();
    const from: StoragePlace = { kind: 'sqlite', directory };
    const url = await emptySchemaCalled('move-busy');
    const to: StoragePlace = { kind: 'postgres', url };
    const sqlite = await openSqlite({ directory, log: silentLog });
    await assert.rejects(move(from, to, quiet), /is in use by another kipimo/);
    await sqlite.close();
    const postgres = await openPostgres({ url, log: silentLog });
    await assert.rejects(move(from, to, quiet), /another process of Kipimo serves this database/);
    await assert.rejects(
      move(to, { kind: 'sqlite', directory: temporaryDirectory({ after }) }, quiet),
      /another process of Kipimo serves this database/,
    );
    await postgres.close();
  });

  test('what changes behind its back is told, and no service starts on it', async () => {
    const url = await emptySchemaCalled('move-changed');
    const directory = await filled();
    let isChanged = false;
    const changed = move(
      { kind: 'sqlite', directory },
      { kind: 'postgres', url },
      {
        onProgress: (done, total) => {
          // Everything is copied, and nothing compared.
          if (isChanged || done < total / 3) return;
          isChanged = true;
          using database = new DatabaseSync(join(directory, 'kipimo.db'));
          database.exec(
            'update chunks set datapoints = zeroblob(length(datapoints)) where series = 1',
          );
        },
      },
    );
    await assert.rejects(changed, /what was moved is not what is there: chunks \(\d+ rows, and/);
    await assert.rejects(openPostgres({ url, log: silentLog }), /run kipimo move again/);
  });

  const ofSessions = (column: string) => `mqtt_sessions.${column}`;

  test('no table and no column of either engine is forgotten', async () => {
    const directory = temporaryDirectory({ after });
    await (await openSqlite({ directory, log: silentLog })).close();
    const url = await emptySchemaCalled('move-columns');
    await (await openPostgres({ url, log: silentLog })).close();
    using database = new DatabaseSync(join(directory, 'kipimo.db'));
    const inSqlite = database
      .prepare(
        `select t.name || '.' || c.name as name from sqlite_schema t, pragma_table_info(t.name) c
         where t.type = 'table' and t.name <> 'sqlite_sequence'`,
      )
      .all()
      .map(({ name }) => String(name));
    const inPostgres = await onServer(
      url,
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = current_schema() and table_name <> 'owned_resources'`,
    );
    const moved = movedTables.flatMap(({ name, columns }) =>
      columns.map((one) => `${name}.${one}`),
    );
    const notMoved = (names: readonly string[]) =>
      names.filter((name) => !moved.includes(name)).sort();
    const isOfServices = (name: string) => ofServices.includes(name.split('.')[0] ?? '');
    const notMovedFromSqlite = notMoved(inSqlite).filter((name) => !isOfServices(name));
    assert.deepEqual(notMovedFromSqlite, [
      // As points, and as last values of sensors.
      ...['chunk_summaries.chunk', 'chunk_summaries.summary', 'chunks.datapoints'],
      ...['count', 'datapoints', 'id', 'max_time', 'min_time', 'series'].map(
        (column) => `damaged_chunks.${column}`,
      ),
      ...['pushes', 'reason', 'seq'].map((column) => `damaged_log_rows.${column}`),
      ...['datapoint_log.pushes', 'datapoint_log.seq', 'health.checks', 'health.id'],
      ...['bytes', 'received_at', 'sealed', 'series', 'timestamp', 'value'].map(
        (column) => `last_values.${column}`,
      ),
      // Counted anew as rows come.
      ...['list_counts.kind', 'list_counts.part', 'list_counts.things'],
      ...['key_id', 'user_id'].map(ofSessions),
      ...['owner_bytes.bytes', 'owner_bytes.owner'],
    ]);
    const ofTables = inPostgres.rows.map(({ name }) => String(name));
    const tables = new Set(ofTables.filter(isOfServices).map((name) => name.split('.')[0]));
    assert.deepEqual([...tables].sort(), ofServices);
    assert.deepEqual(
      notMoved(ofTables).filter((name) => !isOfServices(name)),
      [
        ...['actuators', 'chunks'].map((one) => `${one}.bucket`),
        ...['chunks.sent_bytes', 'chunks.shard'],
        ...['corrections', 'damaged_points'].map((one) => `${one}.bucket`),
        ...['damaged_points.kind', 'damaged_points.position', 'deliveries.claimed_by'],
        ...['devices.bucket', 'devices.listed', 'gateways.listed'],
        ...['hourly_summaries.bucket', 'hourly_summaries.hours'],
        ...['list_counts.kind', 'list_counts.part', 'list_counts.things'],
        'mqtt_retained.key',
        ...['behind', 'key', 'known', 'known_term', 'owner', 'term'].map(ofSessions),
        'mqtt_subscriptions.key',
        ...['mqtt_subscriptions.places', 'mqtt_subscriptions.since', 'notification_states.bucket'],
        ...[
          'notification_states.revision',
          'projects.listed',
          'retained_series.bucket',
          'retentions.bucket',
        ],
        ...['retentions.position', 'retentions.user_id', 'secrets.name', 'secrets.value'],
        ...['sensors.arrivals', 'sensors.bucket', 'sensors.newest'],
      ],
    );
  });
});

/** Tables of what services do, which ended before, and points that are in chunks by then. */
const ofServices: readonly string[] = [
  ...['feed_log', 'hot', 'looked_values', 'looks', 'members', 'mqtt_groups_here', 'mqtt_heard'],
  ...['mqtt_shares', 'mqtt_wills', 'schema_version', 'shard_leavings', 'shards', 'writers'],
  ...(isInParts === false ? [] : ['part_writers', 'whole_commits']),
].sort();

async function secretOf(place: StoragePlace): Promise<string> {
  const storage = await (place.kind === 'postgres'
    ? openPostgres({ url: place.url, log: silentLog })
    : openSqlite({ directory: place.directory, log: silentLog }));
  const secret = await storage.installation.secret();
  await storage.close();
  return secret;
}
