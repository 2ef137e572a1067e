import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import { type Service, startService } from '../service.ts';
import { openSensor, refusalOf } from './sensor-endpoint.ts';

let service: Service;
let isStoreBroken = false;
let isStoreSilent = false;

before(async () => {
  service = await startService({
    wrapStorage: (storage) => ({
      ...storage,
      ping: async () => {
        if (isStoreSilent) await new Promise(() => undefined);
        if (isStoreBroken) throw new DomainError('unavailable', 'the disk failed');
        await storage.ping();
      },
    }),
  });
});

after(() => service[Symbol.asyncDispose]());

async function counter(series: string): Promise<number> {
  const { status, text } = await service.as('admin')({ path: '//metrics' });
  assert.equal(status, 200, text);
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}

test('the service says that it is alive to anybody', async () => {
  const reply = await service.call({ path: '//healthz' });
  assert.equal(reply.status, 200);
  assert.deepEqual(reply.json, { status: 'ok' });
  assert.equal((await service.call({ method: 'HEAD', path: '//healthz' })).status, 200);
});

test('the service is ready while its store answers and says 503 while it does not', async () => {
  assert.equal((await service.call({ path: '//readyz' })).status, 200);
  isStoreBroken = true;
  try {
    refusalOf(await service.call({ path: '//readyz' }), 503, 'unavailable');
    assert.equal((await service.call({ path: '//healthz' })).status, 200);
  } finally {
    isStoreBroken = false;
  }
  assert.equal((await service.call({ path: '//readyz' })).status, 200);
});

test('whoever asks whether it is ready is answered soon, though the store is silent', async () => {
  isStoreSilent = true;
  try {
    refusalOf(await service.call({ path: '//readyz' }), 503, 'unavailable');
  } finally {
    isStoreSilent = false;
  }
});

test('metrics are for the token or key of an admin alone', async () => {
  for (const stranger of [service.as('guest'), service.as('ama')]) {
    refusalOf(await stranger({ path: '//metrics' }), 403, 'forbidden');
  }
  refusalOf(await service.call({ path: '//metrics', token: 'made-up' }), 401, 'unauthenticated');
  const admin = service.as('admin');
  const reply = await admin({ path: '//metrics' });
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/);
  const made = await admin({ method: 'POST', path: '/auth/keys', json: { name: 'prometheus' } });
  const { key } = made.json as { key: string };
  assert.equal((await service.call({ path: '//metrics', token: key })).status, 200);
  const ofUser = await service.as('ama')({
    method: 'POST',
    path: '/auth/keys',
    json: { name: 'a' },
  });
  const { key: userKey } = ofUser.json as { key: string };
  refusalOf(await service.call({ path: '//metrics', token: userKey }), 403, 'forbidden');
});

test('pushes, repeats, refusals and requests move their counters', async () => {
  const stored = await counter('kipimo_datapoints_stored_total');
  const repeated = await counter('kipimo_datapoints_repeated_total');
  const refused = await counter('kipimo_refusals_total{code="not_found"}');
  const sensor = await openSensor(service);
  const twins = [1, 2, 3].map((value) => ({ value, timestamp: '2016-06-08T18:20:27Z' }));
  await sensor.push(twins);
  await sensor.push(twins.slice(0, 2));
  await service.call({ path: '/devices/nowhere' });
  assert.equal(await counter('kipimo_datapoints_stored_total'), stored + 3);
  assert.equal(await counter('kipimo_datapoints_repeated_total'), repeated + 2);
  assert.equal(await counter('kipimo_refusals_total{code="not_found"}'), refused + 1);
  const route = '/api/v2/devices/:device_id/sensors/:sensor_id/values';
  const labels = `method="POST",route="${route}",status="204"`;
  assert.ok((await counter(`kipimo_request_duration_seconds_count{${labels}}`)) >= 2);
});

test('metrics show no ids, names or values of users', async () => {
  const sensor = await openSensor(service, { id: 'secret-sensor' });
  await sensor.push({ value: 'secret value' });
  await service.tokenOf('ama');
  const { text } = await service.as('admin')({ path: '//metrics' });
  for (const word of [sensor.deviceId, 'secret', 'ama"']) {
    assert.ok(!text.includes(word), `the metrics hold ${word}`);
  }
});
