import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Call, Reply } from '../service.ts';
import { groupRoutes, listRoutes } from './gateway-project-rights.ts';
import { type Asker, rightsOn } from './rights-oracle.ts';
import { createRightsWorld, type RightsWorld } from './rights-world.ts';
import {
  type AccountRoute,
  accountRoutes,
  type DeviceRoute,
  type DeviceSubject,
  deviceRoutes,
  knownValue,
  owner,
  seerFor,
  statusOnDevice,
} from './route-rights.ts';

const worlds: Partial<Record<'open' | 'granted', RightsWorld>> = {};

before(async () => {
  worlds.open = await createRightsWorld('open');
  worlds.granted = await createRightsWorld('granted');
});

after(async () => {
  for (const world of Object.values(worlds)) await world[Symbol.asyncDispose]();
});

function worldWith(publicPush: 'open' | 'granted'): RightsWorld {
  const world = worlds[publicPush];
  assert.ok(world !== undefined, 'the services were started');
  return world;
}

/** What a refusal must not tell of a device. */
const secrets = /landlady|grantee|secret|garden|TC1|well|pump|4711|private|farm|maize/i;

interface Cell {
  readonly name: string;
  readonly route: DeviceRoute;
  readonly asker: Asker;
  readonly device: DeviceSubject;
}

function callOf(name: string, path: Readonly<Record<string, string>>): Call {
  const [method = '', template = ''] = name.split(' ');
  return { method, path: template.replace(/\{(\w+)\}/g, (_, key: string) => path[key] ?? key) };
}

async function ask(world: RightsWorld, asker: Asker, call: Call): Promise<Reply> {
  const token = world.tokenOf(asker);
  return world.service.call(token === undefined ? call : { ...call, token });
}

/** What is wrong with the answers in this cell of the matrix; nothing when all is well. */
async function faultsOf(world: RightsWorld, cell: Cell): Promise<readonly string[]> {
  const { name, route, asker, device } = cell;
  const { groupId: group_id } = world;
  const thing = { device_id: device.id, sensor_id: 'TC1', actuator_id: 'pump' };
  const where = { ...thing, username: 'spare', group_id };
  const call: Call = { ...callOf(name, where), ...route.send?.(device) };
  const expected = statusOnDevice({ ...cell, publicPush: world.publicPush });
  const reply = await ask(world, asker, call);
  const faults: string[] = [];
  const say = (fault: string) => faults.push(`${asker.name}, ${device.id}: ${fault}`);
  if (reply.status !== expected) say(`${reply.status} instead of ${expected} ${reply.text}`);
  if (reply.status === 403 && secrets.test(reply.text.replaceAll(device.id, ''))) {
    say(`the refusal tells ${reply.text}`);
  }
  if (route.showsValues === true && reply.status === 200) {
    const rights = rightsOn(seerFor({ route, asker }), device, world.publicPush);
    const mayView = rights.includes('devices-data:view');
    if (/4711/.test(reply.text) !== mayView) say(`values: ${reply.text}`);
  }
  if (call.method === 'GET') {
    const { status, text } = await ask(world, asker, { ...call, method: 'HEAD' });
    if (status !== expected || text !== '') say(`HEAD answers ${status} ${text}`);
  }
  if (route.isDestructive === true && reply.status !== 403) await world.restore(device);
  return faults;
}

async function faultsOfRoute(world: RightsWorld, name: string): Promise<readonly string[]> {
  const route = deviceRoutes[name];
  assert.ok(route !== undefined);
  const faults: string[] = [];
  for (const device of world.devices) {
    const cells = world.askers.map((asker) => ({ name, route, asker, device }));
    if (route.isDestructive === true) {
      for (const cell of cells) faults.push(...(await faultsOf(world, cell)));
    } else {
      faults.push(...(await Promise.all(cells.map((cell) => faultsOf(world, cell)))).flat());
    }
  }
  return faults;
}

test('the matrix has an entry for each route of the reference, and no other', async () => {
  const document = (await worldWith('open').service.call({ path: '//docs/v2.json' })).json;
  const { paths } = document as { paths: Record<string, Record<string, unknown>> };
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.ok(documented.length > 40, `only ${documented.length} routes are documented`);
  const own = [...Object.keys(deviceRoutes), ...Object.keys(accountRoutes)];
  const ofGroups = Object.values(groupRoutes).flatMap((routes) => Object.keys(routes));
  const entries = [...own, ...ofGroups, ...listRoutes].map((name) =>
    name
      .replace('{leaver_id}', '{user_id}')
      .replace('{no_group_id}', '{group_id}')
      .replace(/\?.*$/, ''),
  );
  // A route that answers in several ways has an entry for each.
  assert.deepEqual([...new Set(entries)].toSorted(), documented.toSorted());
});

