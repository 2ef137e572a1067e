import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
let created = 0;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);
type Device = Readonly<Record<string, unknown>>;

async function aDevice(fields: object = {}, by = 'ama'): Promise<string> {
  created += 1;
  const path = `/devices/changed-${created}`;
  const json = { id: path.slice('/devices/'.length), ...fields };
  assertDone(await as(by)({ method: 'POST', path: '/devices', json }));
  return path;
}

const patch = (path: string, json: unknown, by = 'ama') => as(by)({ method: 'PATCH', path, json });
const read = async (path: string, by = 'ama') => (await as(by)({ path })).json as Device;

test('PATCH of a device sets the fields it names, removes those that are null', async () => {
  const path = await aDevice({ name: 'Old', domain: 'farm', sensors: [{ id: 'TC1' }] });
  const fields = {
    name: 'New',
    gateway_id: 'gw-1',
    location: { latitude: 5.5, longitude: -0.2 },
    meta: { crop: 'maize' },
    deployed: true,
    timezone: 'Africa/Accra',
    visibility: 'private',
  };
  assertDone(await patch(path, { ...fields, domain: null, nonsense: 1 }));
  const { date_created, date_modified, ...others } = await read(path);
  assert.deepEqual(others, {
    id: path.slice('/devices/'.length),
    owner: 'ama',
    ...fields,
    sensors: [{ id: 'TC1' }],
    actuators: [],
  });
  assertDone(await patch(path, { meta: null, location: null, timezone: null, deployed: null }));
  const { meta, location, timezone, deployed } = await read(path);
  assert.deepEqual(
    [meta, location, timezone, deployed],
    [undefined, undefined, undefined, undefined],
  );
  assertDone(await patch(path, {}));
});

test('a PATCH that is wrong in one field changes nothing', async () => {
  const path = await aDevice({ name: 'Old' });
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ name: 'New', visibility: 'secret' }, /public, private/],
    [{ name: 'New', location: { latitude: 91, longitude: 0 } }, /latitude/],
    [{ name: 'New', timezone: 'Mars/Olympus' }, /timezone must be an IANA name/],
    [{ name: 'New', gateway_id: 'a b' }, /gateway/],
    [{ name: 'New', owner: 'kofi' }, /PUT …\/owner/],
  ];
  for (const [json, saying] of wrong) assertRefused(await patch(path, json), 400, { saying });
  for (const json of [[], 'text', 1]) assertRefused(await patch(path, json), 400);
  assert.equal((await read(path))['name'], 'Old');
  for (const by of ['guest', 'kofi']) {
    assertRefused(await patch(path, { name: 'New' }, by), 403, { of: by });
  }
  assertRefused(await patch('/devices/none', { name: 'New' }), 404);
  const everybodys = await aDevice({}, 'guest');
  assertRefused(await patch(everybodys, { visibility: 'private' }, 'guest'), 400);
});

test('a device has a timezone of IANA, which PUT sets and q finds', async () => {
  const path = await aDevice({ timezone: 'Asia/Kathmandu' });
  assert.equal((await read(path))['timezone'], 'Asia/Kathmandu');
  const put = (body: string) => as('ama')({ method: 'PUT', path: `${path}/timezone`, body });
  assertDone(await put('Africa/Dakar'));
  const found = await as('ama')({ path: "/devices?q=timezone=='Africa/Dakar'" });
  assert.deepEqual(
    (found.json as Device[]).map(({ id }) => `/devices/${id}`),
    [path],
  );
  for (const name of ['Dakar', '+01:00', 'Africa/Dakar; x', 'x'.repeat(2_000)]) {
    assertRefused(await put(name), 400, { of: name });
  }
  const json = { id: 'nowhen', timezone: 'No/Where' };
  assertRefused(await as('ama')({ method: 'POST', path: '/devices', json }), 400);
  assertDone(
    await as('ama')({
      method: 'PUT',
      path: `${path}/timezone`,
      body: 'null',
      type: 'application/json',
    }),
  );
  assert.equal((await read(path))['timezone'], undefined);
});

