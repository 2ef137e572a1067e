import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Client, type ClientOptions, connect, makeDevice } from '../mqtt/mqtt-clients.ts';
import { type Service, startService } from '../service.ts';

let service: Service;

before(async () => {
  service = await startService();
  const json = { id: 'gate1', name: 'Gate', visibility: 'private' };
  const made = await service.as('ama')({ method: 'POST', path: '/gateways', json });
  assert.equal(made.status, 200, made.text);
  await makeDevice(service, 'ama', 'barn', { visibility: 'private', actuators: ['pump'] });
  await makeDevice(service, 'ama', 'gate1', { visibility: 'private', sensors: [], actuators: [] });
});

after(() => service[Symbol.asyncDispose]());

/** The gateway's connection: MQTT 3.1.1, by its own id, dialled on the port of HTTP. */
function dial(options: ClientOptions = {}): Promise<Client> {
  const url = service.url.replace(/^http/, 'mqtt');
  return connect(service, { url, protocolVersion: 4, clientId: 'gate1', as: 'ama', ...options });
}

const asksMax = 500;

/** Presence follows the connection, which nobody announces: asks until it is so. */
async function becomes(connected: boolean): Promise<{ readonly last_seen?: string }> {
  for (let asks = 0; asks < asksMax; asks += 1) {
    const { json } = await service.as('ama')({ path: '/gateways/gate1' });
    const gateway = json as { connected: boolean; last_seen?: string };
    if (gateway.connected === connected) return gateway;
  }
  return assert.fail(`the gateway is not ${connected ? 'connected' : 'gone'}`);
}

const settingTopic = 'devices/barn/actuators/pump/value';

/** An app sets the pump over HTTP. */
async function set(value: unknown): Promise<void> {
  const path = `/${settingTopic}`;
  const reply = await service.as('ama')({ method: 'PUT', path, json: value });
  assert.equal(reply.status, 204, reply.text);
}

test('a gateway that dials the port of HTTP is shown as connected until it goes', async () => {
  assert.equal((await becomes(false)).last_seen, undefined);
  const gateway = await dial();
  assert.ok((await becomes(true)).last_seen);
  await gateway.mqtt.endAsync();
  await becomes(false);
});

test('a gateway that just vanishes is not connected any more either', async () => {
  const gateway = await dial();
  await becomes(true);
  gateway.mqtt.stream.destroy();
  await becomes(false);
});

test('what an app sets over HTTP reaches the gateway as a bare value, whatever it is', async () => {
  await using gateway = await dial();
  await gateway.subscribe('devices/barn/actuators/+/value', 1);
  const values = [true, 12.5, 'open', { degree: 3 }, [1, 2], 0, false];
  for (const value of values) await set(value);
  const got = await gateway.got(values.length);
  assert.deepEqual(
    got.map(({ topic, payload }) => [topic, JSON.parse(payload)]),
    values.map((value) => [settingTopic, value]),
  );
  assert.ok(got.every(({ packet }) => !packet.retain));
});

test('a gateway that was away finds what an app set over HTTP by asking for it', async () => {
  await set('closed');
  await using gateway = await dial();
  await gateway.subscribe(settingTopic, 1);
  const { json } = await service.as('ama')({ path: '/devices/barn/actuators/pump' });
  assert.equal((json as { value: unknown }).value, 'closed');
  await set('open');
  await gateway.got(1);
  assert.deepEqual(gateway.texts, [`${settingTopic} "open"`], 'nothing was retained');
});

test('a setting that an app retains over MQTT waits for the gateway', async () => {
  await using app = await connect(service, { as: 'ama' });
  await app.publish(settingTopic, '{"degree":4}', { qos: 1, retain: true });
  await using gateway = await dial();
  await gateway.subscribe(settingTopic, 1);
  const [got] = await gateway.got(1);
  assert.deepEqual([got?.payload, got?.packet.retain], ['{"degree":4}', true]);
  const { json } = await service.as('ama')({ path: `/${settingTopic}` });
  assert.deepEqual(json, { degree: 4 });
  await app.publish(settingTopic, '', { qos: 1, retain: true });
});

