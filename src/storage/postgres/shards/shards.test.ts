import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { aDevice, aSensor, aUser, noon } from '../../../../test/contract/storage/builders.ts';
import {
  allValues,
  appended,
  at,
  push,
  sensor,
} from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { emptySchemaCalled, noPostgres } from '../../../../test/postgres-schemas.ts';
import {
  type OwnPostgres,
  onServer,
  schemaUrl,
  startPostgres,
} from '../../../../test/postgres-server.ts';
import { silentLog } from '../../../lib/log.ts';
import { move } from '../../open-for-commands.ts';
import { openSqlite } from '../../sqlite/sqlite-storage.ts';
import type { Storage } from '../../storage.ts';
import { examine } from '../examination/examination.ts';
import { postgresLimits } from '../postgres-limits.ts';
import { openPostgres } from '../postgres-storage.ts';
import { hotLimits } from '../timeseries/hot-limits.ts';
import type { SendingLimits } from './sending.ts';

const small = {
  ...hotLimits,
  ...{ chunkDatapointsMax: 16, chunkBlocksMax: 1, summaryDatapointsMin: 8 },
  ...{ flushDatapointsMin: 8, flushRowsMin: 2, putOffMs: 20, decodedChunksMax: 1 },
  ...{ chunksInMemoryMax: 1, summariesInMemoryMax: 1 },
};
const eager = {
  ...postgresLimits,
  ...{ shardPageRows: 7, shardStepBytes: 300, shardStepPauseMs: 0, shardRestMs: 5 },
};

async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + 15_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < giveUpAt, what);
    await wait(20);
  }
}

interface Place {
  readonly url: string;
  readonly shardUrls: readonly string[];
}

const open = ({ url, shardUrls }: Place, sendingLimits: SendingLimits = eager): Promise<Storage> =>
  openPostgres({ url, shardUrls, log: silentLog, datapointLimits: small, sendingLimits });

let places = 0;
async function aPlace(shards = 2): Promise<Place> {
  places += 1;
  const names = Array.from({ length: shards }, (_, n) => `shards-${places}-${n}`);
  const shardUrls = [];
  for (const name of names) shardUrls.push(await emptySchemaCalled(name));
  return { url: await emptySchemaCalled(`shards-${places}`), shardUrls };
}

/** Devices whose buckets lie in both halves. */
const devices = ['d1', 'd2', 'd3', 'barn', 'tank', 'well'];
const perSensor = 200;
const history = Array.from({ length: perSensor }, (_, n) => at(n * 60, n));
const values = history.map(({ value }) => value);

/** With a history that is sent as far as it goes. */
async function fill(storage: Storage, place: Place): Promise<void> {
  await storage.users.insert(aUser('alice'), 'hash');
  for (const id of devices) {
    await storage.devices.insert(aDevice(id, { sensors: [aSensor('s1')] }));
    await storage.datapoints.append([push(history, sensor(id))]);
  }
  await untilSent(place);
}

async function n(url: string, sql: string): Promise<number> {
  return Number((await onServer(url, sql)).rows[0]?.n ?? 0);
}

/** All chunks are at shards but the last two of each sensor. */
async function untilSent({ url }: Place): Promise<void> {
  const left = `
    select count(*) as n from (select sent_bytes, lead(id, 2) over (partition by series
      order by min_time, max_time, id) as later from chunks) as all_chunks
    where later is not null and sent_bytes is null`;
  await until(
    async () =>
      (await n(url, 'select count(*) as n from hot')) < 20 * devices.length &&
      (await n(url, 'select count(*) as n from chunks')) > 5 * devices.length &&
      (await n(url, left)) === 0,
    'chunks are not sent',
  );
}

const look = (place: Place) =>
  examine({ ...place, now: noon + 3_600_000, syncsMax: 2, onStage: () => undefined });
const told = async (place: Place): Promise<readonly string[]> =>
  (await look(place)).findings
    .filter(({ check }) => check !== 'server')
    .map(({ level, sentence }) => `${level}: ${sentence}`);

const countThere = 'select count(*) as n from chunk_bytes';
const page = { order: 'asc', skip: 0, limit: 100_000 } as const;

