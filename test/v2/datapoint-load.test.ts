import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { type Service, startService } from '../service.ts';
import { minute, openSensor, refusalOf, type SensorEndpoint, valuesOf } from './sensor-endpoint.ts';

type Fault = 'none' | 'unavailable' | 'bug';

/** What the next commits run into; the last fault stays. */
let faults: Fault[] = ['none'];
let service: Service;

before(async () => {
  service = await startService({ wrapStorage: failing });
});

after(() => service[Symbol.asyncDispose]());

function failing(storage: Storage): Storage {
  const { datapoints } = storage;
  return {
    ...storage,
    datapoints: {
      ...datapoints,
      append: async (batch) => {
        const fault = faults.length > 1 ? faults.shift() : faults[0];
        if (fault === 'bug') throw new Error('secret of the store');
        if (fault === 'unavailable') {
          throw new DomainError('unavailable', 'the disk failed', { retryAfterSeconds: 5 });
        }
        return datapoints.append(batch);
      },
    },
  };
}

/** Sends all at once, sends again what was refused as unavailable, until everything is taken. */
async function pushUntilTaken(
  endpoint: SensorEndpoint,
  bodies: readonly unknown[],
): Promise<number> {
  let waiting = bodies;
  let refusals = 0;
  for (let round = 0; waiting.length > 0 && round < 100; round += 1) {
    const replies = await Promise.all(
      waiting.map((body) => endpoint.send(JSON.stringify(body), { to: 'value' })),
    );
    const refused = waiting.filter((_, index) => replies[index]?.status !== 204);
    for (const reply of replies) {
      if (reply.status !== 204) refusalOf(reply, 503, 'unavailable');
    }
    refusals += refused.length;
    waiting = refused;
  }
  assert.deepEqual(waiting, []);
  return refusals;
}

test('pushes to one sensor at the same time are all stored', async () => {
  const sensor = await openSensor(service);
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  await Promise.all(numbers.map((n) => sensor.push({ value: n, timestamp: minute(n) })));
  assert.deepEqual(valuesOf(await sensor.all()), numbers);
});

test('pushes to many sensors at the same time are all stored, each with its own', async () => {
  const endpoints = await Promise.all(Array.from({ length: 30 }, () => openSensor(service)));
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  await Promise.all(
    endpoints.flatMap((endpoint, index) =>
      numbers.map((n) => endpoint.push([{ value: `${index}.${n}`, timestamp: minute(n) }])),
    ),
  );
  for (const [index, endpoint] of endpoints.entries()) {
    assert.deepEqual(
      valuesOf(await endpoint.all()),
      numbers.map((n) => `${index}.${n}`),
    );
  }
});

test('when its answer arrives, a push is visible to reads and in the last value', async () => {
  const sensor = await openSensor(service);
  for (let n = 0; n < 20; n += 1) {
    await sensor.push({ value: n });
    assert.equal((await sensor.all()).length, n + 1);
    assert.equal(((await sensor.get())['value'] as { value: number }).value, n);
  }
});

test('a store that cannot write answers 503 with Retry-After and keeps nothing', async () => {
  const sensor = await openSensor(service);
  faults = ['unavailable'];
  for (const body of ['{"value":1}', '[{"value":1},{"value":2}]', '3']) {
    const reply = await sensor.send(body);
    assert.match(refusalOf(reply, 503, 'unavailable'), /disk failed/);
    assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
  faults = ['none'];
  assert.deepEqual(await sensor.all(), []);
  assert.deepEqual(await sensor.get(), { id: 'TC1' });
  await sensor.push({ value: 1 });
  assert.deepEqual(valuesOf(await sensor.all()), [1]);
});

test('while the store fails now and then, nothing acknowledged is missing or doubled', async () => {
  const sensor = await openSensor(service);
  faults = ['unavailable', 'none', 'unavailable', 'unavailable', 'none'];
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  const bodies = numbers.map((n) => ({ value: n, timestamp: minute(n) }));
  const refusals = await pushUntilTaken(sensor, bodies);
  assert.ok(refusals > 0, 'the store must have failed for this test to mean something');
  assert.deepEqual(valuesOf(await sensor.all()), numbers);
});

test('a bug in the store is answered 500 without a word about its cause', async () => {
  const sensor = await openSensor(service);
  faults = ['bug', 'none'];
  const reply = await sensor.send('{"value":1}', { mayFail: true });
  assert.equal(reply.status, 500);
  assert.doesNotMatch(reply.text, /secret|stack|Error:/);
  assert.deepEqual(await sensor.all(), []);
});
