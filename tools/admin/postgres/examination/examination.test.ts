import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hourMs, startOfDay } from '../../../../src/domain/datapoints/retention/retention.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { openPostgres } from '../../../../src/storage/postgres/postgres-storage.ts';
import { hotLimits } from '../../../../src/storage/postgres/timeseries/hot-limits.ts';
import { aDevice, aSensor, aUser, noon } from '../../../../test/contract/storage/builders.ts';
import { at, push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import { emptySchemaCalled, noPostgres } from '../../../../test/postgres-schemas.ts';
import { isInParts, onServer } from '../../../../test/postgres-server.ts';
import type { Examination } from '../../examination/chunk-examination.ts';
import { examine } from './examination.ts';

const small = {
  ...hotLimits,
  ...{ chunkDatapointsMax: 32, chunkBlocksMax: 2, summaryDatapointsMin: 64 },
  ...{ flushDatapointsMin: 900, flushRowsMin: 9 },
};
const perSensor = 1_000;

const open = (url: string) => openPostgres({ url, log: silentLog, datapointLimits: small });

let schemas = 0;

/** A database without a service, with datapoints of two sensors in chunks and outside. */
async function filled(): Promise<string> {
  schemas += 1;
  const url = await emptySchemaCalled(`examination-${schemas}`);
  const storage = await open(url);
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('s1'), aSensor('s2')] }));
  for (const id of ['s1', 's2']) {
    const ref = sensor('d', id);
    const datapoints = Array.from({ length: perSensor }, (_, n) => at(n * 60, n / 10));
    await storage.datapoints.append([push(datapoints, ref)]);
    // It was flushed, and this was not.
    while (await hasHot(url)) await new Promise((resolve) => setTimeout(resolve, 10));
    await storage.datapoints.append([push([at(99_999, 1), at(99_998, 2)], ref)]);
    const hour = Math.floor(noon / hourMs) * hourMs - 40 * 24 * hourMs;
    const tally = {
      ...{ begin: hour, count: 1, numbers: 1, textNumbers: 0, min: 1, max: 1, sum: 1 },
      ...{ first: 1, last: 1, rise: 0, fall: 0 },
    };
    await storage.retaining.restore(ref, { rawBefore: startOfDay(noon) - 1 }, [tally]);
  }
  await storage.close();
  return url;
}

const hasHot = async (url: string): Promise<boolean> =>
  (await onServer(url, 'select count(*)::integer as n from hot where count > 2')).rows[0].n > 0;

const look = (url: string): Promise<Examination> =>
  examine({ url, now: noon + 3_600_000, syncsMax: 5, onStage: () => undefined });

/** What was found of the data: the tests' server is set up for speed. */
const told = ({ findings }: Examination): readonly string[] =>
  findings
    .filter(({ check }) => check !== 'server')
    .map(({ level, sentence }) => `${level}: ${sentence}`);

const someChunk = '(select min(id) from chunks)';
/** Keys between servers are none there, and the others are checked whatever a session says. */
const isKeptByCitus = (what: string): string | false =>
  /^a (sensor|device) that/.test(what) && isInParts;

const unchecked = "set session_replication_role = 'replica'";
const plants: readonly (readonly [what: string, sql: string, sentence: RegExp])[] = [
  [
    'a byte of a chunk',
    `update chunks set points = set_byte(points, 20, get_byte(points, 20) # 165)
     where id = ${someChunk}`,
    /^damage: 64 datapoints of series 1 cannot be trusted: chunk 1: the checksum does not match/,
  ],
  [
    'a chunk that is gone',
    `delete from chunks where id = ${someChunk}`,
    /^damage: Of d\/s1 64 datapoints of \d+ are missing/,
  ],
  [
    'a chunk that is there twice',
    `insert into chunks (bucket, series, min_time, max_time, count, points)
     select bucket, series, min_time, max_time, count, points from chunks where id = ${someChunk}`,
    /^damage: d\/s1 has \d+ datapoints in chunks, and counts \d+/,
  ],
  [
    'a count that is wrong',
    `update chunks set count = count - 1 where id = ${someChunk}`,
    /cannot be trusted: chunk 1 has 64 of them/,
  ],
  [
    'times that are wrong',
    `update chunks set max_time = max_time + 1e9 where id = ${someChunk}`,
    /^damage: \d+ chunks of d\/s1 overlap the one before/,
  ],
  [
    'a sensor that is gone',
    `${unchecked}; delete from sensors where series = 2`,
    /^damage: \d+ datapoints in chunks belong to series 2, which no sensor has/,
  ],
  [
    'pushes of a sensor that is gone',
    `${unchecked}; delete from sensors where series = 2`,
    /^damage: 2 datapoints outside chunks belong to series that no sensor has/,
  ],
  [
    'a device that is gone',
    `${unchecked}; delete from devices`,
    /^damage: 2 rows of the table sensors belong to rows of devices that are not there/,
  ],
  [
    'a row outside chunks',
    `update hot set points = '\\x0102' where series = 1`,
    /^damage: 2 datapoints of series 1 cannot be trusted: row 1000 of hot: /,
  ],
  [
    'a row outside chunks that is gone',
    'delete from hot where series = 1',
    /^damage: Of d\/s1 2 datapoints outside chunks are missing/,
  ],
  [
    'a summary of another chunk',
    `do $$ declare another bytea; begin
       select summary into another from chunks where id = ${someChunk} + 3;
       update chunks set summary = another where id = ${someChunk}; end $$`,
    /^damage: What is kept of chunk 1 of series 1 for aggregates is not what its datapoints come/,
  ],
  [
    'a byte of a summary',
    `update chunks set summary = set_byte(summary, 12, get_byte(summary, 12) # 165)
     where id = ${someChunk}`,
    /^damage: What is kept of chunk 1 of series 1 for aggregates cannot be trusted: the checksum/,
  ],
  [
    'hours that are gone',
    'update hourly_summaries set hours = 2 where series = 1',
    /^damage: The hours of \d{4}-\d\d-\d\d of series 1 cannot be trusted/,
  ],
  [
    'a last value that is none',
    `update sensors set last_value = '{"a' where series = 1`,
    /^damage: The last value of d\/s1 cannot be read/,
  ],
  [
    'an invitation to nothing that can be understood',
    `insert into invitations
       (id, hash, user_id, created_at, expires_at, uses_left, is_revoked, details)
     select 'i', 'h', id, 1, 2, 1, 0, '{"targets": [null]}' from users`,
    /^damage: The row i of the table invitations cannot be understood/,
  ],
  [
    'an account with a profile that is no JSON',
    `update users set profile = '{'`,
    /^damage: The row id-alice of the table users cannot be understood/,
  ],
  [
    'rows that were set aside',
    `insert into damaged_points (bucket, series, kind, id, min_time, max_time, count, points)
     values (0, 1, 'hot', 1, 0, 0, 1, '')`,
    /^warning: 1 rows of datapoints could not be read and were set aside/,
  ],
];

