import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { aDevice, aSensor, aUser, noon } from '../../../test/contract/storage/builders.ts';
import {
  checkWhole,
  connectTo,
  lockSensor,
  openSeveral,
  pushTo,
  sensor,
  stillWaits,
} from '../../../test/postgres-processes.ts';
import { noPostgres } from '../../../test/postgres-schemas.ts';
import { isInParts, onServer } from '../../../test/postgres-server.ts';
import type { Correction } from '../../domain/datapoints/corrections/correction.ts';
import { dayMs, hourMs } from '../../domain/datapoints/retention/retention.ts';
import { parseCorrectionId, parseDeviceId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { Storage } from '../storage.ts';

let corrections = 0;
const correctionOf = (name: string): Correction => ({
  ...{ id: parseCorrectionId(`${++corrections}`.padStart(24, '0')), ...sensor(name) },
  ...{ kind: 'removed', items: [], count: 1, by: aUser('ana').username, createdAt: noon },
  ...{ from: noon, to: noon, reach: { until: noon } },
});

const deadlocks = 'select deadlocks from pg_stat_database where datname = current_database()';

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

  test('of several owners in one commit block no other such commit', async () => {
    await using several = await openSeveral('plane_owners');
    const { one, other, url } = several;
    await one.users.insert(aUser('bob'), 'hash');
    for (const name of ['ana', 'bob']) {
      const sensors = [aSensor('a'), aSensor('b')];
      await one.devices.insert(aDevice(`of-${name}`, { owner: aUser(name).username, sensors }));
    }
    const of = (name: string, sensorId: string): Correction => ({
      ...correctionOf(sensorId),
      deviceId: parseDeviceId(`of-${name}`),
    });
    const started = (await onServer(url, deadlocks)).rows;
    for (let round = 0; round < 8; round += 1) {
      // The first of each begins a commit, and the next two share one.
      await Promise.all([
        ...[one.ping(), one.corrections.insert(of('ana', 'a'))],
        ...[other.ping(), other.corrections.insert(of('bob', 'b'))],
        ...[one.corrections.insert(of('bob', 'a')), other.corrections.insert(of('ana', 'b'))],
      ]);
    }
    // Servers count them a second later.
    await wait(1_500);
    await Promise.all([one.ping(), other.ping()]);
    assert.deepEqual((await onServer(url, deadlocks)).rows, started);
  });

  test('wait for all beside a version that locks no rows', { skip: isInParts }, async () => {
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

describe('retention', { skip: noPostgres, timeout: 60_000 }, () => {
  test('waits for the pushes to its sensor, and for no change of another kind', async () => {
    await using several = await openSeveral('plane_retention');
    const { one, other, url } = several;
    for (const name of ['a', 'b']) {
      const pushes = Array.from({ length: 8 }, (_, at) => pushTo(name, at, noon + at));
      await one.datapoints.append(pushes);
    }
    const inChunks = 'select from chunks group by series having sum(count) = 8';
    while ((await onServer(url, inChunks)).rowCount !== 2) await wait(20);
    await using third = await connectTo(url);
    await third.run(`begin; select from writers where writer = 0 for update; ${lockSensor('a')}`);
    const limits = { rawBefore: noon + 2 * dayMs };
    const waiting = one.retaining.step(sensor('a'), limits);
    assert.ok(await stillWaits(waiting), 'it did not wait for its sensor');
    assert.equal((await other.retaining.step(sensor('b'), limits)).datapoints, 8);
    assert.equal((await other.datapoints.append([pushTo('b', 1, noon)]))[0]?.kind, 'stored');
    await third.run('rollback');
    assert.equal((await waiting).datapoints, 8);
    await checkWhole(url);
  });

  test('knows corrections that were made at another process a moment ago', async () => {
    await using several = await openSeveral('plane_corrected');
    const { one, other, url } = several;
    await one.datapoints.append(
      Array.from({ length: 8 }, (_, at) => pushTo('a', at, noon + at * dayMs)),
    );
    while ((await onServer(url, 'select from chunks')).rowCount === 0) await wait(20);
    const taken = async (days: number) =>
      (await one.retaining.step(sensor('a'), { rawBefore: noon + days * dayMs })).isCorrected;
    assert.equal(await taken(1), false);
    await other.corrections.insert({ ...correctionOf('a'), to: noon + 9 * dayMs });
    assert.equal(await taken(2), true);
  });

  test('beside pushes and corrections at other processes takes each datapoint once', async () => {
    await using several = await openSeveral('plane_busy', 3);
    const { one, other, url } = several;
    let isOver = false;
    let pushed = 0;
    const push = async ({ datapoints }: Storage, names: readonly string[], from: number) => {
      for (let at = from; at < from + 80; at += 1) {
        await datapoints.append(names.map((name) => pushTo(name, at, noon + at * hourMs)));
        pushed += names.length;
      }
    };
    const correct = async ({ corrections }: Storage) => {
      while (!isOver) {
        // Of datapoints that stay: retention drops the others.
        const correction = { ...correctionOf('a'), to: noon + 900 * hourMs };
        assert.equal(await corrections.insert(correction), 'inserted');
        assert.equal(await corrections.remove(sensor('a'), correction.id), 'removed');
      }
    };
    let taken = 0;
    const take = async ({ retaining }: Storage, name: string) => {
      const step = await retaining.step(sensor(name), { rawBefore: noon + 150 * hourMs });
      taken += step.datapoints;
      return step.state;
    };
    const retain = async (storage: Storage) => {
      while (!isOver) for (const name of ['a', 'b']) await take(storage, name);
    };
    const busy = [retain(one), retain(other), correct(other)];
    await Promise.all([push(one, ['a', 'b'], 0), push(other, ['b', 'a'], 100)]);
    isOver = true;
    await Promise.all(busy);
    for (const name of ['a', 'b']) while ((await take(one, name)) !== 'done') await wait(5);
    const left = await Promise.all(
      ['a', 'b'].map((name) => one.datapoints.count(sensor(name), {})),
    );
    assert.equal(taken + left.reduce((sum, count) => sum + count, 0), pushed);
    await checkWhole(url);
  });
});
