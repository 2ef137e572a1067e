import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { adminPassword, passwordOf, type Service, startService } from '../service.ts';
import { assertDone } from '../v2/refusal.ts';
import { createWaziupClient, type Fields, refusalOf, type WaziupClient } from './waziup-js.ts';

let service: Service;
let client: WaziupClient;

before(async () => {
  service = await startService();
  await service.tokenOf('ama');
  await service.tokenOf('kofi');
  client = createWaziupClient(service.url);
});

beforeEach(() => client.logIn({ username: 'ama', password: passwordOf('ama') }));

after(() => service[Symbol.asyncDispose]());

const linear = (real: number) => ({
  linear: {
    enabled: true,
    value_min: { sensor_value: 0, real_value: 0 },
    value_max: { sensor_value: 1, real_value: real },
  },
});

const call: WaziupClient['call'] = (...words) => client.call(...words);
const get: WaziupClient['get'] = (...words) => client.get(...words);

/** A device of ama with one sensor; answers its id. */
async function makeDevice(id: string): Promise<string> {
  const device = client.model('Device', id);
  device['sensors'] = [client.model('Sensor', 'TC1')];
  await call('DevicesApi.createDevice', device);
  return id;
}

test('a device is made, listed, changed field by field and deleted', async () => {
  const calib = linear(10);
  await call('DevicesApi.createDevice', {
    id: 'WJ1',
    name: 'Field',
    gateway_id: 'gw',
    visibility: 'private',
    domain: 'farm',
    sensors: [{ id: 'TC1', name: 'Air', sensor_kind: 'Thermometer', calib }],
    actuators: [{ id: 'A1', actuator_kind: 'Relay', actuator_value_type: 'bool' }],
  });
  await call('DevicesApi.putDeviceName', 'WJ1', 'Champ n°3');
  await call('DevicesApi.putDeviceVisibility', 'WJ1', 'public');
  await call('DevicesApi.putDeviceGatewayId', 'WJ1', 'gw2');
  await call('DevicesApi.putDeviceLocation', 'WJ1', client.model('Location', 5.2, -1.2));
  const { date_created, date_modified, ...device } = await get('DevicesApi.getDevice', 'WJ1');
  assert.ok(Date.parse(String(date_created)) <= Date.parse(String(date_modified)));
  const sensors = [{ id: 'TC1', name: 'Air', sensor_kind: 'Thermometer', calib }];
  assert.deepEqual(device, {
    id: 'WJ1',
    gateway_id: 'gw2',
    name: 'Champ n°3',
    domain: 'farm',
    owner: 'ama',
    visibility: 'public',
    location: { latitude: 5.2, longitude: -1.2 },
    sensors,
    actuators: [{ id: 'A1', actuator_kind: 'Relay', actuator_value_type: 'bool' }],
  });
  assert.deepEqual(await get('DevicesApi.getDeviceSensors', 'WJ1'), sensors);
  const page = { q: 'domain==farm', limit: 5, offset: 0 };
  assert.deepEqual(
    ((await get('DevicesApi.getDevices', page)) as unknown as Fields[]).map(({ id }) => id),
    ['WJ1'],
  );
  await call('DevicesApi.putDeviceOwner', 'WJ1', 'kofi');
  // It is still ama's until kofi accepts it; the client knows no call for that [contract 15].
  assertDone(await service.as('kofi')({ method: 'PUT', path: '/devices/WJ1/accept' }));
  assert.equal((await refusalOf(call('DevicesApi.deleteDevice', 'WJ1'))).status, 403);
  await client.logIn({ username: 'kofi', password: passwordOf('kofi') });
  await call('DevicesApi.deleteDevice', 'WJ1');
  assert.equal((await refusalOf(call('DevicesApi.getDevice', 'WJ1'))).status, 404);
});

test('a sensor is added, described, fed and read calibrated', async () => {
  const id = await makeDevice('WJ2');
  await call('SensorsApi.addSensor', id, client.model('Sensor', 'SM1'));
  await call('SensorsApi.putSensorName', id, 'SM1', 'Soil');
  await call('SensorsApi.putSensorQK', id, 'SM1', 'SoilMoisture');
  await call('SensorsApi.putSensorDeviceKind', id, 'SM1', 'Probe');
  await call('SensorsApi.putSensorUnit', id, 'SM1', 'Percent');
  await call('SensorsApi.putSensorCalibration', id, 'SM1', linear(20));
  const timestamp = '2020-01-01T00:00:00.000Z';
  await call('SensorsApi.createSensorValue', id, 'SM1', { value: 0.5, timestamp });
  await call('SensorsApi.createSensorValue', id, 'SM1', client.model('SensorValue', 2));
  const { value, ...sensor } = await get('SensorsApi.getSensor', id, 'SM1');
  assert.deepEqual(sensor, {
    id: 'SM1',
    name: 'Soil',
    quantity_kind: 'SoilMoisture',
    sensor_kind: 'Probe',
    unit: 'Percent',
    calib: linear(20),
  });
  assert.equal((value as Fields)['value'], 40);
  const query = { device_id: [id], sensor_id: 'SM1', sort: 'dsc', limit: 5, offset: 0 };
  const dates = { date_from: '2019-01-01T00:00:00Z', date_to: '2020-12-31T00:00:00Z' };
  const valuesOf = async (options: Fields) =>
    ((await get('SensorsApi.getSensorsData', options)) as unknown as Fields[]).map((item) => [
      item['device_id'],
      item['sensor_id'],
      item['value'],
    ]);
  assert.deepEqual(await valuesOf(query), [
    [id, 'SM1', 40],
    [id, 'SM1', 10],
  ]);
  assert.deepEqual(await valuesOf({ ...query, ...dates, calibrated: false }), [[id, 'SM1', 0.5]]);
  await call('SensorsApi.deleteSensor', id, 'SM1');
  assert.equal((await refusalOf(call('SensorsApi.getSensor', id, 'SM1'))).status, 404);
});

