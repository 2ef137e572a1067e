import type { UserId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { AccessKeyRecord, CredentialStore } from '../../domain/users/credential-store.ts';
import { bearerOf, type MemoryState, removeSessionsOf } from './memory-state.ts';

/** Tokens and access keys in memory. */
export function createCredentialStore(state: MemoryState): CredentialStore {
  const { users, tokens, keys } = state;

  function keysOf(userId: UserId): AccessKeyRecord[] {
    return [...keys.values()].filter((key) => key.userId === userId);
  }

  return {
    async insertToken(token, now) {
      for (const old of tokens.values()) if (old.expiresAt <= now) tokens.delete(old.hash);
      // An account that ended meanwhile takes the token with it.
      if (!users.has(token.userId)) return;
      tokens.set(token.hash, token);
      const own = [...tokens.values()].filter(({ userId }) => userId === token.userId);
      const excess = Math.max(0, own.length - limits.tokensPerUserMax);
      for (const old of own.slice(0, excess)) tokens.delete(old.hash);
    },
    async findToken(hash) {
      const token = tokens.get(hash);
      const bearer = token && bearerOf(state, token.userId);
      return bearer && { ...token, bearer };
    },
    removeToken: async (hash) => (tokens.delete(hash) ? 'removed' : 'missing'),
    async insertKey(key) {
      if (keysOf(key.userId).length >= limits.accessKeysPerUserMax) return 'too_many';
      if (users.has(key.userId)) keys.set(key.id, key);
      return 'inserted';
    },
    async findKey(hash) {
      const key = [...keys.values()].find((candidate) => candidate.hash === hash);
      const bearer = key && bearerOf(state, key.userId);
      return bearer && { ...key, bearer };
    },
    listKeys: async (userId) => keysOf(userId),
    async removeKey(userId, id) {
      if (keys.get(id)?.userId !== userId) return 'missing';
      keys.delete(id);
      removeSessionsOf(state, userId, id);
      return 'removed';
    },
  };
}
