import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../mqtt/mqtt-clients.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { openSensor, type SensorEndpoint, valuesOf } from './sensor-endpoint.ts';

interface Refusal {
  readonly problem: string;
  readonly via: string;
  readonly count: number;
  readonly path?: string;
  readonly elements?: readonly {
    readonly index: number;
    readonly description: string;
    readonly excerpt: string;
  }[];
}

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

/** Elements that are no datapoints, as JSON or nearly so; with what their refusal says. */
const bad: readonly (readonly [string, RegExp])[] = [
  ['{"value":1,"timestamp":"2036-02-07T06:28:16Z"}', /ahead of the server's clock/],
  ['{"value":1,"timestamp":""}', /timestamp of datapoint \d+ must be .*, got ""/],
  ['{"value":1,"timestamp":"2026-02-30T00:00:00Z"}', /got "2026-02-30T/],
  ['{"value":1,"timestamp":1767225600}', /got 1767225600/],
  ['{"value":1,"timestamp":{"$date":1}}', /got \{/],
  ['{"timestamp":"2026-01-01T00:00:00Z"}', /the value of datapoint \d+ is missing/],
  [`{"value":"${'x'.repeat(66_560)}"}`, /the value of datapoint \d+ has more than 65536 bytes/],
  ['{"value":NaN}', /datapoint \d+ is not valid JSON: unexpected "N"/],
  ['{"value":-Infinity}', /is not valid JSON/],
  ['{"value":021.5}', /is not valid JSON/],
  ["{'value':1}", /is not valid JSON/],
  ['', /is not valid JSON/],
  ['null', /must be an object such as .*, got null/],
  ['true', /got true/],
  ['"21.5"', /got "21.5"/],
  ['21.5', /got 21.5/],
  ['[{"value":1}]', /got an array/],
  ['{}', /the value of datapoint \d+ is missing/],
];

const good = (value: number) => `{"value":${value},"timestamp":"2026-01-01T00:00:0${value}Z"}`;

async function refusalsOf(
  { deviceId }: SensorEndpoint,
  isThere: (all: readonly Refusal[]) => boolean = (all) => all.length > 0,
): Promise<readonly Refusal[]> {
  for (let tries = 0; ; tries += 1) {
    const { json } = await service.call({ path: `/devices/${deviceId}/refusals` });
    const all = json as readonly Refusal[];
    if (isThere(all) || tries > 200) return all;
  }
}

for (const [element, saying] of bad) {
  const name = element.slice(0, 50);
  test(`of an array with ${name} the others are stored, wherever it stands`, async () => {
    for (const place of [0, 1, 2]) {
      const sensor = await openSensor(service);
      const elements = [good(1), good(2)];
      elements.splice(place, 0, element);
      const reply = await sensor.send(`[${elements.join(' , ')}]`);
      assertDone(reply, name);
      assert.equal(reply.headers.get('x-refused'), '1');
      assert.deepEqual(valuesOf(await sensor.all()), [1, 2]);
      const [refusal, ...others] = await refusalsOf(sensor);
      assert.deepEqual(others, []);
      assert.equal(refusal?.count, 1);
      assert.match(refusal?.path ?? '', /\/(?:devices|sensors)\/.*\/values$/);
      const [shown] = refusal?.elements ?? [];
      assert.equal(shown?.index, place);
      assert.match(shown?.description ?? '', saying);
      assert.ok((shown?.excerpt.length ?? 99) <= 80);
      assertRefused(await sensor.send(`[{},${element}]`), 400);
    }
  });
}

test('an array in Latin-1 loses the elements alone that have an accent', async () => {
  const sensor = await openSensor(service);
  const body = Buffer.from(`[${good(1)},{"value":"caf\u00e9"},${good(2)}]`, 'latin1');
  const path = `/devices/${sensor.deviceId}/sensors/${sensor.sensorId}/values`;
  const reply = await service.call({ method: 'POST', path, body, type: 'application/json' });
  assertDone(reply);
  assert.equal(reply.headers.get('x-refused'), '1');
  assert.deepEqual(valuesOf(await sensor.all()), [1, 2]);
});

test('a long array is stored but for its bad elements, which are counted by kind', async () => {
  const sensor = await openSensor(service);
  const elements = Array.from({ length: 30_000 }, (_, at) =>
    at % 3 === 1
      ? '{"value":1,"timestamp":"2036-01-01T00:00:00Z"}'
      : at % 3 === 2
        ? '{"value":NaN}'
        : `{"value":${at},"timestamp":"${new Date(Date.UTC(2026, 0, 1) + at).toISOString()}"}`,
  );
  const reply = await sensor.send(`[${elements.join(',')}]`);
  assertDone(reply);
  assert.equal(reply.headers.get('x-refused'), '20000');
  const all = valuesOf(await sensor.all());
  assert.equal(all.length, 10_000);
  assert.deepEqual(
    all,
    all.toSorted((one, other) => Number(one) - Number(other)),
  );
  const refusals = await refusalsOf(sensor, (some) => some.length > 1);
  assert.deepEqual(refusals.map(({ count, problem }) => `${problem} ${count}`).toSorted(), [
    'clock_ahead 10000',
    'unreadable 10000',
  ]);
  const clock = refusals.find(({ problem }) => problem === 'clock_ahead');
  assert.deepEqual(
    clock?.elements?.map(({ index }) => index),
    [1, 4, 7, 10, 13, 16, 19, 22, 25, 28],
  );
});

test('an array that does not end or has bad elements alone is refused', async () => {
  const sensor = await openSensor(service);
  for (const body of [
    `[${good(1)}`,
    `[${good(1)},{"value":2`,
    `[${good(1)}] x`,
    '[{"value":NaN}]',
    '[{},null]',
  ]) {
    assertRefused(await sensor.send(body), 400, { of: body });
  }
  assert.deepEqual(await sensor.all(), []);
  // Arrays without a datapoint are values, as before.
  for (const body of ['[1,2]', '[null,{"a":1}]', '[[{"value":1}]]'])
    assertDone(await sensor.send(body));
  assert.deepEqual(valuesOf(await sensor.all()), [[1, 2], [null, { a: 1 }], [[{ value: 1 }]]]);
  assertDone(await sensor.send('[]'));
});

test('over MQTT the good elements are stored, acknowledged and handed on', async () => {
  const sensor = await openSensor(service);
  const topic = `devices/${sensor.deviceId}/sensors/${sensor.sensorId}/values`;
  await using listener = await connect(service);
  await listener.subscribe(topic);
  await using client = await connect(service, { protocolVersion: 5 });
  for (const retain of [false, true]) {
    const elements = [good(1), '{"value":NaN}', good(2), '{"value":1,"timestamp":"2036-01-01"}'];
    const acknowledged = await client.publish(topic, `[${elements.join(',')}]`, { qos: 1, retain });
    assert.equal((acknowledged as { reasonCode?: number }).reasonCode ?? 0, 0);
    assert.deepEqual(valuesOf(await sensor.all()), [1, 2]);
  }
  const [got] = await listener.got(1);
  assert.deepEqual(valuesOf(JSON.parse(got?.payload ?? '')), [1, 2]);
  const refusals = await refusalsOf(sensor, (all) => all.length > 1 && all[1]?.count === 2);
  assert.deepEqual(
    refusals.map(({ path, via, elements }) => [via, path, elements?.[0]?.index]).toSorted(),
    [
      ['mqtt', topic, 1],
      ['mqtt', topic, 3],
    ],
  );
  await using late = await connect(service);
  await late.subscribe(topic.replace('/values', '/value'));
  const [kept] = await late.got(1);
  assert.equal(JSON.parse(kept?.payload ?? '').value, 2);
  const refused = client.mqtt.publishAsync(topic, '[{"value":NaN}]', { qos: 1 });
  await assert.rejects(refused, /Payload format invalid|0x99|153/i);
});