test('every value that the client sends is stored as what it is', async () => {
  const id = await makeDevice('WJ3');
  const values = ['text', 7, { value: 'inside' }, [{ value: 1 }, { value: 2 }]];
  for (const value of values) {
    await call('SensorsApi.createSensorValue', id, 'TC1', value);
  }
  const { json } = await service.as('ama')({ path: `/sensors_data?device_id=${id}` });
  assert.deepEqual(
    (json as Fields[]).map(({ value }) => value),
    ['text', 7, 'inside', 1, 2],
  );
});

test('an actuator is added, described and set to any value that the client can send', async () => {
  const id = await makeDevice('WJ4');
  const actuator = {
    id: 'A1',
    name: 'Pump',
    actuator_kind: 'Relay',
    actuator_value_type: 'number',
  };
  await call('ActuatorsApi.addActuator', id, actuator);
  await call('ActuatorsApi.putActuatorName', id, 'A1', 'Valve');
  await call('ActuatorsApi.putActuatorVT', id, 'A1', 'bool');
  await call('ActuatorsApi.putActuatorKind', id, 'A1', 'Motor');
  const path = `/devices/${id}/actuators/A1/value`;
  for (const value of [true, 12, 'open', { degree: 3 }, [1, 2]]) {
    await call('ActuatorsApi.createActuatorValue', id, 'A1', value);
    assert.deepEqual(JSON.parse((await service.as('ama')({ path })).text), value);
  }
  assert.deepEqual(await get('ActuatorsApi.getActuator', id, 'A1'), {
    id: 'A1',
    name: 'Valve',
    actuator_kind: 'Motor',
    actuator_value_type: 'bool',
    value: '1,2',
  });
  await call('ActuatorsApi.deleteActuator', id, 'A1');
  assert.equal((await refusalOf(call('ActuatorsApi.getActuator', id, 'A1'))).status, 404);
});

test('a gateway is declared, found, moved and deleted', async () => {
  await call('GatewaysApi.createGateway', { id: 'WG1', name: 'Roof', visibility: 'public' });
  await call('GatewaysApi.putGatewayName', 'WG1', 'Tower');
  await call('GatewaysApi.putGatewayLocation', 'WG1', { latitude: 1, longitude: 2 });
  const {
    date_created: _,
    date_modified: __,
    ...gateway
  } = await get('GatewaysApi.getGateway', 'WG1');
  assert.deepEqual(gateway, {
    id: 'WG1',
    name: 'Tower',
    owner: 'ama',
    visibility: 'public',
    location: { latitude: 1, longitude: 2 },
    connected: false,
    devices: [],
  });
  const list = (await get('GatewaysApi.getGateways', { limit: 5 })) as unknown as Fields[];
  assert.deepEqual(
    list.map(({ id }) => id),
    ['WG1'],
  );
  await call('GatewaysApi.deleteGateway', 'WG1');
  assert.equal((await refusalOf(call('GatewaysApi.getGateway', 'WG1'))).status, 404);
});

test('a project is read and changed by the id exactly as the client answered it', async () => {
  await makeDevice('WJ5');
  const json = { name: 'Farm', device_ids: ['WJ5'], gateway_ids: ['WG2'] };
  const id = await call('ProjectsApi.createProject', json);
  assert.equal(typeof id, 'string');
  const { devices } = await get('ProjectsApi.getProject', id, { full: true });
  assert.deepEqual(
    (devices as Fields[]).map((device) => device['id']),
    ['WJ5'],
  );
  await call('ProjectsApi.putProjectName', id, 'Ferme');
  await call('ProjectsApi.putDeviceIds', id, ['WJ6', 'WJ5']);
  await call('ProjectsApi.putGatewayIds', id, []);
  const { id: shown, ...project } = await get('ProjectsApi.getProject', id);
  assert.ok(String(id).includes(String(shown)));
  assert.deepEqual(project, {
    name: 'Ferme',
    owner: 'ama',
    device_ids: ['WJ6', 'WJ5'],
    gateway_ids: [],
  });
  const list = (await get('ProjectsApi.getProjects', { limit: 5 })) as unknown as Fields[];
  assert.deepEqual(
    list.map(({ name }) => name),
    ['Ferme'],
  );
  await call('ProjectsApi.deleteProject', id);
  assert.equal((await refusalOf(call('ProjectsApi.getProject', id))).status, 404);
});

