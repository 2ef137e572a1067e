import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import { createManualClock } from '../../src/lib/clock.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { startService } from '../service.ts';
import { connect, ended, makeDevice } from './mqtt-clients.ts';

test('what cannot be stored is not acknowledged, and comes again with the connection', async () => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    datapoints: {
      ...storage.datapoints,
      append: (batch) =>
        isFull
          ? Promise.reject(new DomainError('unavailable', 'the disk is full'))
          : storage.datapoints.append(batch),
    },
  });
  await using service = await startService({ wrapStorage });
  await makeDevice(service, 'guest', 'd');
  const client = await connect(service);
  isFull = true;
  const end = ended(client);
  const outcome = client.publish('devices/d/sensors/t/value', '1').then(
    () => 'acknowledged',
    () => 'not acknowledged',
  );
  assert.ok([0x88, 0x89].includes((await Promise.race([end, outcome])) as number));
  isFull = false;
  await using again = await connect(service);
  await again.publish('devices/d/sensors/t/value', '2');
  const reply = await service.call({ path: '/devices/d/sensors/t/values' });
  assert.deepEqual(
    (reply.json as { value: unknown }[]).map(({ value }) => value),
    [2],
  );
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
