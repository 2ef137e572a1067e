import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Datapoint } from '../../../src/domain/datapoints/datapoint.ts';
import { readDatapoints } from '../../../src/domain/datapoints/datapoint-store.ts';
import { latestInstant } from '../../../src/lib/clock.ts';
import type { JsonValue } from '../../../src/lib/json.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { aDevice, aSensor, aUser, deviceId, noon, sensorId } from './builders.ts';
import {
  allValues,
  appended,
  at,
  lastValue,
  lastValueIn,
  push,
  sensor,
  untimed,
} from './datapoint-builders.ts';
import { datapointReads } from './datapoint-reads.contract.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

async function withSensors({ users, devices }: Storage): Promise<void> {
  await users.insert(aUser('alice'), 'hash');
  for (const id of ['d1', 'd2']) {
    await devices.insert(aDevice(id, { sensors: [aSensor('s1'), aSensor('s2')] }));
  }
}

const storing: Promises = {
  'a stored datapoint comes back as it was': async ({ datapoints }) => {
    const [timed, bare] = [at(5, 21.5), untimed(6, 'dry')];
    assert.deepEqual(await appended(datapoints, [push([timed, bare])]), [
      { kind: 'stored', fresh: [timed, bare], weight: 2 },
    ]);
    assert.deepEqual(await allValues(datapoints), [21.5, 'dry']);
    const page = { order: 'asc', skip: 0, limit: 10 } as const;
    assert.deepEqual(await readDatapoints(datapoints, sensor(), page), [timed, bare]);
  },

  'the newest time of receipt is found, up to a limit': async ({ datapoints, newestReceived }) => {
    assert.equal(await newestReceived(latestInstant), undefined);
    const late = push([at(5, 1)], sensor('d2', 's1'));
    await datapoints.append([push([untimed(7, 'a'), untimed(9, 'b')]), late]);
    assert.equal(await newestReceived(latestInstant), untimed(9, 'b').receivedAt);
    await datapoints.append([push([untimed(20, 'c')], sensor('d1', 's2'))]);
    assert.equal(await newestReceived(latestInstant), untimed(20, 'c').receivedAt);
    assert.equal(await newestReceived(untimed(19, 'c').receivedAt), untimed(9, 'b').receivedAt);
    assert.equal(await newestReceived(0), undefined);
  },

  'a batch answers each push in order, and a missing sensor stops only its own': async ({
    datapoints,
  }) => {
    const outcomes = await datapoints.append([
      push([at(1, 1)], sensor('d1', 's2')),
      push([at(1, 2)], sensor('d1', 'nope')),
      push([at(1, 3)], sensor('nope', 's1')),
      push([], sensor('d2', 's1')),
      push([at(1, 4)], sensor('d2', 's1')),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.fresh.count : 'missing')),
      [1, 'missing', 'missing', 0, 1],
    );
    assert.deepEqual(await allValues(datapoints, sensor('d1', 'nope')), []);
    assert.deepEqual(await allValues(datapoints, sensor('d1', 's1')), []);
    assert.equal(await datapoints.count(sensor('nope', 's1'), {}), 0);
    assert.deepEqual(await allValues(datapoints, sensor('d2', 's1')), [4]);
  },

  'any JSON value comes back as the same text': async ({ datapoints }) => {
    const value = fc.oneof(
      fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<JsonValue>,
      fc.constantFrom(
        '\ud800',
        '\0',
        '',
        {},
        [],
        { __proto__: null },
        JSON.parse('{"__proto__":1}'),
      ),
      fc.bigInt().map((big) => JSON.rawJSON(`${big}`)),
    );
    const pushes = fc.sample(fc.array(value, { maxLength: 20 }), { numRuns: 20, seed: 7 });
    const given = pushes.flat();
    for (const values of pushes) {
      await datapoints.append([push(values.map((one) => untimed(0, one)))]);
    }
    assert.deepEqual(
      (await allValues(datapoints)).map((one) => JSON.stringify(one)),
      given.map((one) => JSON.stringify(one)),
    );
  },

  'the last value keeps every digit of a long number': async ({ datapoints }) => {
    const digits = JSON.rawJSON('123456789012345678901234567890');
    await datapoints.append([push([at(1, digits)])]);
    assert.equal(JSON.stringify(await lastValue(datapoints)), digits.rawJSON);
  },
};