test('messages are sent to one and to many, listed and deleted', async () => {
  const message = client.model('SocialMessage');
  Object.assign(message, { username: 'kofi', channel: 'none', message: 'Water the field' });
  await call('SocialsApi.createSocialMsg', message);
  const batch = client.model('SocialMessageBatch', ['none'], 'Harvest', ['kofi', 'ama']);
  await call('SocialsApi.createSocialMsgsBatch', batch);
  const list = (await get('SocialsApi.getSocialMsgs')) as unknown as Fields[];
  assert.deepEqual(
    list.map((item) => [item['username'], item['message']]),
    [
      ['kofi', 'Water the field'],
      ['kofi', 'Harvest'],
      ['ama', 'Harvest'],
    ],
  );
  const id = list[0]?.['id'];
  assert.equal((await get('SocialsApi.getSocialsMsg', id))['message'], 'Water the field');
  await call('SocialsApi.deleteSocialsMsg', id);
  assert.equal((await refusalOf(call('SocialsApi.getSocialsMsg', id))).status, 404);
});

test('users are listed and read, and an admin sets the credit of one', async () => {
  const users = (await get('UsersApi.getUsers', { limit: 10, offset: 1 })) as unknown as Fields[];
  assert.deepEqual(
    users.map(({ username }) => username),
    ['ama', 'kofi'],
  );
  const [ama] = (await get('UsersApi.getUsers', { username: 'ama' })) as unknown as Fields[];
  const id = ama?.['id'];
  assert.equal((await get('UsersApi.getUser', id))['username'], 'ama');
  assert.equal((await refusalOf(call('UsersApi.putUserSmsCredit', id, '5'))).status, 403);
  await client.logIn({ username: 'admin', password: adminPassword });
  // As a text: a number under text/plain is more than the client knows to write.
  await call('UsersApi.putUserSmsCredit', id, '5');
  assert.equal((await get('UsersApi.getUser', id))['sms_credit'], 5);
});

test('permissions are told with a login and without one', async () => {
  const id = await makeDevice('WJ7');
  const devices = (await get('AuthApi.getDevicePermissions')) as unknown as Fields[];
  const found = devices.find(({ resource }) => resource === id);
  assert.equal((found?.['scopes'] as unknown[] | undefined)?.length, 5);
  assert.ok(Array.isArray(await call('AuthApi.getGatewayPermissions')));
  assert.ok(Array.isArray(await call('AuthApi.getProjectPermissions')));
  client.logOut();
  const seen = (await get('AuthApi.getDevicePermissions')) as unknown as Fields[];
  const scopes = seen.find(({ resource }) => resource === id)?.['scopes'];
  assert.deepEqual(scopes, ['devices:view', 'devices-data:create', 'devices-data:view']);
});

/** What the client offers and cannot do here, and why. */
const impossible: readonly {
  readonly what: string;
  readonly why: string;
  readonly name: string;
  readonly words: readonly unknown[];
  readonly refusal: RegExp;
}[] = [
  {
    what: 'a bare 0 or false of a sensor',
    why: 'the client leaves out a body that counts as false; {value: 0} works',
    name: 'SensorsApi.createSensorValue',
    words: ['WJ8', 'TC1', 0],
    refusal: /the value is missing: the body is empty/,
  },
  {
    what: 'false or 0 for an actuator',
    why: 'the same; any other value works',
    name: 'ActuatorsApi.createActuatorValue',
    words: ['WJ8', 'A1', false],
    refusal: /the body is empty/,
  },
  {
    what: 'the port of a tunnel',
    why: 'it names a port on the relay host of the WAZIUP cloud, which only that cloud has',
    name: 'GatewaysApi.putTunnel',
    words: ['WG3', { tunnel_port: 2222 }],
    refusal: /there is nothing at/,
  },
];

for (const { what, why, name, words, refusal } of impossible) {
  test(`${what} cannot arrive: ${why}`, async () => {
    const { text } = await refusalOf(call(name, ...words));
    assert.match(text, refusal);
  });
}

test('every method that the package exports was called above', () => {
  const without = client.methods
    // Theirs is a test of its own, beside this one.
    .filter((name) => !name.startsWith('NotificationsApi.'))
    .filter((name) => !client.called.has(name));
  assert.ok(client.methods.length > 45, `only ${client.methods.length} methods were found`);
  assert.deepEqual(without, []);
});
