import assert from 'node:assert/strict';
import type { VisibleTo } from '../../../src/domain/access/viewer.ts';
import { guestUsername } from '../../../src/domain/ids.ts';
import { parseJson } from '../../../src/lib/json.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { aGateway, aUser, gatewayId, noon, userId, username, visibleToUser } from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const later = noon + 1_000;
const everything: VisibleTo = { who: 'everything' };

async function idsVisibleTo({ gateways }: Storage, visibleTo: VisibleTo): Promise<string[]> {
  const listing = await gateways.list({ visibleTo, limit: 1_000, offset: 0 });
  assert.equal(listing.total, listing.gateways.length);
  return listing.gateways.map(({ id }) => id);
}

const promises: Promises = {
  'a gateway is found as it was inserted, and its id is taken': async ({ gateways }) => {
    const full = aGateway('g', {
      visibility: 'private',
      name: 'Café \u0000 \udfff 山田',
      location: { latitude: -90, longitude: 0.1 },
      status: { up: true },
      lastSeenAt: noon - 1,
      modifiedAt: later,
    });
    assert.equal(await gateways.insert(full), 'inserted');
    assert.equal(await gateways.insert(aGateway('g', { name: 'other' })), 'duplicate');
    assert.equal(await gateways.insert(aGateway('G')), 'inserted');
    assert.deepEqual(await gateways.find(gatewayId('g')), full);
    assert.deepEqual(await gateways.find(gatewayId('G')), aGateway('G'));
    assert.equal(await gateways.find(gatewayId('__proto__')), undefined);
  },

  'an update sets, keeps and removes fields and says when': async ({ gateways }) => {
    const id = gatewayId('g');
    const location = { latitude: 1, longitude: 2 };
    await gateways.insert(aGateway('g', { name: 'n', visibility: 'private', location }));
    await gateways.heartbeat(id, { at: noon, status: { up: true } });
    const changes = { name: undefined, visibility: undefined };
    assert.equal(await gateways.update(id, changes, later), 'updated');
    const seen = { location, lastSeenAt: noon, status: { up: true }, modifiedAt: later };
    assert.deepEqual(await gateways.find(id), aGateway('g', seen));
    const owner = username('bob');
    await gateways.update(id, { owner, visibility: 'private', name: 'm' }, later);
    const changed = { ...seen, owner, visibility: 'private', name: 'm' } as const;
    assert.deepEqual(await gateways.find(id), aGateway('g', changed));
    assert.equal(await gateways.update(gatewayId('h'), { name: 'x' }, later), 'missing');
  },

  'a heartbeat says when and what, and leaves the rest': async ({ gateways }) => {
    const id = gatewayId('g');
    await gateways.insert(aGateway('g', { name: 'n' }));
    const status = parseJson('{"__proto__": 1, "digits": 12345678901234567890.5}');
    assert.equal(await gateways.heartbeat(id, { at: noon, status }), 'recorded');
    const found = await gateways.find(id);
    assert.equal(JSON.stringify(found?.status), JSON.stringify(status));
    await gateways.heartbeat(id, { at: later });
    assert.equal(JSON.stringify((await gateways.find(id))?.status), JSON.stringify(status));
    await gateways.heartbeat(id, { at: noon, status: {} });
    const expected = aGateway('g', { name: 'n', lastSeenAt: later, status: {} });
    assert.deepEqual(await gateways.find(id), expected);
    assert.equal(await gateways.heartbeat(gatewayId('h'), { at: noon }), 'missing');
  },

  'heartbeats and changes made at once are all kept': async ({ gateways }) => {
    const id = gatewayId('g');
    await gateways.insert(aGateway('g'));
    await Promise.all([
      gateways.update(id, { name: 'n' }, noon),
      ...[3, 9, 5].map((ms) => gateways.heartbeat(id, { at: noon + ms })),
      gateways.update(id, { visibility: 'private' }, later),
    ]);
    const both = { name: 'n', visibility: 'private', modifiedAt: later } as const;
    assert.deepEqual(await gateways.find(id), aGateway('g', { ...both, lastSeenAt: noon + 9 }));
  },

  'gateways are listed in order of creation, in pages, to those who may see': async (opened) => {
    const { gateways, users, grants } = opened;
    for (const name of ['alice', 'bob']) await users.insert(aUser(name), 'hash');
    const bob = username('bob');
    const hidden = { visibility: 'private' } as const;
    await gateways.insert(aGateway('unsaid'));
    await gateways.insert(aGateway('private', hidden));
    await gateways.insert(aGateway('granted', hidden));
    await gateways.insert(aGateway('bobs', { ...hidden, owner: bob }));
    await gateways.insert(aGateway('guests', { ...hidden, owner: guestUsername }));
    const grant = { kind: 'gateway', resource: 'granted', username: bob } as const;
    await grants.put({ ...grant, scopes: ['gateways:update'] });

    const all = ['unsaid', 'private', 'granted', 'bobs', 'guests'];
    assert.deepEqual(await idsVisibleTo(opened, everything), all);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'public' }), ['unsaid', 'guests']);
    const ofBob = await visibleToUser(opened, 'gateway', 'BOB');
    const bobs = ['unsaid', 'granted', 'bobs', 'guests'];
    assert.deepEqual(await idsVisibleTo(opened, ofBob), bobs);
    const only = new Set(['guests', 'private', 'missing', 'bobs']);
    assert.deepEqual(await idsVisibleTo(opened, { ...ofBob, only }), ['bobs', 'guests']);
    const page = await gateways.list({ visibleTo: ofBob, limit: 2, offset: 1 });
    assert.deepEqual([page.total, ...page.gateways.map(({ id }) => id)], [4, 'granted', 'bobs']);
  },

  'gateways are counted by owner, removed once, and go with their owner': async (opened) => {
    const { gateways, users } = opened;
    for (const name of ['alice', 'bob']) await users.insert(aUser(name), 'hash');
    for (const id of ['a', 'b', 'c']) await gateways.insert(aGateway(id));
    await gateways.update(gatewayId('c'), { owner: username('bob') }, noon);
    assert.equal(await gateways.countOwnedBy(username('Alice')), 2);
    assert.equal(await gateways.remove(gatewayId('a')), 'removed');
    assert.equal(await gateways.remove(gatewayId('a')), 'missing');
    await users.remove(userId('id-alice'));
    assert.deepEqual(await idsVisibleTo(opened, everything), ['c']);
    assert.equal(await gateways.countOwnedBy(username('alice')), 0);
  },
};

/** What every engine promises of gateways. */
export function gatewaysContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage);
}
