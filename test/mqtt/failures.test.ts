import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError, type ErrorCode } from '../../src/domain/errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createManualClock } from '../manual-clock.ts';
import { startService } from '../service.ts';
import { connect, ended, makeDevice } from './mqtt-clients.ts';

/** A service whose store refuses datapoints with this code while `isFailing`. */
function failingWith(code: ErrorCode) {
  const fault = { isFailing: false };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    datapoints: {
      ...storage.datapoints,
      append: (batch) =>
        fault.isFailing
          ? Promise.reject(new DomainError(code, 'the disk does not take it'))
          : storage.datapoints.append(batch),
    },
  });
  return { fault, wrapStorage };
}

test('what cannot be stored is not acknowledged, and comes again with the connection', async () => {
  const { fault, wrapStorage } = failingWith('unavailable');
  await using service = await startService({ wrapStorage });
  await makeDevice(service, 'guest', 'd');
  const client = await connect(service);
  fault.isFailing = true;
  const end = ended(client);
  const outcome = client.publish('devices/d/sensors/t/value', '1').then(
    () => 'acknowledged',
    () => 'not acknowledged',
  );
  assert.ok([0x88, 0x89].includes((await Promise.race([end, outcome])) as number));
  fault.isFailing = false;
  await using again = await connect(service);
  await again.publish('devices/d/sensors/t/value', '2');
  const reply = await service.call({ path: '/devices/d/sensors/t/values' });
  assert.deepEqual(
    (reply.json as { value: unknown }[]).map(({ value }) => value),
    [2],
  );
});

test('a full disk is told to MQTT 5 with 0x97, and ends connections of MQTT 3.1.1', async () => {
  const { fault, wrapStorage } = failingWith('storage_full');
  await using service = await startService({ wrapStorage });
  await makeDevice(service, 'guest', 'd');
  fault.isFailing = true;
  for (const qos of [1, 2] as const) {
    await using told = await connect(service);
    const code = await told.publish('devices/d/sensors/t/value', '1', { qos }).then(
      () => 'acknowledged',
      (error: { code?: number }) => error.code,
    );
    assert.equal(code, 0x97, `QoS ${qos}`);
    await using old = await connect(service, { protocolVersion: 4 });
    const end = ended(old);
    const outcome = old.publish('devices/d/sensors/t/value', '1', { qos }).then(
      () => 'acknowledged',
      () => 'not acknowledged',
    );
    assert.notEqual(await Promise.race([end, outcome]), 'acknowledged');
  }
  fault.isFailing = false;
  await using again = await connect(service);
  await again.publish('devices/d/sensors/t/value', '2');
});

test('an expired token ends its connection, and no other', async () => {
  const clock = createManualClock(Date.now());
  await using service = await startService({ clock });
  const password = await service.tokenOf('ana');
  const client = await connect(service, { username: '', password });
  await using owner = await connect(service, { as: 'ana' });
  const end = ended(client);
  clock.advance(601_000);
  assert.equal(await end, 0x87);
  await owner.subscribe('devices/#');
});
