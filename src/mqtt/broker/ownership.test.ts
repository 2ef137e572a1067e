import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { createOwnership } from './ownership.ts';

test('a session is given away although what it sent waits for the log', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const released: unknown[] = [];
  const session = { link: undefined, received: new Map([[1, new Promise(() => undefined)]]) };
  const ownership = createOwnership({
    shared: { onFenced: () => undefined },
    peers: {},
    registry: { find: () => session, release: (one: unknown) => void released.push(one) },
    journal: { settled: async () => undefined },
    wanted: { count: () => undefined },
    wills: { cancel: () => undefined },
  } as never);
  const given = ownership.told({
    ...{ kind: 'wanted', identity: 'user/ana', clientId: 'c', cleanStart: false },
  });
  await undefined;
  context.mock.timers.tick(memberLimits.barrierMs);
  await given;
  assert.deepEqual(released, [session]);
});
