import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { passwordOf, type Service, startService } from '../service.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';
import { createWaziupClient, type Fields, refusalOf, type WaziupClient } from './waziup-js.ts';

const channels = createRecordingChannels();
let service: Service;
let client: WaziupClient;

before(async () => {
  // The package prints every notification it is answered; what it makes of them is asserted.
  mock.method(console, 'log', () => undefined);
  service = await startService({ channels: channels.open });
  const ama = service.as('ama');
  await service.tokenOf('kofi');
  const { json } = await service.as('kofi')({ path: '/users/me' });
  const me = json as { id: string };
  const phone = ['+233200000000'];
  await service.as('kofi')({ method: 'PUT', path: `/users/${me.id}`, json: { phone } });
  const device = { id: 'WJ', sensors: [{ id: 'TC1' }], actuators: [{ id: 'A1' }] };
  const made = await ama({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204, made.text);
  client = createWaziupClient(service.url);
  await client.logIn({ username: 'ama', password: passwordOf('ama') });
});

after(() => service[Symbol.asyncDispose]());

/** A notification built from the models of the package, which answers its id. */
async function create(expression: string, action: Fields, more: Fields = {}): Promise<unknown> {
  const condition = client.model('NotificationCondition', ['WJ'], ['TC1'], expression);
  const notification = client.model('Notification', condition, 'heat', action);
  return client.call('NotificationsApi.createNotification', { ...notification, ...more });
}

/** The package keeps the models of actions to itself: apps write them as plain objects. */
const social = (): Fields => ({
  type: 'SocialAction',
  value: client.model('SocialMessageBatch', ['sms'], '{id} is {TC1}', ['kofi']),
});

test('a notification is made, found, fired by a value of the client, and deleted', async () => {
  const expires = '2090-01-01T00:00:00.000Z';
  const id = await create('TC1 > 30', social(), { throttling: 1800, expires });
  // The client asks for JSON and hands over the text: an id in quotes, which paths put up with.
  const bareId: unknown = JSON.parse(String(id));
  const quiet = await client.get('NotificationsApi.getNotification', id);
  const expected = {
    id: bareId,
    description: 'heat',
    condition: { devices: ['WJ'], sensors: ['TC1'], expression: 'TC1 > 30' },
    action: {
      type: 'SocialAction',
      value: { channels: ['sms'], message: '{id} is {TC1}', usernames: ['kofi'] },
    },
    expires,
    throttling: 1800,
    status: 'active',
    times_sent: '0',
  };
  assert.deepEqual(quiet, expected);
  await client.call('SensorsApi.createSensorValue', 'WJ', 'TC1', { value: 29 });
  await client.call('SensorsApi.createSensorValue', 'WJ', 'TC1', { value: 31 });
  await client.call('SensorsApi.createSensorValue', 'WJ', 'TC1', { value: 32 });
  await channels.until(1);
  assert.deepEqual(
    channels.sent.map(({ username, text }) => [username, text]),
    [['kofi', 'TC1 is 31']],
  );
  const { last_notif: last, times_sent: times } = await client.get(
    'NotificationsApi.getNotification',
    id,
  );
  assert.equal(times, '1');
  assert.ok(Date.parse(String(last)) > 0, `last_notif is ${String(last)}`);
  const page = { limit: 10, offset: 0 };
  const list = (await client.get('NotificationsApi.getNotifications', page)) as unknown as Fields[];
  assert.deepEqual(
    list.map((item) => item['id']),
    [bareId],
  );
  await client.call('NotificationsApi.deleteNotification', id);
  const gone = client.call('NotificationsApi.getNotification', id);
  assert.equal((await refusalOf(gone)).status, 404);
});

test('a notification of the client sets an actuator', async () => {
  const value = { device_id: 'WJ', actuator_id: 'A1', actuator_value: 'open' };
  const id = await create('TC1 < 10', { type: 'ActuationAction', value });
  await client.call('SensorsApi.createSensorValue', 'WJ', 'TC1', { value: 9 });
  const actuator = await client.get('ActuatorsApi.getActuator', 'WJ', 'A1');
  assert.equal(actuator['value'], 'open');
  const fired = await client.get('NotificationsApi.getNotification', id);
  assert.deepEqual(fired['action'], {
    type: 'ActuationAction',
    value,
  });
  assert.equal(fired['last_success_code'], '204');
  await client.call('NotificationsApi.deleteNotification', id);
});

test('a status cannot be set: the client looks for the id in a name it does not have', async () => {
  const id = await create('TC1 > 30', social());
  const { status, text } = await refusalOf(
    client.call('NotificationsApi.putNotificationStatus', id, 'inactive'),
  );
  assert.equal(status, undefined, 'it fails before anything is sent');
  assert.match(text, /ReferenceError: deviceId is not defined/);
});

test('every method for notifications was called above', () => {
  const methods = client.methods.filter((name) => name.startsWith('NotificationsApi.'));
  assert.deepEqual(methods.length, 5);
  assert.deepEqual(
    methods.filter((name) => !client.called.has(name)),
    [],
  );
});
