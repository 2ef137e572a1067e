import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { connect, makeDevice } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ana', 'field');
});

after(() => service[Symbol.asyncDispose]());

const minute = (number: number): string =>
  new Date(1_700_000_000_000 + number * 60_000).toISOString();

/** What somebody who subscribes now is told first: the retained value, else the marker. */
async function retained(topic: string): Promise<string> {
  await using client = await connect(service, { as: 'ana' });
  const marker = topic.replace('/value', '-marker/value');
  await client.publish(marker, { value: 'marker' }, { qos: 1, retain: true });
  await client.subscribe(topic, 1);
  await client.subscribe(marker, 1);
  const [first] = await client.got(1);
  return first?.topic === topic ? first.payload : 'nothing';
}

test('a retained value follows corrections, and comes back when they are undone', async () => {
  const as = service.as('ana');
  for (const id of ['t', 't-marker']) {
    await as({ method: 'POST', path: '/devices/field/sensors', json: { id } });
  }
  const path = '/devices/field/sensors/t';
  const topic = 'devices/field/sensors/t/value';
  await as({ method: 'POST', path: `${path}/values`, json: [{ value: 1, timestamp: minute(1) }] });
  await using client = await connect(service, { as: 'ana' });
  const pushed = { timestamp: minute(2), value: 2, note: 'kept as it came' };
  await client.publish(topic, pushed, { qos: 1, retain: true });
  assert.equal(await retained(topic), JSON.stringify(pushed));

  const elsewhere = await as({
    ...{ method: 'PATCH', path: `${path}/values` },
    json: [{ timestamp: minute(1), value: 1.5 }],
  });
  assert.equal(elsewhere.status, 200);
  assert.equal(await retained(topic), JSON.stringify(pushed), 'it is not about this one');

  const newest = await as({ method: 'DELETE', path: `${path}/values?dateFrom=${minute(2)}` });
  assert.equal(await retained(topic), `{"value":1.5,"timestamp":"${minute(1)}"}`);
  const rest = await as({ method: 'DELETE', path: `${path}/values?all=true` });
  assert.equal(await retained(topic), 'nothing');
  for (const reply of [rest, newest]) {
    const { correction } = reply.json as { correction: string };
    const undone = await as({ method: 'DELETE', path: `${path}/corrections/${correction}` });
    assert.equal(undone.status, 204, undone.text);
  }
  assert.equal(await retained(topic), `{"value":2,"timestamp":"${minute(2)}"}`);
});

test('nobody is told of a correction, and no rule looks at it', async () => {
  const as = service.as('ana');
  await as({ method: 'POST', path: '/devices/field/sensors', json: { id: 'quiet' } });
  const path = '/devices/field/sensors/quiet';
  await as({ method: 'POST', path: `${path}/values`, json: [{ value: 1, timestamp: minute(1) }] });
  const made = await as({
    ...{ method: 'POST', path: '/notifications' },
    json: {
      condition: { devices: ['field'], sensors: ['quiet'], expression: 'quiet > 10' },
      action: { usernames: ['ana'], channels: ['sms'], message: 'fired' },
    },
  });
  assert.equal(made.status, 200, made.text);
  await using client = await connect(service, { as: 'ana' });
  await client.subscribe('devices/field/sensors/quiet/#', 1);
  await as({
    ...{ method: 'PATCH', path: `${path}/values` },
    json: [{ timestamp: minute(1), value: 50 }],
  });
  await as({ method: 'POST', path: `${path}/values`, json: [{ value: 3, timestamp: minute(3) }] });
  const got = await client.got(1);
  assert.match(got[0]?.payload ?? '', /"value":3/);
  const read = await as({ path: `/notifications/${made.text}` });
  assert.ok(!('last_notification' in (read.json as object)), read.text);
});