const repeating: Promises = {
  'a push that comes again is stored once': async ({ datapoints }) => {
    const points = [at(1, 1), at(2, 'x'), at(3, { a: [1] })];
    await datapoints.append([push(points)]);
    const again = points.map((point) => ({ ...point, receivedAt: noon + 9_999 }));
    assert.deepEqual(await appended(datapoints, [push(again)]), [{ kind: 'stored', fresh: [] }]);
    assert.equal(await datapoints.count(sensor(), {}), 3);
  },

  'a repeated push brings what is new in it': async ({ datapoints }) => {
    await datapoints.append([push([at(2, 2), at(4, 4)])]);
    const [outcome] = await appended(datapoints, [push([at(1, 1), at(2, 2), at(3, 3), at(4, 4)])]);
    assert.deepEqual(outcome, { kind: 'stored', fresh: [at(1, 1), at(3, 3)], weight: 2 });
    assert.deepEqual(await allValues(datapoints), [1, 2, 3, 4]);
  },

  'late pushes of many sensors in one commit are each held against their own': async ({
    datapoints,
  }) => {
    const sensors = ['d1', 'd2'].flatMap((device) => ['s1', 's2'].map((id) => sensor(device, id)));
    // Each knows another one of these times, and something later.
    await datapoints.append(
      sensors.map((one, place) => push([at(place, place), at(100, 'later')], one)),
    );
    const late = [0, 1, 2, 3].map((value) => at(value, value));
    const outcomes = await appended(datapoints, [
      ...sensors.map((one) => push(late.slice(0, 3), one)),
      push([at(100, 'later')], sensor('d1', 'nope')),
      ...sensors.map((one) => push(late, one)),
    ]);
    const others = (place: number) => late.filter((_, time) => time !== place);
    const fresh = (points: readonly Datapoint[]) => ({
      ...{ kind: 'stored', fresh: points },
      ...(points.length > 0 && { weight: points.length }),
    });
    assert.deepEqual(outcomes, [
      ...sensors.map((_, place) => fresh(others(place).filter((point) => point !== late[3]))),
      { kind: 'missing' },
      ...sensors.map((_, place) => fresh(place === 3 ? [] : late.slice(3))),
    ]);
    for (const [place, one] of sensors.entries()) {
      assert.deepEqual(await allValues(datapoints, one), [0, 1, 2, 3, 'later']);
      // The last value is the one that came last.
      assert.equal(await lastValueIn(datapoints, one), place === 3 ? 2 : 3);
    }
  },

  'another value at the same time is kept, whatever looks alike': async ({ datapoints }) => {
    const alike: JsonValue[] = [
      1,
      '1',
      true,
      'true',
      null,
      'null',
      [1],
      { a: 1 },
      1.5,
      0,
      false,
      '',
    ];
    for (const value of alike) await datapoints.append([push([at(1, value)])]);
    await datapoints.append([push(alike.map((value) => at(1, value)))]);
    assert.deepEqual(await allValues(datapoints), alike);
  },

  'the same value in one array is stored once, and so in one batch': async ({ datapoints }) => {
    const outcomes = await appended(datapoints, [
      push([at(1, 7), at(1, 7), at(1, 8)]),
      push([at(1, 8), at(2, 8)]),
    ]);
    assert.deepEqual(outcomes, [
      { kind: 'stored', fresh: [at(1, 7), at(1, 8)], weight: 2 },
      { kind: 'stored', fresh: [at(2, 8)], weight: 1 },
    ]);
    assert.deepEqual(await allValues(datapoints), [7, 8, 8]);
  },

  'datapoints without timestamp are always kept': async ({ datapoints }) => {
    await datapoints.append([push([untimed(1, 5), untimed(1, 5)])]);
    await datapoints.append([push([untimed(1, 5), at(1, 5)])]);
    await datapoints.append([push([at(1, 5)])]);
    assert.deepEqual(await allValues(datapoints), [5, 5, 5, 5]);
  },

  'the same datapoint of another sensor is another datapoint': async ({ datapoints }) => {
    await datapoints.append([push([at(1, 5)], sensor('d1', 's1'))]);
    const outcomes = await appended(datapoints, [
      push([at(1, 5)], sensor('d1', 's2')),
      push([at(1, 5)], sensor('d2', 's1')),
    ]);
    for (const outcome of outcomes) {
      assert.deepEqual(outcome, { kind: 'stored', fresh: [at(1, 5)], weight: 1 });
    }
  },

  'an array of 30 000 that comes twice, or backwards, is stored once': async ({ datapoints }) => {
    const points: Datapoint[] = Array.from({ length: 30_000 }, (_, n) => at(n, n % 100));
    await datapoints.append([push(points)]);
    const [again] = await appended(datapoints, [push(points)]);
    assert.deepEqual(again, { kind: 'stored', fresh: [] });
    const [backwards] = await appended(datapoints, [push(points.toReversed())]);
    assert.deepEqual(backwards, { kind: 'stored', fresh: [] });
    assert.equal(await datapoints.count(sensor(), {}), 30_000);
  },
};

