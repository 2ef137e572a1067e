import type { Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { Social } from '../../domain/socials/social.ts';
import type { SocialStore } from '../../domain/socials/social-store.ts';
import { createHexId } from '../../lib/secret-token.ts';
import {
  findByUsername,
  isSocialOf,
  type MemoryState,
  removeSocial,
  sameUsername,
} from './memory-state.ts';

/** Social messages in memory. */
export function createSocialStore(state: MemoryState): SocialStore {
  const { socials } = state;

  function dropOldestOf(sender: Username): void {
    const own = [...socials.values()].filter((social) => sameUsername(social.sender, sender));
    const excess = Math.max(0, own.length - limits.socialsPerSenderMax);
    for (const { id, status } of own.slice(0, excess)) {
      // A message on its way is spared: its delivery was promised.
      if (status !== 'pending') removeSocial(state, id);
    }
  }

  return {
    async insert(created) {
      for (const sender of new Set(created.map((social) => social.sender))) {
        const all = [...socials.values(), ...created];
        const waiting = all.filter(
          (social) => social.status === 'pending' && sameUsername(social.sender, sender),
        );
        if (waiting.length > limits.socialsPendingPerSenderMax) return 'too_many';
      }
      for (const social of created) {
        const { id, sender, recipient } = social;
        if ([sender, recipient].every((name) => findByUsername(state, name))) {
          socials.set(id, social);
          if (social.status === 'pending') fileDelivery(state, social);
        }
      }
      for (const sender of new Set(created.map((social) => social.sender))) dropOldestOf(sender);
      return 'inserted';
    },
    find: async (id) => socials.get(id),
    async list({ ofUser, limit, offset }) {
      const all = [...socials.values()];
      const seen = ofUser === undefined ? all : all.filter((social) => isSocialOf(social, ofUser));
      return { socials: seen.slice(offset, offset + limit), total: seen.length };
    },
    remove: async (id) => (removeSocial(state, id) ? 'removed' : 'missing'),
  };
}

function fileDelivery(state: MemoryState, social: Social): void {
  const { id, sender, recipient, channel, message, createdAt } = social;
  if (channel === 'none') return;
  state.lastDelivery += 1;
  state.deliveries.set(state.lastDelivery, {
    source: { kind: 'social', id },
    payer: sender,
    token: createHexId(),
    username: recipient,
    channel,
    message,
    progress: { status: 'pending', dueAt: createdAt },
    attempts: 0,
    createdAt,
    isCharged: false,
  });
}
