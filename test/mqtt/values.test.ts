import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { connect, makeDevice } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ana', 'pub');
  await makeDevice(service, 'ana', 'secret', { visibility: 'private' });
  await makeDevice(service, 'guest', 'free');
});

after(() => service[Symbol.asyncDispose]());

const values = async (path: string): Promise<unknown[]> => {
  const reply = await service.as('ana')({ path: `/devices/${path}/values` });
  return (reply.json as { value: unknown }[]).map(({ value }) => value);
};

const sensor = async (device: string, id: string): Promise<string> => {
  const path = `/devices/${device}/sensors`;
  await service.as('ana')({ method: 'POST', path, json: { id } });
  return `devices/${device}/sensors/${id}/value`;
};

for (const protocolVersion of [3, 4, 5] as const) {
  describe(`with protocol version ${protocolVersion}`, () => {
    const options = {
      protocolVersion,
      ...(protocolVersion === 3 && { protocolId: 'MQIsdp' as const }),
    };

    test('what was published and acknowledged is answered by GET', async () => {
      await using client = await connect(service, { ...options, as: 'ana' });
      for (const qos of [1, 2] as const) {
        const id = `v${protocolVersion}q${qos}`;
        const topic = await sensor('secret', id);
        await client.publish(
          topic,
          { value: 25.5, timestamp: '2026-01-01T00:00:00+01:00' },
          { qos },
        );
        const reply = await service.as('ana')({ path: `/devices/secret/sensors/${id}` });
        const { last_value: last } = reply.json as { last_value: Record<string, unknown> };
        assert.equal(last['value'], 25.5);
        assert.equal(last['timestamp'], '2025-12-31T23:00:00.000Z');
      }
    });

    test('what is posted over HTTP reaches subscribers with QoS 0, not retained', async () => {
      await using client = await connect(service, { ...options, as: 'ana' });
      await client.subscribe(['devices/secret/#', 'devices/pub/sensors/+/value'], 2);
      const guest = service.as('guest');
      const day = `2026-02-0${protocolVersion}`;
      const path = '/devices/pub/sensors/t/value';
      await guest({
        method: 'POST',
        path,
        json: { value: 1, timestamp: `${day}T00:00:00Z` },
      });
      await guest({ method: 'POST', path, body: 'warm' });
      const actuator = '/devices/secret/actuators/a/value';
      await service.as('ana')({ method: 'PUT', path: actuator, json: { on: true } });
      const got = await client.got(3);
      assert.deepEqual(client.texts, [
        `devices/pub/sensors/t/value {"value":1,"timestamp":"${day}T00:00:00.000Z"}`,
        'devices/pub/sensors/t/value {"value":"warm"}',
        'devices/secret/actuators/a/value {"on":true}',
      ]);
      for (const { packet } of got) assert.deepEqual([packet.qos, packet.retain], [0, false]);
    });
  });
}

test('a value arrives with the lower QoS of publish and subscription', async () => {
  await using client = await connect(service, { as: 'ana' });
  await client.subscribe('devices/pub/#', 1);
  for (const qos of [0, 1, 2] as const) {
    await client.publish('devices/pub/sensors/t/value', { value: qos }, { qos });
  }
  const got = await client.got(3);
  assert.deepEqual(
    got.map(({ packet, payload }) => [payload, packet.qos]),
    [
      ['{"value":0}', 0],
      ['{"value":1}', 1],
      ['{"value":2}', 1],
    ],
  );
});

test('an object arrives as it was published, with the properties of MQTT 5', async () => {
  await using client = await connect(service, { as: 'ana' });
  await client.subscribe('devices/pub/#', 1);
  const payload = '{"value" : 1.50, "unit": "C"}';
  const properties = {
    userProperties: { a: '1' },
    responseTopic: 'devices/pub/answer',
    correlationData: Buffer.from('c'),
    contentType: 'application/json',
    messageExpiryInterval: 60,
  };
  await client.publish('devices/pub/sensors/t/value', payload, { qos: 1, properties });
  const [got] = await client.got(1);
  assert.equal(got?.payload, payload);
  const { userProperties, responseTopic, contentType, correlationData } =
    got?.packet.properties ?? {};
  assert.deepEqual({ ...userProperties }, { a: '1' });
  assert.deepEqual([responseTopic, contentType], ['devices/pub/answer', 'application/json']);
  assert.equal(correlationData?.toString(), 'c');
  assert.ok((got?.packet.properties?.messageExpiryInterval ?? 99) <= 60);
});

test('bare values, text and big numbers are taken as HTTP takes them', async () => {
  await using client = await connect(service, { as: 'ana' });
  const topic = await sensor('pub', 'bare');
  await client.subscribe(topic);
  const payloads = ['25', ' 25.5 ', 'hot', '"25"', 'true', 'null', '[1,2]', '12345678901234567890'];
  for (const payload of payloads) await client.publish(topic, payload);
  await client.got(payloads.length);
  const reply = await service.as('ana')({ path: '/devices/pub/sensors/bare/values' });
  assert.match(reply.text, /"value":12345678901234567890[,}]/);
  assert.deepEqual((await values('pub/sensors/bare')).slice(0, -1), [
    ...[25, 25.5, 'hot', '25', true, null],
    [1, 2],
  ]);
  assert.equal(client.texts[0], `${topic} {"value":25}`);
  assert.equal(client.texts[2], `${topic} {"value":"hot"}`);
  assert.equal(client.texts[7], `${topic} {"value":12345678901234567890}`);
});