const lastValues: Promises = {
  'a push moves the last value to its newest datapoint': async ({ datapoints }) => {
    await datapoints.append([push([at(2, 'old'), at(9, 'newest'), at(4, 'middle')])]);
    assert.equal(await lastValue(datapoints), 'newest');
    // Pushed last counts, even if it was measured earlier [contract 3].
    await datapoints.append([push([at(1, 'late'), at(3, 'later')])]);
    assert.equal(await lastValue(datapoints), 'later');
  },

  'of two with the same time the later in the array is the last value': async ({ datapoints }) => {
    await datapoints.append([push([at(2, 'a'), at(2, 'b'), at(2, 'a')])]);
    assert.equal(await lastValue(datapoints), 'b');
  },

  'where one has no timestamp the last of the array is the last value': async ({ datapoints }) => {
    const lastOf = async (...array: Parameters<typeof push>[0]) => {
      await datapoints.append([push(array)]);
      return lastValue(datapoints);
    };
    assert.equal(await lastOf(untimed(1, 'a'), untimed(1, 'b')), 'b');
    assert.equal(await lastOf(untimed(8, 'c'), at(1, 'timed'), untimed(9, 'd')), 'd');
    assert.equal(await lastOf(at(30, 'late'), untimed(9, 'e'), at(2, 'early')), 'early');
    assert.equal(await lastOf(at(31, 'later'), untimed(9, 'f')), 'f');
    assert.equal(await lastOf(untimed(9, 'g'), at(3, 'three')), 'three');
  },

  'a push whose newest was stored already leaves the last value': async ({ datapoints }) => {
    await datapoints.append([push([at(5, 'five')])]);
    await datapoints.append([push([at(3, 'three')])]);
    await datapoints.append([push([at(4, 'four'), at(5, 'five')])]);
    assert.equal(await lastValue(datapoints), 'three');
    assert.equal(await datapoints.count(sensor(), {}), 3);
  },

  'last values come by device and sensor, without the empty ones': async ({ datapoints }) => {
    await datapoints.append([
      push([at(1, 1)], sensor('d1', 's1')),
      push([at(1, 2)], sensor('d2', 's2')),
    ]);
    const devices = [deviceId('d1'), deviceId('d2'), deviceId('nope')];
    const values = await datapoints.lastValues(devices);
    assert.deepEqual(values.get(deviceId('d1')), new Map([[sensorId('s1'), at(1, 1)]]));
    assert.deepEqual(values.get(deviceId('d2')), new Map([[sensorId('s2'), at(1, 2)]]));
    assert.equal(values.size, 2);
    assert.equal((await datapoints.lastValues([])).size, 0);
  },
};

const removing: Promises = {
  'a sensor made anew under the same name starts empty': async ({ datapoints, devices }) => {
    await datapoints.append([push([at(1, 1), at(2, 2)]), push([at(1, 1)], sensor('d1', 's2'))]);
    await devices.removeSensor(deviceId('d1'), sensorId('s1'), noon);
    assert.deepEqual(await datapoints.append([push([at(3, 3)])]), [{ kind: 'missing' }]);
    await devices.putSensor(deviceId('d1'), aSensor('s1'), noon);
    assert.equal(await datapoints.count(sensor(), {}), 0);
    assert.deepEqual(await allValues(datapoints), []);
    assert.equal(await lastValue(datapoints), undefined);
    await datapoints.append([push([at(1, 1)])]);
    assert.deepEqual(await allValues(datapoints), [1]);
    assert.deepEqual(await allValues(datapoints, sensor('d1', 's2')), [1]);
  },

  'a device takes its datapoints with it': async ({ datapoints, devices }) => {
    await datapoints.append([push([at(1, 1)]), push([at(1, 2)], sensor('d2', 's1'))]);
    await devices.remove(deviceId('d1'));
    assert.deepEqual(await datapoints.append([push([at(3, 3)])]), [{ kind: 'missing' }]);
    await devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
    assert.deepEqual(await allValues(datapoints), []);
    assert.equal(await lastValue(datapoints), undefined);
    assert.equal(await lastValueIn(datapoints, sensor('d2', 's1')), 2);
  },

  'a sensor described again keeps its datapoints': async ({ datapoints, devices }) => {
    await datapoints.append([push([at(1, 1)])]);
    await devices.putSensor(deviceId('d1'), aSensor('s1', { name: 'soil' }), noon);
    assert.deepEqual(await allValues(datapoints), [1]);
    assert.equal(await lastValue(datapoints), 1);
  },
};

/** Tests what an engine promises about datapoints. */
export function datapointsContract(openEmptyStorage: OpenEmptyStorage): void {
  for (const promises of [storing, repeating, lastValues, removing, datapointReads]) {
    testPromises(promises, openEmptyStorage, withSensors);
  }
}