for (const [name, { needs }] of Object.entries(deviceRoutes)) {
  test(`${name} is for those with ${needs}`, async () => {
    assert.deepEqual(await faultsOfRoute(worldWith('open'), name), []);
  });
}

for (const [name, { needs }] of Object.entries(deviceRoutes)) {
  if (needs !== 'devices-data:create') continue;
  test(`${name} takes a grant on public devices too where pushing is not open`, async () => {
    assert.deepEqual(await faultsOfRoute(worldWith('granted'), name), []);
  });
}

async function statusOnAccount(
  world: RightsWorld,
  asker: Asker,
  call: Call,
  route: AccountRoute,
): Promise<number> {
  if (route.spendsToken !== true) return (await ask(world, asker, call)).status;
  const renewed = await ask(world, asker, { method: 'POST', path: '/auth/renew' });
  if (renewed.status !== 200) return (await ask(world, asker, call)).status;
  return (await world.service.call({ ...call, token: renewed.text })).status;
}

for (const [name, route] of Object.entries(accountRoutes)) {
  test(`${name} answers each asker what it may`, async () => {
    const world = worldWith('open');
    const [user_id, leaver_id] = [world.idOf(owner), world.idOf('leaver')];
    const nobodys = {
      ...{ key_id: 'none', social_id: 'none', channel: 'sms' },
      notification_id: '0123456789abcdef01234567',
      ...{ group_id: world.groupId, no_group_id: 'none', username: 'spare' },
    };
    const call: Call = { ...callOf(name, { user_id, leaver_id, ...nobodys }), ...route.send };
    // The refused come first: what the others do may leave nothing to ask for.
    const refusedFirst = world.askers.toSorted((a, b) => route.status(b) - route.status(a));
    const answered: string[] = [];
    const expected: string[] = [];
    for (const asker of refusedFirst) {
      answered.push(`${asker.name}: ${await statusOnAccount(world, asker, call, route)}`);
      expected.push(`${asker.name}: ${route.status(asker)}`);
    }
    assert.deepEqual(answered, expected);
  });
}

for (const publicPush of ['open', 'granted'] as const) {
  test(`lists leave out what one may not view, with pushing ${publicPush}`, async () => {
    const world = worldWith(publicPush);
    const { askers, devices } = world;
    for (const asker of askers) {
      const reply = await ask(world, asker, { path: '/devices?limit=1000' });
      const listed = reply.json as readonly { id: string }[];
      const expected = devices
        .filter((device) => rightsOn(asker, device, publicPush).includes('devices:view'))
        .map(({ id }) => id);
      assert.deepEqual(listed.map(({ id }) => id).toSorted(), expected.toSorted(), asker.name);
      assert.equal(reply.headers.get('x-total-count'), `${expected.length}`, asker.name);
      for (const message of listed) {
        const device = devices.find(({ id }) => id === message.id);
        assert.ok(device !== undefined);
        const mayView = rightsOn(asker, device, publicPush).includes('devices-data:view');
        const text = JSON.stringify(message);
        assert.equal(/4711/.test(text), mayView, `${asker.name}: ${text}`);
      }
    }
  });

  test(`the permissions told are the rights one has, with pushing ${publicPush}`, async () => {
    const world = worldWith(publicPush);
    for (const asker of world.askers) {
      const reply = await ask(world, asker, { path: '/auth/permissions/devices' });
      const told = reply.json as readonly { resource: string; scopes: readonly string[] }[];
      const expected = world.devices
        .map((device) => ({ resource: device.id, scopes: rightsOn(asker, device, publicPush) }))
        .filter(({ scopes }) => scopes.length > 0);
      const byResource = (a: { resource: string }, b: { resource: string }) =>
        a.resource < b.resource ? -1 : 1;
      assert.deepEqual(told.toSorted(byResource), expected.toSorted(byResource), asker.name);
    }
  });

  test(`a bulk push refuses the lines one may not push, with pushing ${publicPush}`, async () => {
    const world = worldWith(publicPush);
    for (const asker of world.askers) {
      const json = world.devices.map(({ id }) => ({
        device_id: id,
        sensor_id: 'TC1',
        value: knownValue,
      }));
      const reply = await ask(world, asker, { method: 'POST', path: '/sensors_data', json });
      const { refused } = reply.json as { refused: readonly { line: number; error: string }[] };
      const expected = world.devices.flatMap((device, index) =>
        rightsOn(asker, device, publicPush).includes('devices-data:create')
          ? []
          : [{ line: index + 1, error: 'forbidden' }],
      );
      const told = refused.map(({ line, error }) => ({ line, error }));
      assert.deepEqual(told, expected, asker.name);
      assert.doesNotMatch(reply.text, secrets);
    }
  });
}