test('an array gives each datapoint on value, in order, and itself on values', async () => {
  await using all = await connect(service, { as: 'ana' });
  await using arrays = await connect(service, { as: 'ana' });
  const topic = await sensor('pub', 'many');
  await all.subscribe('devices/pub/sensors/#');
  await arrays.subscribe('devices/pub/sensors/+/values');
  const array = '[{"value":1},{"value":2} ,{"value":3}]';
  await all.publish(`${topic}s`, array);
  await service.as('ana')({
    method: 'POST',
    path: '/devices/pub/sensors/many/values',
    json: [{ value: 4 }, { value: 5 }],
  });
  await all.publish(topic, '[{"value":6}]');
  await all.publish(topic, '7');
  await all.got(7);
  assert.deepEqual(
    all.texts,
    [1, 2, 3, 4, 5, 6, 7].map((value) => `${topic} {"value":${value}}`),
  );
  await arrays.got(4);
  assert.deepEqual(
    arrays.texts,
    [array, '[{"value":4},{"value":5}]', '[{"value":6}]', '[{"value":7}]'].map(
      (text) => `${topic}s ${text}`,
    ),
  );
  assert.deepEqual(await values('pub/sensors/many'), [1, 2, 3, 4, 5, 6, 7]);
});

test('bulk pushes reach subscribers too', async () => {
  await using client = await connect(service);
  await client.subscribe('devices/free/#');
  const lines = [1, 2].map((value) => ({ device_id: 'free', sensor_id: 't', value }));
  await service.call({ method: 'POST', path: '/sensors_data', json: lines });
  await client.got(2);
  assert.deepEqual(
    client.texts,
    [1, 2].map((value) => `devices/free/sensors/t/value {"value":${value}}`),
  );
});

test('an actuator is set by a bare JSON value', async () => {
  await using client = await connect(service, { as: 'ana' });
  await client.subscribe('devices/secret/actuators/#', 1);
  await client.publish('devices/secret/actuators/a/value', '{"speed":3}');
  const [got] = await client.got(1);
  assert.deepEqual([got?.payload, got?.packet.qos], ['{"speed":3}', 1]);
  const reply = await service.as('ana')({ path: '/devices/secret/actuators/a/value' });
  assert.deepEqual(reply.json, { speed: 3 });
});

test('what one may not see is subscribed to in silence', async () => {
  await using stranger = await connect(service, { as: 'eve' });
  await using guest = await connect(service);
  const filters = ['#', '+/+/+/+/+', 'devices/secret/#', 'devices/secret/sensors/t/value'];
  for (const client of [stranger, guest]) {
    assert.deepEqual(
      (await client.subscribe(filters)).map(({ qos }) => qos),
      [1, 1, 1, 1],
    );
  }
  await service.as('ana')({
    method: 'POST',
    path: '/devices/secret/sensors/t/value',
    json: { value: 'hidden' },
  });
  await service.as('ana')({
    method: 'PUT',
    path: '/devices/secret/actuators/a/value',
    json: 'hidden',
  });
  await service.as('ana')({
    method: 'POST',
    path: '/devices/pub/sensors/t/value',
    json: { value: 'seen' },
  });
  for (const client of [stranger, guest]) {
    await client.got(1);
    assert.deepEqual(client.texts, ['devices/pub/sensors/t/value {"value":"seen"}']);
  }
});

test('a publish that is refused is acknowledged, not stored and not handed on', async () => {
  await using watcher = await connect(service, { as: 'ana' });
  await watcher.subscribe('#');
  await using old = await connect(service, { as: 'eve', protocolVersion: 4 });
  await using young = await connect(service, { as: 'eve' });
  const before = await values('secret/sensors/t');
  const refused: readonly (readonly [topic: string, payload: string, code: number])[] = [
    ['devices/secret/sensors/t/value', '{"value":1}', 0x87],
    ['devices/secret/actuators/a/value', '1', 0x87],
    ['devices/pub/actuators/a/value', '{"no', 0x99],
    ['devices/pub/sensors/t/value', '{"value"', 0x99],
    ['devices/pub/sensors/t/value', '{"other":1}', 0x99],
    ['devices/pub/sensors/t/value', 'NaN', 0x99],
    ['devices/pub/sensors/t/value', '', 0x99],
    ['devices/pub/sensors/t/values', '[{"valeu":1},2]', 0x99],
    ['devices/pub/sensors/t/value', '{"value":1,"timestamp":"2999-01-01T00:00:00Z"}', 0x99],
    ['devices/none/sensors/t/value', '1', 0x90],
    ['devices/pub/sensors/none/value', '1', 0x90],
    ['devices/pub/actuators/none/value', '1', 0x87],
    ['devices/a b/sensors/t/value', '1', 0x90],
    ['devices/pub', '1', 0x90],
    ['other', '1', 0x90],
    ['$SYS/metrics/x', '1', 0x87],
    ['devices/pub/config', '1', 0x87],
  ];
  for (const [topic, payload, code] of refused) {
    await old.publish(topic, payload);
    await assert.rejects(young.publish(topic, payload), { code }, `${topic} ${payload}`);
    await assert.rejects(young.publish(topic, payload, { qos: 2 }), { code });
  }
  await watcher.publish('devices/pub/sensors/t/value', { value: 'marker' });
  await watcher.got(1);
  assert.deepEqual(watcher.texts, ['devices/pub/sensors/t/value {"value":"marker"}']);
  assert.deepEqual(await values('secret/sensors/t'), before);
  const metrics = await service.as('admin')({ path: '//metrics' });
  assert.match(metrics.text, /kipimo_mqtt_publishes_refused_total\{reason="not_authorized"\} \d+/);
});

test('a payload that is no UTF-8 is refused', async () => {
  await using client = await connect(service, { as: 'ana' });
  const payload = Buffer.from([0x22, 0xff, 0x22]);
  await assert.rejects(client.publish('devices/pub/sensors/t/value', payload), { code: 0x99 });
});
