import type { Clock, Instant } from '../../lib/clock.ts';
import { createReadThroughCache } from '../../lib/read-through-cache.ts';
import type { Actor } from '../actor.ts';
import type { AccessKeyId, UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import { actorOfKey, type CredentialDirectory } from './credential-directory.ts';
import type { CredentialStore } from './credential-store.ts';
import type { UserStore } from './user-store.ts';

/** An account, or one of its access keys. */
export interface Account {
  readonly userId: UserId;
  readonly keyId?: AccessKeyId;
}

/** Actors of accounts without a login, for what waits for them. */
export interface OfflineActors {
  /** The actor, if it was asked for a moment ago. Undefined: not known, ask `find`. */
  peek(account: Account): Actor | undefined;
  /** Undefined: the account or key has ended. */
  find(account: Account): Promise<Actor | undefined>;
}

interface Known {
  readonly actor: Actor | undefined;
  readonly recheckAt: Instant;
}

export function createOfflineActors(options: {
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  readonly sessions: Pick<CredentialDirectory, 'generation'>;
  readonly clock: Clock;
}): OfflineActors {
  const { users, credentials, sessions, clock } = options;
  const known = createReadThroughCache<string, Known>({
    entriesMax: limits.credentialCacheEntriesMax,
    isCurrent: ({ recheckAt }) => clock.now() < recheckAt,
  });
  // A read under way when a credential changes answers only those who asked before.
  const nameOf = ({ userId, keyId }: Account): string =>
    `${userId}/${keyId ?? ''}/${sessions.generation}`;

  async function read({ userId, keyId }: Account): Promise<Actor | undefined> {
    const user = await users.find(userId);
    if (user === undefined || user.isDisabled) return undefined;
    const { username, isAdmin } = user;
    const person = { kind: isAdmin ? 'admin' : 'user', userId, username } as const;
    if (keyId === undefined) return person;
    const key = (await credentials.listKeys(userId)).find(({ id }) => id === keyId);
    if (key === undefined) return undefined;
    if (key.expiresAt !== undefined && key.expiresAt <= clock.now()) return undefined;
    return actorOfKey(person, key);
  }

  async function readNow(account: Account): Promise<Known> {
    const recheckAt = clock.now() + limits.credentialCacheMs;
    return { actor: await read(account), recheckAt };
  }

  return {
    peek: (account) => known.peek(nameOf(account))?.actor,
    find: async (account) => (await known.get(nameOf(account), () => readNow(account))).actor,
  };
}
