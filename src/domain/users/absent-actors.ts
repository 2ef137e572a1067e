import type { Clock, Instant } from '../../lib/clock.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import type { Actor } from '../actor.ts';
import type { AccessKeyId, UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { CredentialStore } from './credential-store.ts';
import { keyLimitsOf, type Sessions } from './sessions.ts';
import type { UserStore } from './user-store.ts';

/** An account, or one of its access keys. */
export interface Account {
  readonly userId: UserId;
  readonly keyId?: AccessKeyId;
}

/**
 * Whom an account stands for while nobody is logged in, for what waits for it; undefined when the
 * account or key has ended. Answers at once when it was asked a moment ago.
 */
export type FindAbsent = (account: Account) => Actor | undefined | Promise<Actor | undefined>;

interface Known {
  readonly actor: Actor | undefined;
  readonly generation: number;
  readonly recheckAt: Instant;
}

export function createFindAbsent(options: {
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  readonly sessions: Sessions;
  readonly clock: Clock;
}): FindAbsent {
  const { users, credentials, sessions, clock } = options;
  const known = createLruCache<string, Known>(limits.credentialCacheEntriesMax);

  async function lookUp({ userId, keyId }: Account): Promise<Actor | undefined> {
    const user = await users.find(userId);
    if (user === undefined || user.isDisabled) return undefined;
    const { username, isAdmin } = user;
    const person = { kind: isAdmin ? 'admin' : 'user', userId, username } as const;
    if (keyId === undefined) return person;
    const key = (await credentials.listKeys(userId)).find(({ id }) => id === keyId);
    if (key === undefined) return undefined;
    if (key.expiresAt !== undefined && key.expiresAt <= clock.now()) return undefined;
    return { ...person, key: keyLimitsOf(key) };
  }

  return (account) => {
    const name = `${account.userId}/${account.keyId ?? ''}`;
    const { generation } = sessions;
    const entry = known.get(name);
    if (entry !== undefined && entry.generation === generation && clock.now() < entry.recheckAt) {
      return entry.actor;
    }
    return lookUp(account).then((actor) => {
      const recheckAt = clock.now() + limits.credentialCacheMs;
      known.set(name, { actor, generation, recheckAt });
      return actor;
    });
  };
}
