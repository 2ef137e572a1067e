import assert from 'node:assert/strict';
import type {
  RetentionScope,
  RetentionStore,
} from '../../../src/domain/datapoints/retention/retention.ts';
import { aDevice, aUser, deviceId, noon, sensorId, userId, username } from './builders.ts';
import { sensor } from './datapoint-builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const ofSensor: RetentionScope = { kind: 'sensor', ...sensor() };
const ofDevice: RetentionScope = { kind: 'device', deviceId: deviceId('d1') };
const ofUser: RetentionScope = { kind: 'user', username: username('ana') };

/** What holds for each sensor, in the order of their numbers. */
async function nearest(store: RetentionStore): Promise<readonly string[]> {
  const found = await store.sensors({ after: -1, max: 100 });
  return found.map(({ sensorId: id, nearest: one }) =>
    one === undefined
      ? `${id}: service`
      : `${id}: ${one.source} ${one.retention.rawDays} ${one.retention.hourlyDays}`,
  );
}

const promises: Promises = {
  'the nearest retention that is set holds as a whole': async ({ retentions }) => {
    assert.equal(await retentions.isAnySet(), false);
    assert.deepEqual(await nearest(retentions), ['s1: service', 's2: service', 's3: service']);
    assert.equal(await retentions.put(ofUser, { rawDays: 30, hourlyDays: 60 }), 'put');
    assert.equal(await retentions.put(ofDevice, { rawDays: 20 }), 'put');
    assert.equal(await retentions.put(ofSensor, {}), 'put');
    assert.equal(await retentions.isAnySet(), true);
    assert.deepEqual(await nearest(retentions), [
      's1: sensor undefined undefined',
      's2: device 20 undefined',
      's3: service',
    ]);
    assert.deepEqual(await retentions.find(ofSensor), {});
    assert.deepEqual(await retentions.find(ofUser), { rawDays: 30, hourlyDays: 60 });
    await retentions.put(ofSensor, { rawDays: 1, hourlyDays: 2 });
    await retentions.put(ofDevice, undefined);
    await retentions.put(ofDevice, undefined);
    assert.deepEqual(await nearest(retentions), [
      's1: sensor 1 2',
      's2: user 30 60',
      's3: service',
    ]);
    assert.equal(await retentions.find(ofDevice), undefined);
  },

  'sensors come in pages, of an owner or a device alone if that is asked for': async ({
    retentions,
  }) => {
    const ids = async (selection: object): Promise<readonly string[]> => {
      const found = await retentions.sensors({ after: -1, max: 100, ...selection });
      return found.map((one) => `${one.owner} ${one.deviceId} ${one.sensorId}`);
    };
    assert.deepEqual(await ids({ owner: username('ANA') }), ['ana d1 s1', 'ana d1 s2']);
    assert.deepEqual(await ids({ deviceId: deviceId('d2') }), ['guest d2 s3']);
    const [first] = await retentions.sensors({ after: -1, max: 1 });
    assert.deepEqual(await ids({ after: first?.number, max: 1 }), ['ana d1 s2']);
  },

  'nothing is set for what does not exist': async ({ retentions }) => {
    const places: readonly RetentionScope[] = [
      { kind: 'sensor', ...sensor('d1', 's9') },
      { kind: 'device', deviceId: deviceId('d9') },
      { kind: 'user', username: username('guest') },
    ];
    for (const place of places) assert.equal(await retentions.put(place, {}), 'missing');
    assert.equal(await retentions.isAnySet(), false);
  },

  'a retention goes with what it is set for': async ({ retentions, devices, users }) => {
    for (const place of [ofSensor, ofDevice, ofUser]) await retentions.put(place, { rawDays: 1 });
    await devices.removeSensor(deviceId('d1'), sensorId('s1'), noon);
    await devices.putSensor(deviceId('d1'), { id: sensorId('s1') }, noon);
    assert.equal(await retentions.find(ofSensor), undefined);
    assert.deepEqual(await retentions.find(ofDevice), { rawDays: 1 });
    await devices.remove(deviceId('d1'));
    await devices.insert(
      aDevice('d1', { owner: username('ana'), sensors: [{ id: sensorId('s1') }] }),
    );
    assert.equal(await retentions.find(ofDevice), undefined);
    const ana = (await users.list({ limit: 1, offset: 0 })).users[0];
    await users.remove(ana?.id ?? userId(''));
    assert.equal(await retentions.isAnySet(), false);
  },

  'a sensor that is described anew keeps its retention': async ({ retentions, devices }) => {
    await retentions.put(ofSensor, { rawDays: 7 });
    await devices.putSensor(deviceId('d1'), { id: sensorId('s1'), name: 'new' }, noon);
    assert.deepEqual(await retentions.find(ofSensor), { rawDays: 7 });
  },
};

export function retentionsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, async ({ devices, users }) => {
    await users.insert(aUser('ana'), 'hash');
    const sensors = (...ids: readonly string[]) => ids.map((id) => ({ id: sensorId(id) }));
    await devices.insert(aDevice('d1', { owner: username('ana'), sensors: sensors('s1', 's2') }));
    await devices.insert(aDevice('d2', { owner: username('guest'), sensors: sensors('s3') }));
  });
}
