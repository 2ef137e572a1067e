import type { UserId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type {
  AccessKeyRecord,
  CredentialStore,
  SessionRecord,
  TokenBasis,
} from '../../domain/users/credential-store.ts';
import { bearerOf, keepLastLogin, type MemoryState, removeLogin } from './memory-state.ts';

/** Tokens and access keys in memory. */
export function createCredentialStore(state: MemoryState): CredentialStore {
  const { users, tokens, keys, logins } = state;

  function keysOf(userId: UserId): AccessKeyRecord[] {
    return [...keys.values()].filter((key) => key.userId === userId);
  }

  function loginsOf(userId: UserId): readonly SessionRecord[] {
    return [...logins.values()]
      .filter((login) => login.userId === userId)
      .sort((left, right) => right.lastUsedAt - left.lastUsedAt);
  }

  function standsFor(userId: UserId, basis: TokenBasis): boolean {
    if (bearerOf(state, userId) === undefined) return false;
    if (basis.kind === 'password') return users.get(userId)?.passwordHash === basis.passwordHash;
    if (basis.kind === 'session') return logins.get(basis.id)?.userId === userId;
    return tokens.get(basis.hash)?.userId === userId;
  }

  return {
    async insertToken(token, basis, now) {
      const stands = standsFor(token.userId, basis);
      for (const old of tokens.values()) if (old.expiresAt <= now) tokens.delete(old.hash);
      if (!stands) return 'gone';
      tokens.set(token.hash, token);
      const own = [...tokens.values()].filter(({ userId }) => userId === token.userId);
      const excess = Math.max(0, own.length - limits.tokensPerUserMax);
      for (const old of own.slice(0, excess)) tokens.delete(old.hash);
      return 'inserted';
    },
    async findToken(hash) {
      const token = tokens.get(hash);
      const bearer = token && bearerOf(state, token.userId);
      return bearer && { ...token, bearer };
    },
    removeToken: async (hash) => (tokens.delete(hash) ? 'removed' : 'missing'),
    async insertSession(session, basis, now) {
      if (basis.kind !== 'password' || !standsFor(session.userId, basis)) return 'gone';
      for (const old of logins.values()) if (old.expiresAt <= now) removeLogin(state, old.id);
      logins.set(session.id, session);
      for (const old of loginsOf(session.userId).slice(limits.sessionsPerUserMax)) {
        removeLogin(state, old.id);
      }
      return 'inserted';
    },
    findSession: async (hash) =>
      [...logins.values()].find((login) => login.hash === hash || login.replaced?.hash === hash),
    async renewSession(from, renewal) {
      const login = [...logins.values()].find((candidate) => candidate.hash === from);
      if (login === undefined) return 'gone';
      const replaced = { hash: from, at: renewal.lastUsedAt };
      logins.set(login.id, { ...login, ...renewal, replaced });
      const at = renewal.lastUsedAt;
      keepLastLogin(state, login.userId, at, at - limits.knownNetworkMs);
      return 'renewed';
    },
    listSessions: async (userId) => loginsOf(userId),
    async removeSession(userId, id) {
      if (logins.get(id)?.userId !== userId) return 'missing';
      removeLogin(state, id);
      return 'removed';
    },
    async insertKey(key) {
      if (bearerOf(state, key.userId) === undefined) return 'gone';
      if (keysOf(key.userId).length >= limits.accessKeysPerUserMax) return 'too_many';
      keys.set(key.id, key);
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
      return 'removed';
    },
  };
}