describe('chunks in further databases', { skip: noPostgres }, () => {
  test('what grows no more goes to the database of its buckets, and reads find it', async () => {
    const place = await aPlace();
    const storage = await open(place);
    await fill(storage, place);
    const [one = '', two = ''] = place.shardUrls;
    for (const url of [one, two]) assert.ok((await n(url, countThere)) > 0, 'both have some');
    const bounds = 'select max(bucket) as n from chunk_bytes';
    assert.ok((await n(one, bounds)) < 512);
    assert.ok((await n(two, bounds.replace('max', 'min'))) >= 512);
    const bytesHere = `select count(*) as n from chunks
      where sent_bytes is not null and (octet_length(points) > 0 or summary is not null)`;
    assert.equal(await n(place.url, bytesHere), 0, 'their bytes are gone here');
    for (const id of devices) {
      assert.deepEqual(await allValues(storage.datapoints, sensor(id)), values);
      assert.equal(await storage.datapoints.count(sensor(id), {}), perSensor);
    }
    // Late ones, and those that are there already.
    const late = push([at(30, 'late'), at(60, 1), at(60, 'other')], sensor('d1'));
    const [outcome] = await appended(storage.datapoints, [late]);
    assert.deepEqual(Reflect.get(outcome ?? {}, 'fresh'), [at(30, 'late'), at(60, 'other')]);
    await storage.close();
    assert.deepEqual(await told(place), []);
    const again = await open(place);
    const expected = [0, 'late', 1, 'other', ...values.slice(2)];
    assert.deepEqual(await allValues(again.datapoints, sensor('d1')), expected);
    const taken = await again.retaining.step(sensor('d2'), { rawBefore: noon + 6_000_000 });
    assert.equal(taken.state, 'more');
    await again.close();
  });

  test('what went is deleted there later, and nothing else', async () => {
    const place = await aPlace(1);
    const [shard = ''] = place.shardUrls;
    const storage = await open(place);
    await fill(storage, place);
    const there = await n(shard, countThere);
    await storage.devices.remove(aDevice('d1').id);
    const left = await n(place.url, 'select count(*) as n from shard_leavings');
    assert.ok(left > 0 && left < there);
    await storage.close();
    // A backup of the main database may need them for a day.
    assert.equal(await n(shard, countThere), there);
    const tidy = await open(place, { ...eager, shardLeavingMs: 0 });
    await until(async () => (await n(shard, countThere)) === there - left, 'they are still there');
    assert.equal(await n(place.url, 'select count(*) as n from shard_leavings'), 0);
    assert.deepEqual(await allValues(tidy.datapoints, sensor('d2')), values);
    await tidy.close();
    assert.deepEqual(await told(place), []);
  });

  test('a step that broke off is made again', async () => {
    const place = await aPlace(1);
    const [shard = ''] = place.shardUrls;
    const storage = await open(place);
    await fill(storage, place);
    await storage.close();
    // As if the process was killed behind its claim, and behind what it wrote there.
    const { rows } = await onServer(
      shard,
      `select id, encode(points, 'hex') as points, encode(summary, 'hex') as summary
       from chunk_bytes order by id limit 2`,
    );
    for (const { id, points, summary } of rows) {
      const bytes = summary === null ? 'null' : `decode('${summary}', 'hex')`;
      await onServer(
        place.url,
        `update chunks set sent_bytes = null, points = decode('${points}', 'hex'),
           summary = ${bytes} where id = ${id}`,
      );
    }
    await onServer(shard, `delete from chunk_bytes where id = ${rows[1].id}`);
    const again = await open(place);
    await untilSent(place);
    for (const id of devices) {
      assert.deepEqual(await allValues(again.datapoints, sensor(id)), values);
    }
    await again.close();
    assert.deepEqual(await told(place), []);
  });

  test('a move takes along what is in all of them', async () => {
    const place = await aPlace();
    const storage = await open(place);
    await fill(storage, place);
    await storage.close();
    const directory = join(temporaryDirectory({ after }), 'made');
    const quiet = { onProgress: () => undefined };
    const { datapoints } = await move(
      ...([{ kind: 'postgres', ...place }, { kind: 'sqlite', directory }, quiet] as const),
    );
    assert.equal(datapoints, perSensor * devices.length);
    const moved = await openSqlite({ directory, log: silentLog });
    assert.deepEqual(await allValues(moved.datapoints, sensor('d3')), values);
    await moved.close();
  });

  test('a database that is missing, foreign or named twice ends the start', async () => {
    const place = await aPlace();
    const [one = '', two = ''] = place.shardUrls;
    await (await open(place)).close();
    await assert.rejects(open({ ...place, shardUrls: [one] }), /lacks the address of shard 2/);
    await assert.rejects(open({ ...place, shardUrls: [one, one] }), /same shard twice/);
    await assert.rejects(open({ ...place, shardUrls: [two, one, place.url] }), /tables of its own/);
    const other = await aPlace(0);
    await assert.rejects(open({ ...other, shardUrls: [one] }), /of another installation/);
    // In another order, and with one more.
    const third = await emptySchemaCalled('shards-third');
    await (await open({ ...place, shardUrls: [third, two, one] })).close();
    assert.equal(await n(third, 'select shard as n from shard_identity'), 3);
  });
});

