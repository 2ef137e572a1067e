import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { createOwnership } from './ownership.ts';

test('a session is given away although what it sent waits for the log', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const did: string[] = [];
  const session = {
    ...{ key: 'k', claimedAt: 1, link: { end: () => void did.push('ended') } },
    received: new Map([[1, new Promise(() => undefined)]]),
  };
  const ownership = createOwnership({
    shared: {
      onFenced: () => undefined,
      wanted: { isElsewhere: () => void did.push('elsewhere') },
    },
    peers: {},
    registry: {
      ...{ find: () => session, findFormer: () => undefined },
      release: () => void did.push('released'),
    },
    journal: { settled: async () => void did.push('stored') },
    wills: { cancel: () => undefined },
  } as never);
  const who = { identity: 'user/ana', clientId: 'c', cleanStart: false };
  ownership.told({ kind: 'wanted', ...who });
  const over = ownership.givenAway();
  await undefined;
  assert.deepEqual(did, ['ended']);
  context.mock.timers.tick(memberLimits.barrierMs);
  await over;
  // The process that asked for it may never have it.
  assert.deepEqual(did.splice(0), ['ended', 'stored']);
  ownership.told({ kind: 'opened', turn: 2, ...who });
  assert.deepEqual(did, ['elsewhere', 'ended', 'released']);
});
