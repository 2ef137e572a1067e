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
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { toColumnBatch } from '../../domain/datapoints/column-batch.ts';
import { readDatapoints } from '../../domain/datapoints/datapoint-store.ts';
import type { EvaluationProgress, FiringOutcome } from '../../domain/notifications/delivery.ts';
import type { EvaluationStore } from '../../domain/notifications/notification-store.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';

const device = deviceId('d1');
const rule = aNotification('n1');
const raised = { isRaised: true } as const;

/** A process that serves the schema with others. */
interface Process extends Pick<Storage, 'devices' | 'datapoints' | 'notifications' | 'close'> {
  readonly looks: EvaluationStore;
}

/** Two processes, and a rule. */
async function openTwo(name: string): Promise<readonly [Process, Process]> {
  const url = await emptySchemaCalled(name);
  const share = async (): Promise<Process & Storage> => {
    const storage = await openPostgres({ url, log: silentLog, serving: 'shared' });
    assert.ok(storage.looks);
    return { ...storage, looks: storage.looks };
  };
  const one = await share();
  await one.users.insert(aUser('ana'), 'hash');
  await one.notifications.insert(rule);
  return [one, await share()];
}

const file = ({ looks }: Process, id: string) =>
  looks.file({ id, member: looks.member, deviceId: device });

const finish = ({ looks }: Process, ...ids: readonly string[]) => finishWith(looks, ids);

const finishWith = (
  looks: EvaluationStore,
  ids: readonly string[],
  progress?: EvaluationProgress,
) =>
  looks.finish({
    ...{ ids, ...(progress && { progress }) },
    states: [{ notificationId: rule.id, deviceId: device, state: raised }],
  });

async function fireFor(
  { notifications }: Process,
  evaluationId: string,
  evaluation = { isEnded: false },
): Promise<unknown> {
  const about = { notificationId: rule.id, deviceId: device, at: noon, state: raised };
  const [outcome] = await notifications.fire([
    { ...about, throttlingMs: 0, deliveries: [], evaluationId, evaluation },
  ]);
  return (outcome as FiringOutcome).kind;
}

const lineAt = async ({ looks }: Process) => {
  const { looks: line, states } = await looks.line(device, [rule.id]);
  return {
    line: line.map(({ id, member }) => [id, member]),
    state: states.get(rule.id)?.state,
  };
};

test('receipts of a sensor are in the order of commits', { skip: noPostgres }, async () => {
  const [one, other] = await openTwo('looks_receipts');
  const sensor = { deviceId: device, sensorId: sensorId('t') };
  await one.devices.insert(aDevice(device, { sensors: [aSensor(sensor.sensorId)] }));
  let lastReceived = Number.NEGATIVE_INFINITY;
  const push = async ({ datapoints }: Process, value: number, receivedAt: number) => {
    const [outcome] = await datapoints.append([
      { ...sensor, batch: toColumnBatch([{ value, receivedAt }]) },
    ]);
    assert.equal(outcome?.kind, 'stored');
    const isLater = (outcome.fresh.received[0] ?? 0) > lastReceived;
    assert.equal(outcome.isLater, isLater, 'one of the same moment is filed');
    lastReceived = outcome.fresh.received[0] ?? 0;
    return lastReceived;
  };
  assert.equal(await push(one, 1, noon), noon);
  assert.equal(await push(other, 2, noon - 5), noon + 1, 'its commit came later');
  assert.equal(await push(one, 3, noon + 1), noon + 2, 'no two have the same receipt');
  const page = { order: 'asc', skip: 0, limit: 3 } as const;
  const read = await readDatapoints(one.datapoints, sensor, page);
  assert.deepEqual(
    read.map(({ value, receivedAt }) => [value, receivedAt - noon]),
    [
      [1, 0],
      [2, 1],
      [3, 2],
    ],
  );
  const many = Array.from({ length: 30 }, () => push(other, 4, noon + 3));
  const last = (await Promise.all(many)).at(-1) ?? 0;
  assert.ok(last - noon <= 20, `they run ${last - noon} ms ahead of the clock`);
  const wrongClock = noon + 365 * 86_400_000;
  assert.equal(await push(one, 4, wrongClock), wrongClock);
  assert.equal(await push(other, 5, noon + 2), noon + 2, 'a wrong clock dates nothing else');
  await Promise.all([one.close(), other.close()]);
});