test('POST of an array makes many devices, and answers each in its order', async () => {
  await aDevice();
  const taken = `changed-${created}`;
  const json = [
    { id: 'many-1', name: 'One', sensors: [{ id: 'TC1' }] },
    { id: 'a b' },
    { id: taken },
    { id: 'many-2' },
    { id: 'many-1' },
    {},
    5,
  ];
  const reply = await as('ama')({ method: 'POST', path: '/devices', json });
  assert.equal(reply.status, 200);
  const outcomes = reply.json as readonly Device[];
  assert.deepEqual(
    outcomes.map(({ id, created: isCreated, error }) => [id, isCreated, error]),
    [
      ['many-1', true, undefined],
      ['a b', false, 'invalid'],
      [taken, false, 'conflict'],
      ['many-2', true, undefined],
      ['many-1', false, 'conflict'],
      [undefined, false, 'invalid'],
      [undefined, false, 'invalid'],
    ],
  );
  for (const { created: isCreated, description } of outcomes) {
    assert.equal(typeof description, isCreated === true ? 'undefined' : 'string');
  }
  const device = await read('/devices/many-1');
  assert.deepEqual([device['name'], device['owner']], ['One', 'ama']);
  for (const wrong of [[], Array.from({ length: 1_001 }, (_, at) => ({ id: `x${at}` }))]) {
    assertRefused(await as('ama')({ method: 'POST', path: '/devices', json: wrong }), 400);
  }
  assertRefused(await as('ama')({ path: '/devices/x0' }), 404);
});

test('the last value of several sensors comes in one call', async () => {
  const sensors = [
    {
      id: 'TC1',
      calib: { linear: { points: [0, 1].map((at) => ({ sensor_value: at, real_value: at * 2 })) } },
    },
    { id: 'SM1' },
    { id: 'silent' },
  ];
  const [one, two] = [await aDevice({ sensors }), await aDevice({ sensors: sensors.slice(0, 1) })];
  const [first, second] = [one, two].map((path) => path.slice('/devices/'.length));
  for (const [path, value] of [
    [`${one}/sensors/TC1`, 3],
    [`${one}/sensors/SM1`, 'wet'],
    [`${two}/sensors/TC1`, 7],
  ]) {
    assertDone(
      await as('ama')({
        method: 'POST',
        path: `${path}/value`,
        json: { value, timestamp: '2026-01-01T00:00:00Z' },
      }),
    );
  }
  const lastOf = async (query: string, by = 'guest') => {
    const reply = await as(by)({ path: `/sensors_data/last?device_id=${first},${second}${query}` });
    assert.equal(reply.status, 200, reply.text);
    return (reply.json as Device[]).map(
      ({ device_id, sensor_id, value, timestamp, date_received }) => {
        assert.equal(timestamp, '2026-01-01T00:00:00.000Z');
        assert.equal(typeof date_received, 'string');
        return [device_id, sensor_id, value];
      },
    );
  };
  const all = [
    [first, 'TC1', 6],
    [first, 'SM1', 'wet'],
    [second, 'TC1', 14],
  ];
  assert.deepEqual(await lastOf(''), all);
  assert.deepEqual(await lastOf('&sensor_id=TC1'), [all[0], all[2]]);
  assert.deepEqual(await lastOf('&sensor_id=SM1,silent'), [all[1]]);
  assert.deepEqual(await lastOf('&sensor_id=TC1&calibrated=false'), [
    [first, 'TC1', 3],
    [second, 'TC1', 7],
  ]);
  const refused = (query: string, status: 400 | 403 | 404) =>
    as('kofi')({ path: `/sensors_data/last?${query}` }).then((reply) =>
      assertRefused(reply, status, { of: query }),
    );
  await refused('', 400);
  await refused(`device_id=${first}&sensor_id=none`, 404);
  await refused('device_id=none', 404);
  assertDone(await as('ama')({ method: 'PUT', path: `${two}/visibility`, body: 'private' }));
  await refused(`device_id=${first},${second}`, 403);
});