test('a gateway that comes back finds the newest setting, not one that was retained', async () => {
  await using app = await connect(service, { as: 'ama' });
  await app.publish(settingTopic, '"on"', { qos: 1, retain: true });
  await set('off');
  await using gateway = await dial();
  await gateway.subscribe(settingTopic, 1);
  const [got] = await gateway.got(1);
  assert.deepEqual([got?.payload, got?.packet.retain], ['"off"', true]);
  await app.publish(settingTopic, '', { qos: 1, retain: true });
});

test('a setting sent while a gateway with a session was away comes when it is back', async () => {
  const first = await dial({ clean: false });
  await first.subscribe(settingTopic, 1);
  await first.mqtt.endAsync();
  await using app = await connect(service, { as: 'ama' });
  await app.publish(settingTopic, '7', { qos: 1 });
  await using second = await dial({ clean: false });
  await second.got(1);
  assert.deepEqual(second.texts, [`${settingTopic} 7`]);
});

test('a tunnel carries any bytes both ways, for those who may update the gateway', async () => {
  const down = 'devices/gate1/tunnel-down';
  const up = 'devices/gate1/tunnel-up';
  for (const [request, answer] of [
    [`${down}/17`, `${up}/17`],
    ['gateways/gate1/down/17', 'gateways/gate1/up/17'],
  ] as const) {
    await using gateway = await dial();
    await using operator = await connect(service, { as: 'ama' });
    await using stranger = await connect(service, { as: 'eve', protocolVersion: 4 });
    await gateway.subscribe(request.replace('17', '+'));
    await operator.subscribe(answer.replace('17', '+'));
    await stranger.subscribe([`${down}/+`, `${up}/+`, 'gateways/#', 'devices/#']);
    await stranger.publish(request, 'break in');
    const bytes = Buffer.from([0, 1, 0xff, 0xfe, 0x80, 10]);
    await operator.publish(request, bytes);
    await gateway.got(1);
    await gateway.publish(answer, Buffer.from([...bytes].reverse()));
    const [got] = await operator.got(1);
    assert.ok(got !== undefined);
    assert.equal(got.topic, answer);
    assert.deepEqual([...Buffer.from(got.packet.payload)], [...bytes].reverse());
    // Values of a public device come to the stranger last, and alone.
    await tellEverybody();
    await stranger.got(1);
    assert.deepEqual(stranger.texts, ['devices/square/sensors/t/value {"value":1}']);
    assert.deepEqual(gateway.texts.length, 1, 'nothing came from the stranger');
  }
});

/** Pushes to a device that everybody may see. */
async function tellEverybody(): Promise<void> {
  const guest = service.as('guest');
  await guest({ method: 'POST', path: '/devices', json: { id: 'square', sensors: [{ id: 't' }] } });
  const path = '/devices/square/sensors/t/value';
  assert.equal((await guest({ method: 'POST', path, json: { value: 1 } })).status, 204);
}

test('a gateway uploads over MQTT, and a sensor that is not there holds up no other', async () => {
  await using gateway = await dial();
  const timestamp = '2026-03-04T08:06:07.123456789+03:00';
  const upload = JSON.stringify([{ value: 21.5, timestamp }]);
  await gateway.publish('devices/barn/sensors/missing/values', upload);
  await gateway.publish('devices/barn/sensors/t/values', '[{"value":1,"timestamp":"soon"}]');
  await gateway.publish('devices/barn/sensors/t/values', upload);
  await gateway.publish('devices/barn/sensors/t/values', upload);
  const { json } = await service.as('ama')({ path: '/devices/barn/sensors/t/values' });
  assert.deepEqual(
    (json as Record<string, unknown>[]).map((item) => [item['value'], item['timestamp']]),
    [[21.5, '2026-03-04T05:06:07.123Z']],
  );
});
