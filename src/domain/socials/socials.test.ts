import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Actor } from '../actor.ts';
import { parseUserId, parseUsername } from '../ids.ts';
import type { User } from '../users/user.ts';
import { channels, createSocials, type Social } from './socials.ts';

test('a message waits where its channel leads somewhere, and is settled elsewhere', async () => {
  const kept: Social[] = [];
  const sender = parseUsername('ana');
  const bob = { username: parseUsername('bob') } as User;
  const socials = createSocials({
    store: {
      async insert(created) {
        kept.push(...created);
        return 'inserted';
      },
      find: async () => undefined,
      list: async () => ({ socials: [], total: 0 }),
      remove: async () => 'missing',
    },
    users: { findByUsername: async () => bob },
    clock: { now: () => 7 },
    configured: new Set(['sms', 'none']),
  });
  const ana: Actor = { kind: 'user', userId: parseUserId('id-ana'), username: sender };
  const ids = await socials.send(ana, { usernames: ['BOB', 'bob'], channels, message: 'Hello' });
  assert.deepEqual(
    kept.map(({ id }) => id),
    ids,
  );
  const states = Object.fromEntries(kept.map(({ channel, status }) => [channel, status]));
  const failed = Object.fromEntries(
    ['twitter', 'voice', 'email', 'webhook'].map((channel) => [channel, 'failed']),
  );
  assert.deepEqual(states, { ...failed, sms: 'pending', none: 'sent' });
  const { id: _, ...first } = kept.find(({ channel }) => channel === 'sms') ?? assert.fail();
  const addressed = { sender, recipient: bob.username, channel: 'sms', message: 'Hello' };
  assert.deepEqual(first, { ...addressed, createdAt: 7, status: 'pending' });
});
