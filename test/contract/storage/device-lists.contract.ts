import assert from 'node:assert/strict';
import type { DataReach, VisibleTo } from '../../../src/domain/access/viewer.ts';
import { singleBatch } from '../../../src/domain/datapoints/column-batch.ts';
import { searchDevices } from '../../../src/domain/datapoints/snapshots.ts';
import { parseFilter } from '../../../src/domain/devices/query-evaluation.ts';
import { guestUsername } from '../../../src/domain/ids.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  actuatorId,
  aDevice,
  anActuator,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  username,
  visibleToUser,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const everything: VisibleTo = { who: 'everything' };
const allValues: DataReach = { ...everything, granted: new Set() };
const wholePage = { limit: 1_000, offset: 0 };

interface Asked {
  readonly visibleTo: VisibleTo;
  readonly q?: string | undefined;
  readonly valuesWithin?: DataReach;
  readonly limit: number;
  readonly offset: number;
}

/** A page of a list, or of a search where something is searched for. */
function list(opened: Storage, { q, valuesWithin = allValues, ...page }: Asked) {
  if (q === undefined) return opened.devices.list(page);
  const stores = { store: opened.devices, datapoints: opened.datapoints };
  return searchDevices(stores, { ...page, valuesWithin, filter: parseFilter(q) });
}

async function idsVisibleTo(opened: Storage, visibleTo: VisibleTo, q?: string): Promise<string[]> {
  const { devices, total } = await list(opened, { visibleTo, q, ...wholePage });
  assert.equal(total, devices.length);
  return devices.map(({ id }) => id);
}