describe('the examination of a database', { skip: noPostgres }, () => {
  test('one in which all is well is found so, in use or not', async () => {
    const url = await filled();
    const found = await look(url);
    assert.deepEqual(told(found), []);
    assert.equal(found.isInUse, false);
    assert.deepEqual([found.datapointsInChunks, found.logRows], [2 * perSensor, 2]);
    assert.ok(found.chunks >= 20, `${found.chunks}`);
    assert.deepEqual(
      found.largest.devices.map(({ name, datapoints }) => [name, datapoints]),
      [['d', 2 * perSensor]],
    );
    assert.equal(found.syncs?.count, 5);
    assert.ok(found.disk.databaseBytes > 100_000);
    // An hour of minutes, of two sensors.
    assert.ok(Math.abs(found.disk.datapointsPerDay - 120) < 10, `${found.disk.datapointsPerDay}`);
    assert.match(found.findings.map(({ sentence }) => sentence).join('\n'), /with fsync=off: a/);

    const storage = await open(url);
    const [beside] = await Promise.all([
      look(url),
      storage.datapoints.append([push([at(100_000, 1)], sensor('d', 's1'))]),
    ]);
    await storage.close();
    assert.equal(beside.isInUse, true);
    assert.deepEqual(told(beside), []);
  });

  test('what is rewritten, taken and removed while it is looked at is not damaged', async () => {
    const url = await filled();
    const storage = await open(url);
    let [isOver, changes] = [false, 0];
    const busy = Promise.all([
      (async () => {
        for (let n = 0; !isOver; n += 1) {
          // In front of, in the middle of and behind what is there: chunks are written anew.
          const times = Array.from({ length: 300 }, (_, at) => at * 190 + n);
          const datapoints = times.map((time) => at(time, n));
          await storage.datapoints.append([push(datapoints, sensor('d', n % 2 ? 's1' : 's2'))]);
          changes += 1;
        }
      })(),
      (async () => {
        for (let n = 0; !isOver; n += 1) {
          const id = `gone-${n}`;
          const device = aDevice(id, { sensors: [aSensor('s1'), aSensor('s2')] });
          await storage.devices.insert(device);
          const datapoints = Array.from({ length: 1_000 }, (_, at) => at * 60).map((time) =>
            at(time, n),
          );
          await storage.datapoints.append([push(datapoints, sensor(id, 's1'))]);
          await storage.devices.remove(device.id);
          changes += 1;
        }
      })(),
    ]);
    const found = new Set<string>();
    try {
      for (let round = 0; round < 6; round += 1) {
        for (const line of told(await look(url))) found.add(line);
      }
    } finally {
      isOver = true;
      await busy;
      await storage.close();
    }
    assert.ok(changes > 20, `${changes}`);
    assert.deepEqual([...found], []);
  });

  for (const [what, sql, sentence] of plants) {
    test(`it finds ${what}`, { skip: isKeptByCitus(what) }, async () => {
      const url = await filled();
      await onServer(url, sql);
      const found = told(await look(url));
      assert.ok(
        found.some((line) => sentence.test(line)),
        found.join('\n'),
      );
    });
  }

  test('a server that is away, or has other tables, is no damage', async () => {
    const url = await filled();
    await onServer(url, `alter table chunks rename to other`);
    await assert.rejects(look(url), /relation "chunks" does not exist/);
    const away = url.replace(/:\d+\//, ':1/');
    await assert.rejects(look(away), /the database of KIPIMO_DATABASE_URL cannot be opened/);
  });

  test('what has no tables is refused', async () => {
    const url = await emptySchemaCalled('examination-empty');
    await assert.rejects(look(url), /holds no data of Kipimo/);
  });
});
