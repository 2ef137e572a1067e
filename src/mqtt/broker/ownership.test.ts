import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import { createOwnership } from './ownership.ts';

test('a session is given away although what it sent waits for the log', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const released: unknown[] = [];
  const filter = 'devices/d/sensors/s/value';
  const session = {
    ...{ link: undefined, subscriptions: new Map([[filter, {}]]) },
    received: new Map([[1, new Promise(() => undefined)]]),
  };
  const counted: string[] = [];
  const wanted = {
    isElsewhere: (session: string) => void counted.push(`${session} elsewhere`),
    count: (devices: Iterable<string>, by: number) =>
      void counted.push(...Array.from(devices, (one) => `${one} ${by}`)),
  };
  const ownership = createOwnership({
    shared: { onFenced: () => undefined, wanted },
    peers: {},
    registry: {
      ...{ find: () => session, findFormer: () => undefined },
      release: (one: unknown) => void released.push(one),
    },
    journal: { settled: async () => undefined },
    wills: { cancel: () => undefined },
  } as never);
  const who = { identity: 'user/ana', clientId: 'c', cleanStart: false };
  ownership.told({ kind: 'wanted', ...who });
  await undefined;
  assert.deepEqual(released, []);
  context.mock.timers.tick(memberLimits.barrierMs);
  await ownership.givenAway();
  assert.deepEqual(released, [session]);
  // Until another process has it, and says what it wants.
  assert.deepEqual(counted, ['d 1']);
  ownership.told({ kind: 'opened', turn: 0, ...who });
  assert.deepEqual(counted, ['d 1', 'd -1', `${sessionKey(who.identity, 'c')} elsewhere`]);
});
