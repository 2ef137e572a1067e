import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../service.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';
import { connect, makeDevice } from './mqtt-clients.ts';

test('a value over MQTT fires before it is acknowledged, and sets actuators', async () => {
  const channels = createRecordingChannels();
  await using service = await startService({ channels: channels.open });
  await makeDevice(service, 'ana', 'd', { visibility: 'private' });
  const ana = service.as('ana');
  await ana({ method: 'POST', path: '/devices/d/sensors', json: { id: 'TC1' } });
  await ana({ method: 'POST', path: '/devices/d/actuators', json: { id: 'fan' } });
  const value = { device_id: 'd', actuator_id: 'fan', actuator_value: true };
  const json = {
    condition: { devices: ['d'], expression: 'TC1 > 30' },
    action: { type: 'ActuationAction', value },
  };
  const { text: id } = await ana({ method: 'POST', path: '/notifications', json });
  await using client = await connect(service, { as: 'ana' });
  await client.mqtt.subscribeAsync('devices/d/actuators/fan/value');
  await client.publish('devices/d/sensors/TC1/value', { value: 31 }, { qos: 1 });
  const read = await ana({ path: `/notifications/${id}` });
  assert.equal((read.json as { times_sent: number }).times_sent, 1);
  assert.equal((await ana({ path: '/devices/d/actuators/fan/value' })).json, true);
  const [got] = await client.got(1);
  assert.deepEqual([got?.topic, got?.payload], ['devices/d/actuators/fan/value', 'true']);
});