describe('looks of processes that share a database', { skip: noPostgres }, () => {
  test('are made by whoever has the first in line, with those of others behind it', async () => {
    const [one, other] = await openTwo('looks_first');
    await file(one, 'a');
    await file(other, 'b');
    await file(one, 'c');
    assert.equal(await fireFor(other, 'b'), 'taken', 'it is not its turn');
    assert.equal(await finish(other, 'b'), 'taken');
    const { line, state } = await lineAt(other);
    assert.deepEqual(line, [
      ['a', one.looks.member],
      ['b', other.looks.member],
      ['c', one.looks.member],
    ]);
    assert.equal(state, undefined, 'nothing is kept of a look out of turn');
    assert.equal(await fireFor(one, 'b'), 'fired', 'it is behind the first one');
    assert.equal(await finish(one, 'a', 'b'), 'ended');
    assert.deepEqual(await lineAt(other), { line: [['c', one.looks.member]], state: raised });
    await Promise.all([one.close(), other.close()]);
  });

  test('are taken once, and whoever had them keeps nothing of them', async () => {
    const [one, other] = await openTwo('looks_taken');
    await file(one, 'a');
    await other.looks.take('a', one.looks.member);
    assert.deepEqual((await lineAt(one)).line, [['a', other.looks.member]]);
    assert.equal(await fireFor(one, 'a'), 'taken');
    assert.equal(await finish(one, 'a'), 'taken');
    // The evaluation is not that process's any more.
    await one.looks.take('a', one.looks.member);
    assert.equal(await fireFor(other, 'a'), 'fired');
    assert.equal(await finish(other, 'a'), 'ended');
    await file(one, 'b');
    assert.equal(await finish(one, 'a', 'b'), 'taken', 'one of them was made meanwhile');
    assert.equal(await fireFor(one, 'a'), 'taken');
    assert.equal(await fireFor(other, 'a', { isEnded: true }), 'fired', 'it is the own end');
    // While this one is stored, the others gather for the commit behind it.
    const first = file(one, 'c');
    const progress = { isEnded: false };
    const ends = finishWith(one.looks, ['b', 'c'], progress);
    const fired = fireFor(one, 'b', progress);
    assert.deepEqual(await Promise.all([first, ends, fired]), [undefined, 'ended', 'fired']);
    await file(one, 'b');
    assert.deepEqual((await lineAt(one)).line, [['b', one.looks.member]]);
    await Promise.all([one.close(), other.close()]);
  });

  test('of many devices end together, each by itself', async () => {
    const [one, other] = await openTwo('looks_many');
    const ids = Array.from({ length: 30 }, (_, at) => `${at}`);
    for (const id of ids) {
      const { member } = (Number(id) % 3 === 0 ? other : one).looks;
      await one.looks.file({ id, member, deviceId: deviceId(`d${id}`) });
    }
    const ends = ids.map((id) =>
      one.looks.finish({
        ...{ ids: [id], deviceId: deviceId(`d${id}`) },
        states: [{ notificationId: rule.id, deviceId: deviceId(`d${id}`), state: raised }],
      }),
    );
    const expected = ids.map((id) => (Number(id) % 3 === 0 ? 'taken' : 'ended'));
    assert.deepEqual(await Promise.all(ends), expected);
    const lines = await Promise.all(
      ids.map((id) => other.looks.line(deviceId(`d${id}`), [rule.id])),
    );
    for (const [at, { looks, states }] of lines.entries()) {
      assert.equal(looks.length, at % 3 === 0 ? 1 : 0);
      assert.deepEqual(states.get(rule.id)?.state, at % 3 === 0 ? undefined : raised);
    }
    await Promise.all([one.close(), other.close()]);
  });
});
