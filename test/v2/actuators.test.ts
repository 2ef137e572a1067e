import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
let created = 0;

before(async () => {
  service = await startService();
  for (const username of ['ama', 'kofi']) await service.tokenOf(username);
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

/** A new device of ama's without actuators. */
async function aDevice(visibility = 'public'): Promise<string> {
  created += 1;
  const id = `acting-${created}`;
  assertDone(await as('ama')({ method: 'POST', path: '/devices', json: { id, visibility } }));
  return `/devices/${id}/actuators`;
}

async function anActuator(json: object = { id: 'pump' }, visibility = 'public'): Promise<string> {
  const path = await aDevice(visibility);
  assertDone(await as('ama')({ method: 'POST', path, json }));
  return `${path}/pump`;
}

const put = (path: string, body: string, type = 'application/json', by = 'ama') =>
  as(by)({ method: 'PUT', path, body, type });

const textOf = async (path: string, by = 'ama') => {
  const reply = await as(by)({ path });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
};

/** The text without who set it and when: actuator-settings.test.ts is about these. */
const describedAt = async (path: string, by = 'ama') =>
  (await textOf(path, by)).replace(/,"set_by":"[^"]+","set_at":"[^"]+"/g, '');

test('an actuator is added, listed, read in the order of sketches, and deleted', async () => {
  const path = await aDevice();
  assert.equal(await textOf(path), '[]');
  const pump = { id: 'pump', name: 'Pump', actuator_kind: 'Relay', value_type: 'bool', meta: [1] };
  assertDone(await as('ama')({ method: 'POST', path, json: { ...pump, value: false } }));
  assertDone(await as('ama')({ method: 'POST', path, json: { id: 'led' } }));
  const text =
    '{"actuator_value_type":"bool","value":false,"actuator_kind":"Relay","name":"Pump",' +
    '"id":"pump","meta":[1]}';
  assert.equal(await textOf(`${path}/pump`), text);
  assert.equal(await textOf(path), `[${text},{"id":"led"}]`);
  const device = await as('ama')({ path: path.replace('/actuators', '') });
  assert.ok(device.text.includes(`"actuators":[${text},{"id":"led"}]`), device.text);
  assertDone(await as('ama')({ method: 'DELETE', path: `${path}/pump` }));
  assertRefused(await as('ama')({ path: `${path}/pump` }), 404);
  assertRefused(await as('ama')({ method: 'DELETE', path: `${path}/pump` }), 404);
  assert.equal(await textOf(path), '[{"id":"led"}]');
});

test('a second POST replaces the description and keeps the value unless it has one', async () => {
  const pump = await anActuator({ id: 'pump', name: 'Pump', actuator_kind: 'Relay', value: 5 });
  const post = async (json: object) =>
    assertDone(await as('ama')({ method: 'POST', path: pump.replace('/pump', ''), json }));
  await post({ id: 'pump', name: 'Water' });
  assert.equal(await describedAt(pump), '{"value":5,"name":"Water","id":"pump"}');
  await post({ id: 'pump', value: null });
  assert.equal(await describedAt(pump), '{"value":null,"id":"pump"}');
});

const values = ['false', 'true', 'null', '0', '-1.5', '"on"', '""', '[]', '{"a":{"b":[1]}}'];
values.push('12345678901234567890.5', '"null"', '{"value":1}');

test('an actuator takes any JSON value, and answers it whole', async () => {
  const pump = await anActuator();
  for (const type of ['application/json', 'text/plain']) {
    for (const value of values) {
      assertDone(await put(`${pump}/value`, value, type));
      assert.equal(await describedAt(pump), `{"value":${value},"id":"pump"}`);
      const reply = await as('ama')({ path: `${pump}/value` });
      assert.equal(reply.text, value);
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
    }
  }
});

test('a text that is no JSON is itself, also under a JSON type', async () => {
  const pump = await anActuator();
  for (const type of ['text/plain', 'text/plain; charset=utf-8', 'application/json', '']) {
    assertDone(await put(`${pump}/value`, 'ON now', type));
    assert.equal(await textOf(`${pump}/value`), '"ON now"', type);
  }
});

test('an actuator that was never set has no value to read', async () => {
  const pump = await anActuator();
  assertRefused(await as('ama')({ path: `${pump}/value` }), 404, { saying: /never set/ });
  assert.equal(await describedAt(pump), '{"id":"pump"}');
});

test('every field of an actuator is set and removed by itself', async () => {
  const pump = await anActuator();
  assertDone(await put(`${pump}/name`, 'Pump', 'text/plain'));
  assertDone(await put(`${pump}/actuator_kind`, '"Relay"'));
  assertDone(await put(`${pump}/value_type`, 'bool', 'text/plain'));
  assertDone(await put(`${pump}/meta`, '{"pin":4}'));
  const rest = '"actuator_kind":"Relay","name":"Pump","id":"pump","meta":{"pin":4}}';
  assert.equal(await describedAt(pump), `{"actuator_value_type":"bool",${rest}`);
  assertDone(await put(`${pump}/actuator_value_type`, ' null ', 'text/plain'));
  assert.equal(await describedAt(pump), `{"actuator_value_type":"null",${rest}`);
  for (const field of ['name', 'actuator_kind', 'actuator_value_type', 'meta']) {
    assertDone(await put(`${pump}/${field}`, 'null'));
  }
  assert.equal(await describedAt(pump), '{"id":"pump"}');
});

test('what an actuator cannot be is refused', async () => {
  const path = await aDevice();
  const wrong = [
    {},
    { id: 7 },
    { id: 'a b' },
    { id: 'a', value_type: 'flag' },
    { id: 'a', name: 1 },
  ];
  for (const json of wrong) {
    assertRefused(await as('ama')({ method: 'POST', path, json }), 400);
  }
  const large = { id: 'a', value: 'x'.repeat(65_536) };
  assertRefused(await as('ama')({ method: 'POST', path, json: large }), 413);
  assert.equal(await textOf(path), '[]');
  const pump = await anActuator();
  assertRefused(await put(`${pump}/value`, ''), 400, { saying: /empty/ });
  assertRefused(await put(`${pump}/value`, '{"a":'), 400);
  assertRefused(await put(`${pump}/value`, `"${'x'.repeat(65_536)}"`), 413, { saying: /65536/ });
  assertRefused(await put(`${pump}/value`, '1', 'application/xml'), 415);
  assertRefused(await put(`${pump}/value_type`, 'flag', 'text/plain'), 400, { saying: /bool/ });
  assertRefused(await put(`${pump}/unit`, 'x'), 404);
  assertRefused(await as('ama')({ method: 'PATCH', path: `${pump}/value`, json: 1 }), 405);
  assert.equal(await describedAt(pump), '{"id":"pump"}');
});

test('an actuator or device that is not there is 404', async () => {
  const pump = await anActuator();
  const others = [pump.replace('/pump', '/valve'), '/devices/nowhere/actuators/pump'];
  for (const path of others) {
    assertRefused(await as('ama')({ path }), 404);
    assertRefused(await as('ama')({ path: `${path}/value` }), 404);
    assertRefused(await put(`${path}/value`, '1'), 404);
    assertRefused(await put(`${path}/name`, 'x'), 404);
    assertRefused(await as('ama')({ method: 'DELETE', path }), 404);
  }
  const path = '/devices/nowhere/actuators';
  assertRefused(await as('ama')({ path }), 404);
  assertRefused(await as('ama')({ method: 'POST', path, json: { id: 'a' } }), 404);
});

test('only who may update a device describes its actuators', async () => {
  const pump = await anActuator({ id: 'pump', value: 1 });
  const path = pump.replace('/pump', '');
  for (const by of ['guest', 'kofi']) {
    assertRefused(await as(by)({ method: 'POST', path, json: { id: 'b' } }), 403, { of: by });
    assertRefused(await put(`${pump}/name`, 'x', 'text/plain', by), 403, { of: by });
    assertRefused(await as(by)({ method: 'DELETE', path: pump }), 403, { of: by });
  }
});

test('what an actuator of a private device is set to is data', async () => {
  const pump = await anActuator({ id: 'pump', value: 4711 }, 'private');
  const devicePath = pump.replace('/actuators/pump', '');
  const share = async (rights: readonly string[]) => {
    const path = `${devicePath}/grants/kofi`;
    assertDone(await as('ama')({ method: 'PUT', path, json: rights }));
  };
  for (const by of ['guest', 'kofi']) {
    assertRefused(await as(by)({ path: pump }), 403);
    assertRefused(await put(`${pump}/value`, '1', 'application/json', by), 403);
  }
  await share(['devices:view', 'devices:update']);
  const list = `/devices?q=id==${devicePath.replace('/devices/', '')}`;
  for (const path of [devicePath, pump, pump.replace('/pump', ''), list]) {
    assert.doesNotMatch(await textOf(path, 'kofi'), /4711|"value"/);
  }
  assertRefused(await as('kofi')({ path: `${pump}/value` }), 403);
  assertRefused(await put(`${pump}/value`, '1', 'application/json', 'kofi'), 403);
  const post = { method: 'POST', path: pump.replace('/pump', '') };
  assertRefused(await as('kofi')({ ...post, json: { id: 'pump', value: 1 } }), 403);
  assertDone(await as('kofi')({ ...post, json: { id: 'pump', name: 'Pump' } }));
  await share(['devices-data:create', 'devices-data:view']);
  assert.equal(await describedAt(pump, 'kofi'), '{"value":4711,"name":"Pump","id":"pump"}');
  assertDone(await put(`${pump}/value`, '12', 'application/json', 'kofi'));
  assert.equal(await textOf(`${pump}/value`, 'kofi'), '12');
});
