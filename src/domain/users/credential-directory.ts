import { createReadThroughCache } from '../../lib/cache.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { hashSecret } from '../../lib/secret-token.ts';
import { type Actor, type KeyLimits, type Person, personOf } from '../actor.ts';
import type { ChangeSource } from '../changes.ts';
import { unauthenticated } from '../errors.ts';
import type { AccessKeyId, UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { AccessKeyRecord, Bearer, CredentialStore } from './credential-store.ts';
import type { UserStore } from './user.ts';

/** Access keys start with this, so that they differ from tokens and secret scanners find them. */
export const accessKeyPrefix = 'kpk_';

/** A credential that was found, with its actor. */
interface Known {
  readonly actor: Actor;
  readonly expiresAt: Instant;
  /** When the store has to be asked again: another process may have ended the credential. */
  readonly recheckAt: Instant;
}

/** Remembers credentials for a moment, until an account or a credential changes. */
export function createCredentialDirectory(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly changes: ChangeSource;
}) {
  const { credentials, clock, changes } = options;
  const known = createReadThroughCache<string, Known | undefined>({
    entriesMax: limits.credentialCacheEntriesMax,
    isCurrent: (readAt, entry) =>
      changes.isCurrent?.(readAt) !== false &&
      (entry === undefined || entry.recheckAt > clock.now()),
  });
  let generation = 0;
  changes.onChange(async ({ kind }) => {
    if (!isAboutCredentials(kind)) return;
    generation += 1;
    known.clear();
  });

  async function read(secret: string): Promise<Known | undefined> {
    const hash = hashSecret(secret);
    const recheckAt = clock.now() + limits.credentialCacheMs;
    if (secret.startsWith(accessKeyPrefix)) {
      const key = await credentials.findKey(hash);
      if (key === undefined) return undefined;
      const actor = actorOfKey(actorOf(key.bearer), key);
      return { actor, expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY, recheckAt };
    }
    const token = await credentials.findToken(hash);
    return token && { actor: actorOf(token.bearer), expiresAt: token.expiresAt, recheckAt };
  }

  return {
    /** The actor, if it was found a moment ago. Undefined: not known, ask `authenticate`. */
    peek(secret: string): Actor | undefined {
      const entry = known.peek(secret);
      return entry !== undefined && entry.expiresAt > clock.now() ? entry.actor : undefined;
    },
    /** Throws unauthenticated. */
    async authenticate(secret: string): Promise<Actor> {
      const found = await known.get(secret, () => read(secret));
      if (found === undefined) {
        throw unauthenticated('the token is not valid: request a new one from /auth/token');
      }
      if (found.expiresAt > clock.now()) return found.actor;
      throw unauthenticated('the token has expired: request a new one from /auth/token');
    },
    /** Grows whenever an account or credential changed: earlier logins must be checked again. */
    get generation() {
      return generation;
    },
  };
}

const credentialKinds: ReadonlySet<string> = new Set(['key_removed', 'login_ended', 'anything']);

/** Whether a user may have lost a right that comes with a login. */
function isAboutCredentials(kind: string): boolean {
  return kind.startsWith('account_') || credentialKinds.has(kind);
}

/** Limits within which a key acts as its owner. */
function keyLimitsOf({ id, scopes, devices, createdAt }: AccessKeyRecord): KeyLimits {
  return {
    ...{ keyId: id, createdAt },
    ...(scopes && { scopes: new Set(scopes) }),
    ...(devices && { devices: new Set(devices) }),
  };
}

/** Actor of a key: a key that is narrowed has no administrator's rights [contract 15]. */
function actorOfKey(person: Person, record: AccessKeyRecord): Person {
  const isNarrowed = record.scopes !== undefined || record.devices !== undefined;
  return { ...person, ...(isNarrowed && { kind: 'user' }), key: keyLimitsOf(record) };
}

const actorOf = (bearer: Bearer): Person => personOf({ ...bearer, id: bearer.userId });

/** An account, or one of its access keys. */
export interface Account {
  readonly userId: UserId;
  readonly keyId?: AccessKeyId;
}

interface KnownActor {
  readonly actor: Actor | undefined;
  readonly recheckAt: Instant;
}

/** Actors of accounts without a login, for what waits for them. */
export function createOfflineActors(options: {
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  readonly sessions: Pick<ReturnType<typeof createCredentialDirectory>, 'generation'>;
  readonly changes: Pick<ChangeSource, 'isCurrent'>;
  readonly clock: Clock;
}) {
  const { users, credentials, sessions, changes, clock } = options;
  const known = createReadThroughCache<string, KnownActor>({
    entriesMax: limits.credentialCacheEntriesMax,
    isCurrent: (readAt, actor) =>
      changes.isCurrent?.(readAt) !== false &&
      (actor === undefined || actor.recheckAt > clock.now()),
  });
  // A read under way when a credential changes answers only those who asked before.
  const nameOf = ({ userId, keyId }: Account): string =>
    `${userId}/${keyId ?? ''}/${sessions.generation}`;

  async function read({ userId, keyId }: Account): Promise<Actor | undefined> {
    const user = await users.find(userId);
    if (user === undefined || user.isDisabled) return undefined;
    const person = personOf(user);
    if (keyId === undefined) return person;
    const key = await credentials.findKeyOf(userId, keyId);
    if (key === undefined) return undefined;
    if (key.expiresAt !== undefined && key.expiresAt <= clock.now()) return undefined;
    return actorOfKey(person, key);
  }

  async function readNow(account: Account): Promise<KnownActor> {
    const recheckAt = clock.now() + limits.credentialCacheMs;
    return { actor: await read(account), recheckAt };
  }

  return {
    /** The actor, if it was asked for a moment ago. Undefined: not known, ask `find`. */
    peek: (account: Account) => known.peek(nameOf(account))?.actor,
    /** Undefined: the account or key has ended. */
    find: async (account: Account) =>
      (await known.get(nameOf(account), () => readNow(account))).actor,
  };
}
export type OfflineActors = ReturnType<typeof createOfflineActors>;