const promises: Promises = {
  'devices are listed whole, in order of creation, in pages': async (opened) => {
    const all = ['c', 'a', 'b', 'e', 'd'].map((id) => aDevice(id, { sensors: [aSensor('s')] }));
    for (const device of all) await opened.devices.insert(device);
    await opened.devices.update(deviceId('c'), { name: 'changed' }, noon);
    const page = (limit: number, offset: number, q?: string) =>
      list(opened, { visibleTo: everything, q, limit, offset });
    const heads = (from: number, to?: number) =>
      all.slice(from, to).map(({ id, owner, createdAt }) => ({ id, owner, createdAt }));
    assert.deepEqual(await page(2, 1), { devices: heads(1, 3), total: 5 });
    assert.deepEqual(await page(9, 4), { devices: heads(4), total: 5 });
    assert.deepEqual(await page(9, 5), { devices: [], total: 5 });
    assert.deepEqual(await page(2, 1, '!name'), { devices: heads(2, 4), total: 4 });
    const ids = ['e', 'nope', 'a', 'b'].map(deviceId);
    const { devices, taken } = await opened.devices.readSome(ids);
    assert.deepEqual(devices, [all[3], all[1], all[2]]);
    assert.equal(taken, 4);
    await opened.devices.remove(deviceId('d'));
    await opened.devices.insert(aDevice('d'));
    await opened.devices.insert(aDevice('0'));
    assert.deepEqual(await idsVisibleTo(opened, everything), ['c', 'a', 'b', 'e', 'd', '0']);
  },

  'a list shows all of many devices that its viewer was granted': async (opened) => {
    const granted = Array.from({ length: 700 }, (_, n) => `granted${n}`);
    for (const id of ['first', ...granted, 'hidden', 'last']) {
      const isPrivate = id !== 'first' && id !== 'last';
      await opened.devices.insert(aDevice(id, isPrivate ? { visibility: 'private' } : {}));
    }
    const reached = new Set([...granted.toReversed(), 'gone']);
    const who = { username: username('bob'), reached };
    const shown = ['first', ...granted, 'last'];
    assert.deepEqual(await idsVisibleTo(opened, { who }), shown);
    assert.deepEqual(await idsVisibleTo(opened, { who }, '!name'), shown);
    const { devices, total } = await list(opened, { visibleTo: { who }, limit: 3, offset: 699 });
    assert.deepEqual([devices.map(({ id }) => id), total], [shown.slice(699), 702]);
  },

  'a list shows what its viewer may see and nothing else': async (opened) => {
    for (const name of ['alice', 'bob']) await opened.users.insert(aUser(name), 'hash');
    const hidden = { visibility: 'private' as const };
    const bob = username('bob');
    await opened.devices.insert(aDevice('unsaid'));
    await opened.devices.insert(aDevice('public', { visibility: 'public' }));
    await opened.devices.insert(aDevice('private', hidden));
    await opened.devices.insert(aDevice('granted', hidden));
    await opened.devices.insert(aDevice('bobs', { ...hidden, owner: bob }));
    await opened.devices.insert(aDevice('guests', { ...hidden, owner: guestUsername }));
    const grant = { kind: 'device', resource: 'granted', username: bob } as const;
    await opened.grants.put({ ...grant, scopes: ['devices-data:create'] });

    const open = ['unsaid', 'public'];
    assert.deepEqual(await idsVisibleTo(opened, everything), [
      ...open,
      'private',
      'granted',
      'bobs',
      'guests',
    ]);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'public' }), [...open, 'guests']);
    const ofBob = await visibleToUser(opened, 'device', 'bob');
    assert.deepEqual(await idsVisibleTo(opened, ofBob), [...open, 'granted', 'bobs', 'guests']);
    assert.deepEqual(await idsVisibleTo(opened, ofBob, 'id!=public'), [
      'unsaid',
      'granted',
      'bobs',
      'guests',
    ]);
    await opened.grants.remove('device', 'granted', bob);
    const less = await visibleToUser(opened, 'device', 'bob');
    assert.deepEqual(await idsVisibleTo(opened, less), [...open, 'bobs', 'guests']);
  },

  'a list limited to some devices shows those of them that are visible': async (opened) => {
    for (const id of ['a', 'b', '__proto__']) await opened.devices.insert(aDevice(id));
    await opened.devices.insert(aDevice('p', { visibility: 'private' }));
    const only = new Set(['p', '__proto__', 'a', 'missing']);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'public', only }), ['a', '__proto__']);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'everything', only: new Set() }), []);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'everything', only }, 'id==p,b'), ['p']);
    await opened.devices.insert(aDevice('bobs', { owner: username('bob') }));
    const two = { who: 'everything', only: new Set(['bobs', 'a']) } as const;
    assert.deepEqual(await idsVisibleTo(opened, two, 'owner==bob'), ['bobs']);
    assert.deepEqual(await idsVisibleTo(opened, two, 'owner==alice'), ['a']);
    assert.deepEqual(await idsVisibleTo(opened, two), ['a', 'bobs']);
  },

  'what was granted is listed as it is now, whoever has its place': async (opened) => {
    const hidden = { visibility: 'private' } as const;
    for (const id of ['a', 'b']) await opened.devices.insert(aDevice(id, hidden));
    const who = { username: username('bob'), reached: new Set(['a', 'b']) };
    const shown = async () => (await list(opened, { visibleTo: { who }, ...wholePage })).devices;
    assert.deepEqual(
      (await shown()).map(({ id }) => id),
      ['a', 'b'],
    );
    await opened.devices.remove(deviceId('b'));
    await opened.devices.insert(aDevice('secret', hidden));
    await opened.devices.update(deviceId('a'), { visibility: 'public' }, noon);
    assert.deepEqual(
      (await shown()).map(({ id }) => id),
      ['a'],
    );
  },

  'names that are signs count as any other': async (opened) => {
    const dash = username('-');
    for (const id of ['a', 'b']) {
      await opened.devices.insert(aDevice(id, { owner: dash, visibility: 'private' }));
    }
    const who = { username: dash, reached: new Set<string>() };
    assert.deepEqual(await idsVisibleTo(opened, { who }), ['a', 'b']);
  },

  'a filter finds devices by their fields as they are now': async (opened) => {
    await opened.devices.insert(aDevice('a', { domain: 'farm', gatewayId: 'g1', name: 'x' }));
    await opened.devices.insert(aDevice('b', { domain: 'farm\u0000', owner: username('bob') }));
    await opened.devices.insert(aDevice('c', { domain: 'Farm', meta: { crop: 'maize' } }));
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['domain==farm', ['a']],
      ['domain==Farm', ['c']],
      ['domain==town', []],
      ['owner==bob', ['b']],
      ['owner==BOB', []],
      ['gateway_id==g1;owner==alice', ['a']],
      ['gateway_id==g1;owner==bob', []],
      ['id==c', ['c']],
      ['meta.crop==maize', ['c']],
      ['unknown==maize', []],
    ];
    for (const [q, ids] of cases)
      assert.deepEqual(await idsVisibleTo(opened, everything, q), ids, q);
    const changes = { domain: undefined, gatewayId: 'g2', owner: username('bob') };
    await opened.devices.update(deviceId('a'), changes, noon);
    assert.deepEqual(await idsVisibleTo(opened, everything, 'domain==farm'), []);
    assert.deepEqual(await idsVisibleTo(opened, everything, 'gateway_id==g2;owner==bob'), ['a']);
  },

  'a list of one owner, and a filter of what stores have, show what is visible': async (opened) => {
    for (const name of ['alice', 'bob']) await opened.users.insert(aUser(name), 'hash');
    const hidden = { visibility: 'private' as const };
    const farm = { domain: 'farm', gatewayId: 'g1' };
    for (const [id, fields] of [
      ['open', farm],
      ['hidden', { ...hidden, ...farm }],
      ['granted', { ...hidden, ...farm }],
      ['bobs', { ...hidden, ...farm, owner: username('bob') }],
      ['bobs-open', { owner: username('bob') }],
    ] as const) {
      await opened.devices.insert(aDevice(id, fields));
    }
    const grant = { kind: 'device', resource: 'granted', username: username('bob') } as const;
    await opened.grants.put({ ...grant, scopes: ['devices:view'] });
    const ofBob = await visibleToUser(opened, 'device', 'bob');
    const cases: readonly (readonly [VisibleTo, string, readonly string[]])[] = [
      [everything, 'owner==alice', ['open', 'hidden', 'granted']],
      [{ who: 'public' }, 'owner==alice', ['open']],
      [ofBob, 'owner==alice', ['open', 'granted']],
      [ofBob, 'owner==Alice', []],
      [ofBob, 'owner==bob', ['bobs', 'bobs-open']],
      [ofBob, 'owner==nobody', []],
      [ofBob, 'domain==farm', ['open', 'granted', 'bobs']],
      [ofBob, 'domain==farm;owner==alice', ['open', 'granted']],
      [{ who: 'public' }, 'gateway_id==g1;domain==farm', ['open']],
      [ofBob, 'id==granted,hidden,bobs,nope;domain==farm', ['granted', 'bobs']],
      [ofBob, 'id==open,granted', ['open', 'granted']],
      [everything, 'id==hidden;owner==alice;domain==town', []],
    ];
    for (const [visibleTo, q, ids] of cases) {
      assert.deepEqual(await idsVisibleTo(opened, visibleTo, q), ids, q);
      const { devices, total } = await list(opened, { visibleTo, q, limit: 1, offset: 9 });
      assert.deepEqual([devices, total], [[], ids.length], q);
    }
    await opened.devices.update(deviceId('hidden'), { visibility: 'public' }, noon);
    await opened.devices.update(deviceId('open'), { owner: username('bob') }, noon);
    await opened.devices.remove(deviceId('bobs'));
    assert.deepEqual(await idsVisibleTo(opened, ofBob), ['open', 'hidden', 'granted', 'bobs-open']);
    assert.deepEqual(await idsVisibleTo(opened, ofBob, 'owner==bob'), ['open', 'bobs-open']);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'public' }, 'owner==alice'), ['hidden']);
  },

  'a filter sees last values only where its viewer may': async (opened) => {
    const sensors = [aSensor('TC')];
    const ids = ['cold', 'hot', 'secret'];
    for (const id of ids) await opened.devices.insert(aDevice(id, { sensors }));
    await opened.devices.insert(aDevice('empty', { sensors }));
    const outcome = await opened.datapoints.append(
      ids.map((id, index) => ({
        deviceId: deviceId(id),
        sensorId: sensorId('TC'),
        batch: singleBatch(index * 20, undefined, noon),
      })),
    );
    assert.equal(outcome.length, 3);
    const { devices, total } = await list(opened, {
      visibleTo: everything,
      q: 'TC>10',
      valuesWithin: { ...allValues, only: new Set(['cold', 'hot', 'empty']) },
      ...wholePage,
    });
    assert.deepEqual(
      devices.map(({ id }) => id),
      ['hot'],
    );
    assert.equal(total, 1);
    assert.deepEqual(await idsVisibleTo(opened, everything, '!TC'), ['empty']);
  },

  'a filter compares calibrated values, as readers see them': async (opened) => {
    const points = [
      { sensorValue: 0, realValue: 100 },
      { sensorValue: 10, realValue: 200 },
    ];
    const calibration = { isEnabled: true, points, spelling: 'points' as const };
    await opened.devices.insert(aDevice('d', { sensors: [aSensor('s', { calibration })] }));
    await opened.datapoints.append([
      {
        deviceId: deviceId('d'),
        sensorId: sensorId('s'),
        batch: singleBatch(5, undefined, noon),
      },
    ]);
    assert.deepEqual(await idsVisibleTo(opened, everything, 's==150'), ['d']);
    assert.deepEqual(await idsVisibleTo(opened, everything, 's==5'), []);
  },

  'what is stored is counted for its owner, and comes back when it goes': async (opened) => {
    for (const name of ['alice', 'bob']) await opened.users.insert(aUser(name), 'hash');
    const { devices, datapoints } = opened;
    await devices.insert(aDevice('d', { sensors: [aSensor('s'), aSensor('t')] }));
    await devices.insert(aDevice('bobs', { owner: username('bob') }));
    const alice = username('alice');
    const used = async (owner: typeof alice) => (await devices.storedByOwner()).get(owner) ?? 0;
    const isOfDevices = async () => {
      const of = async (id: string) => devices.storedBytes(deviceId(id));
      const [both, other] = [(await of('d')) + (await of('e')), await of('bobs')];
      assert.deepEqual([await used(alice), await used(username('bob'))], [both, other]);
    };
    const empty = await devices.storedBytes(deviceId('d'));
    assert.ok(empty > 0);
    assert.equal(await used(alice), empty);
    const push = { deviceId: deviceId('d'), sensorId: sensorId('s') };
    const value = 'x'.repeat(10_000);
    await datapoints.append([{ ...push, batch: singleBatch(value, undefined, noon) }]);
    const filled = await devices.storedBytes(deviceId('d'));
    assert.ok(filled >= empty + 10_000 && filled < empty + 11_000, `${filled - empty}`);
    assert.equal(await used(alice), filled);
    const ofSensor = await devices.storedBytes(deviceId('d'), sensorId('s'));
    assert.ok(ofSensor >= 10_000 && ofSensor < filled);
    await devices.removeSensor(deviceId('d'), sensorId('s'), noon);
    assert.equal(await used(alice), filled - ofSensor);
    const more = { sensors: [aSensor('s')], actuators: [anActuator('a'), anActuator('b')] };
    await devices.insert(aDevice('e', more));
    await isOfDevices();
    const e = deviceId('e');
    await devices.update(e, { name: 'longer than it was', visibility: 'private' }, noon);
    await devices.updateSensor(e, sensorId('s'), { name: 'y'.repeat(99) }, noon);
    await devices.updateActuator(e, actuatorId('a'), { name: 'z'.repeat(99) }, noon);
    await datapoints.append([{ ...push, deviceId: e, batch: singleBatch(value, undefined, noon) }]);
    await isOfDevices();
    await devices.removeActuator(e, actuatorId('b'), noon);
    await isOfDevices();
    await devices.remove(e);
    await isOfDevices();
    await devices.update(deviceId('d'), { owner: username('bob') }, noon);
    assert.equal(await used(alice), 0);
    assert.ok((await used(username('bob'))) >= filled - ofSensor);
    await devices.remove(deviceId('d'));
    await devices.remove(deviceId('bobs'));
    assert.deepEqual([await used(alice), await used(username('bob'))], [0, 0]);
    assert.equal(await devices.storedBytes(deviceId('nope')), 0);
  },

  'a long list is searched to its end': async (opened) => {
    const ids = Array.from({ length: 1_200 }, (_, index) => `d${index}`);
    await Promise.all(
      ids.map((id, index) => opened.devices.insert(aDevice(id, { name: `n${index % 3}` }))),
    );
    const page = { visibleTo: everything, q: 'name==n2', limit: 3, offset: 398 };
    const { devices, total } = await list(opened, page);
    assert.equal(total, 400);
    assert.deepEqual(
      devices.map(({ id }) => id),
      ['d1196', 'd1199'],
    );
    const all = await list(opened, { ...page, limit: 2_000, offset: 0 });
    assert.equal(all.devices.length, 400);
  },
};

/** What every engine promises of lists of devices. */
export function deviceListsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage);
}
