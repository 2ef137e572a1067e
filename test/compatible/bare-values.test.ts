import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../mqtt/mqtt-clients.ts';
import { type Service, startService } from '../service.ts';
import { datapointsOf, keyOf, makeDevice } from './line-endpoint.ts';

let service: Service;
let key: string;
let count = 0;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ama', { id: 'well', visibility: 'private' });
  key = await keyOf(service, 'ama', { devices: ['well'] });
});

after(() => service[Symbol.asyncDispose]());

/** What each endpoint that takes a bare value makes of it; undefined: nothing was stored. */
const endpoints = {
  'an MQTT publish': async (bytes: Buffer) => {
    const sensorId = await aSensor();
    await using client = await connect(service, { as: 'ama' });
    await client
      .publish(`devices/well/sensors/${sensorId}/value`, bytes, { qos: 1 })
      .catch(() => undefined);
    return await lastOf(sensorId);
  },
  'a push that does not say what it is': async (body: Buffer) => {
    const sensorId = await aSensor();
    const path = `/devices/well/sensors/${sensorId}/value`;
    await service.as('ama')({ method: 'POST', path, body, type: '' });
    return lastOf(sensorId);
  },
  'a ThingSpeak form': async (bytes: Buffer) => {
    const text = encodeURIComponent(bytes.toString('utf8'));
    const body = `api_key=${key}&field1=${text}&field2=1`;
    const type = 'application/x-www-form-urlencoded';
    const before = (await datapointsOf(service, 'well', 'field1').catch(() => [])).length;
    await service.call({ method: 'POST', path: '//update', body, type });
    const values = await datapointsOf(service, 'well', 'field1').catch(() => []);
    return values.length > before ? values.at(-1)?.[0] : undefined;
  },
} as const;

async function aSensor(): Promise<string> {
  count += 1;
  const json = { id: `s${count}` };
  await service.as('ama')({ method: 'POST', path: '/devices/well/sensors', json });
  return json.id;
}

const lastOf = async (sensorId: string) =>
  (await datapointsOf(service, 'well', sensorId)).at(-1)?.[0];

const cases: readonly (readonly [string, unknown])[] = [
  ['21.50', 21.5],
  ['-0.5', -0.5],
  ['1e5', 100_000],
  ['1.2E-3', 0.0012],
  ['0264.342', '0264.342'],
  ['007', '007'],
  ['241408E4', '241408E4'],
  ['12E3', '12E3'],
  ['N0264.342', 'N0264.342'],
  ['+5', '+5'],
  ['\u{feff}21.5', 21.5],
  ['21.5\0', 21.5],
  ['21.5\r\n\0\0', 21.5],
  ['\u{feff}wet \0', 'wet'],
  ['nan', undefined],
  ['-INF', undefined],
  ['Infinity\0', undefined],
];

for (const [name, push] of Object.entries(endpoints)) {
  test(`${name} takes bare values by the one rule`, async () => {
    for (const [text, value] of cases) {
      assert.deepEqual(await push(Buffer.from(text)), value, JSON.stringify(text));
    }
  });
}

test('JSON over MQTT may have a byte order mark before and NULs after it', async () => {
  const sensorId = await aSensor();
  await using client = await connect(service, { as: 'ama' });
  const topic = `devices/well/sensors/${sensorId}/value`;
  await client.publish(topic, '{"value": 21.5}\0\0', { qos: 1 });
  await client.publish(topic, '\u{feff}{"value": 22}', { qos: 1 });
  await client.publish(`${topic}s`, '\u{feff}[{"value": 23},{"value": 24}]\r\n\0', { qos: 1 });
  await assert.rejects(client.publish(topic, '{"value": 25', { qos: 1 }), /format invalid/);
  const values = await datapointsOf(service, 'well', sensorId);
  assert.deepEqual(
    values.map(([value]) => value),
    [21.5, 22, 23, 24],
  );
});

test('a bulk push may have a byte order mark before it and NULs after it', async () => {
  const sensorId = await aSensor();
  const line = (value: number) => `{"device_id":"well","sensor_id":"${sensorId}","value":${value}}`;
  const bodies: readonly (readonly [string, string])[] = [
    ['application/json', `\u{feff}[${line(1)}]\0\0\r\n`],
    ['application/x-ndjson', `\u{feff}${line(2)}\0\r\n \n${line(3)}\n\0\0`],
  ];
  for (const [type, body] of bodies) {
    const call = service.as('ama');
    const reply = await call({ method: 'POST', path: '/sensors_data', body, type });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((reply.json as { refused_count: unknown }).refused_count, 0, reply.text);
  }
  const values = await datapointsOf(service, 'well', sensorId);
  assert.deepEqual(
    values.map(([value]) => value),
    [1, 2, 3],
  );
});
