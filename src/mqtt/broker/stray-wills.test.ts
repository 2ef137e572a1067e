import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../domain/errors.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { StoredWill } from '../../domain/messaging/session-store.ts';
import { createStrayWills } from './stray-wills.ts';

const key = sessionKey('account ann', 'c');
const willOf = (turn: number, fields: Partial<StoredWill> = {}): StoredWill => ({
  ...{ key, turn, delayMs: 0 },
  message: { topic: 't', payload: new Uint8Array(), qos: 1, retain: false },
  ...fields,
});
const failing = async (): Promise<never> => {
  throw new DomainError('unavailable', 'away');
};

/** What becomes of these wills of the store, of which the process knows some terms. */
function open(stored: readonly StoredWill[], terms: readonly number[] = []) {
  const done: string[] = [];
  const claiming = new Map<SessionKey, number>();
  const state = { isAway: false, isHere: false, reads: 0 };
  const strays = createStrayWills({
    claiming,
    journal: { synced: async () => undefined },
    registry: { find: () => (state.isHere ? ({ link: {} } as never) : undefined) },
    wills: {
      terms: () => new Set(terms),
      inherit: ({ turn }) => void done.push(`published ${turn}`),
      settle: (_, turn) => void done.push(`dropped ${turn}`),
    },
    shared: {
      async ownWills() {
        if (state.isAway) return failing();
        state.reads += 1;
        return stored;
      },
    },
  });
  return { strays, done, claiming, state };
}

test('a will that a refused claim took is published, not that of who was refused', async () => {
  const { strays, done, state } = open([willOf(1), willOf(2), willOf(3), willOf(4)], [2]);
  await strays.adopt();
  assert.equal(state.reads, 0, 'nothing was refused');
  await assert.rejects(strays.watch(failing(), key), /away/);
  state.isAway = true;
  await assert.rejects(strays.adopt(), /away/);
  state.isAway = false;
  await strays.adopt();
  assert.deepEqual(done, ['published 1', 'published 3', 'dropped 4']);
  await strays.adopt();
  assert.equal(state.reads, 1, 'it is known by now');
});

test('wills of a refused adoption are published, delayed ones not beside a client', async () => {
  const { strays, done, state } = open([willOf(1), willOf(2, { delayMs: 9 })]);
  state.isHere = true;
  await assert.rejects(strays.watch(failing()), /away/);
  await strays.adopt();
  assert.deepEqual(done, ['published 1', 'dropped 2']);
});

test('what is claimed at that moment waits', async () => {
  const { strays, done, claiming } = open([willOf(1), willOf(2)]);
  await assert.rejects(strays.watch(failing(), key), /away/);
  claiming.set(key, 0);
  await strays.adopt();
  assert.deepEqual(done, []);
  claiming.clear();
  await strays.adopt();
  assert.deepEqual(done, ['published 1', 'dropped 2']);
});