describe('a further database that is away', { skip: noPostgres }, () => {
  let server: OwnPostgres;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.close());

  test('fails what needs it, and nothing else', async () => {
    const place = { ...(await aPlace(0)), shardUrls: [await schemaUrl(server.url, 'away')] };
    const storage = await open(place);
    await fill(storage, place);
    await server.stop('SIGKILL');
    const { datapoints } = storage;
    const all = datapoints.read(sensor('d1'), page);
    await assert.rejects(all, /a part of the datapoints cannot be reached/);
    assert.equal(storage.shardsAway?.(), 1);
    const startedAt = performance.now();
    const outcomes = await datapoints.append([
      push([at(60, 'late')], sensor('d1')),
      push([at(99_999, 'new')], sensor('d1')),
      push([at(99_999, 'new')], sensor('d2')),
    ]);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['failed', 'stored', 'stored'],
    );
    assert.ok(performance.now() - startedAt < 5_000);
    const newest = await datapoints.read(sensor('d1'), { ...page, from: noon + 90_000_000 });
    assert.deepEqual(
      newest.map(({ value }) => value),
      ['new'],
    );
    assert.match((await told(place)).join(), /Shard 1 cannot be reached: \d+ chunks/);
    await server.start();
    await until(async () => storage.shardsAway?.() === 0, 'it is not found again');
    assert.deepEqual(await allValues(datapoints, sensor('d1')), [...values, 'new']);
    const [outcome] = await appended(datapoints, [push([at(60, 'late')], sensor('d1'))]);
    assert.deepEqual(Reflect.get(outcome ?? {}, 'fresh'), [at(60, 'late')]);
    await storage.close();
  });

  test('stops no start', async () => {
    const place = { ...(await aPlace(0)), shardUrls: [await schemaUrl(server.url, 'start')] };
    const storage = await open(place);
    await fill(storage, place);
    await storage.close();
    await server.stop('SIGKILL');
    const again = await open(place);
    const stored = await again.datapoints.append([push([at(99_999, 'new')], sensor('d1'))]);
    assert.equal(stored[0]?.kind, 'stored');
    await server.start();
    await until(async () => again.shardsAway?.() === 0, 'it is not found');
    assert.deepEqual(await allValues(again.datapoints, sensor('d1')), [...values, 'new']);
    await again.close();
  });

  test('lost what it had: that is told, and what knows of it stays', async () => {
    const place = await aPlace(1);
    const [shard = ''] = place.shardUrls;
    const storage = await open(place);
    await fill(storage, place);
    await storage.close();
    await onServer(shard, 'delete from chunk_bytes where id = (select min(id) from chunk_bytes)');
    const [said] = await told(place);
    assert.match(said ?? '', /^damage: 16 datapoints of series \d are missing: shard 1 does not/);
    const again = await open(place);
    const lacking = await Promise.allSettled(
      devices.map((id) => again.datapoints.read(sensor(id), page)),
    );
    assert.equal(lacking.filter(({ status }) => status === 'rejected').length, 1);
    await again.close();
  });
});
