import type { Clock, Instant } from '../../lib/clock.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { Actor, KeyLimits } from '../actor.ts';
import { unauthenticated } from '../errors.ts';
import type { UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from './account-access.ts';
import type { AccessKeyRecord, Bearer, CredentialStore } from './credential-store.ts';

/** Access keys start with this, so that they are told from tokens and found by secret scanners. */
export const accessKeyPrefix = 'kpk_';

/** A credential that was looked up, with the actor it stands for. */
interface Known {
  readonly actor: Actor;
  readonly expiresAt: Instant;
  readonly loggedInAt?: Instant;
  /** When the store has to be asked again: another process may have ended the credential. */
  readonly recheckAt: Instant;
}

export interface Sessions {
  /** A fresh token for someone who just gave the password; lives `lifeSeconds`. */
  open(userId: UserId, lifeSeconds: number): Promise<string>;
  /** The actor behind a bearer token or access key. Throws unauthenticated. */
  authenticate(secret: string): Actor | Promise<Actor>;
  /** A fresh token for a valid one, until 30 days after the login. */
  renew(secret: string, lifeSeconds: number): Promise<string>;
  end(secret: string): Promise<void>;
  /** Forgets what was remembered of everybody's credentials; call after any account changed. */
  forgetAll(): void;
  /** Grows whenever an account or credential changed; who logged in earlier must be asked again. */
  readonly generation: number;
}

/** Tokens and keys, opaque to clients, kept as hashes. */
export function createSessions(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
}): Sessions {
  const { credentials, clock } = options;
  const known = createLruCache<string, Known>(limits.credentialCacheEntriesMax);
  let generation = 0;

  function authenticate(secret: string): Actor | Promise<Actor> {
    const entry = known.get(secret);
    if (entry === undefined || entry.recheckAt <= clock.now()) return lookUp(secret);
    requireUnexpired(entry.expiresAt);
    return entry.actor;
  }

  async function lookUp(secret: string): Promise<Actor> {
    const asked = generation;
    const hash = hashSecret(secret);
    const found = secret.startsWith(accessKeyPrefix) ? await findKey(hash) : await findToken(hash);
    if (found === undefined) {
      known.delete(secret);
      throw unauthenticated('the token is not valid: request a new one from /auth/token');
    }
    // An account changed while the store answered: use the answer, do not remember it.
    if (asked === generation) known.set(secret, found);
    requireUnexpired(found.expiresAt);
    return found.actor;
  }

  async function findToken(hash: string): Promise<Known | undefined> {
    const token = await credentials.findToken(hash);
    if (token === undefined) return undefined;
    const { expiresAt, loggedInAt } = token;
    return { actor: actorOf(token.bearer), expiresAt, loggedInAt, recheckAt: recheckAt() };
  }

  async function findKey(hash: string): Promise<Known | undefined> {
    const key = await credentials.findKey(hash);
    if (key === undefined) return undefined;
    return {
      actor: { ...actorOf(key.bearer), key: keyLimitsOf(key) },
      expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
      recheckAt: recheckAt(),
    };
  }

  const recheckAt = (): Instant => clock.now() + limits.credentialCacheMs;

  function requireUnexpired(expiresAt: Instant): void {
    if (expiresAt > clock.now()) return;
    throw unauthenticated('the token has expired: request a new one from /auth/token');
  }

  async function issue(userId: UserId, lifeSeconds: number, loggedInAt: Instant): Promise<string> {
    const token = createSecret();
    const now = clock.now();
    const expiresAt = now + lifeSeconds * 1_000;
    await credentials.insertToken({ hash: hashSecret(token), userId, expiresAt, loggedInAt }, now);
    return token;
  }

  return {
    open: (userId, lifeSeconds) => issue(userId, lifeSeconds, clock.now()),
    authenticate,
    async renew(secret, lifeSeconds) {
      const person = requirePerson(await authenticate(secret));
      const token = await credentials.findToken(hashSecret(secret));
      if (token === undefined || token.loggedInAt + limits.renewalMs <= clock.now()) {
        throw unauthenticated('the login is older than 30 days: log in again');
      }
      return issue(person.userId, lifeSeconds, token.loggedInAt);
    },
    async end(secret) {
      requirePerson(await authenticate(secret));
      await credentials.removeToken(hashSecret(secret));
      generation += 1;
      known.delete(secret);
    },
    forgetAll() {
      generation += 1;
      known.clear();
    },
    get generation() {
      return generation;
    },
  };
}

/** What a key narrows its owner to. */
export function keyLimitsOf({ id, scopes, devices }: AccessKeyRecord): KeyLimits {
  return {
    keyId: id,
    ...(scopes && { scopes: new Set(scopes) }),
    ...(devices && { devices: new Set(devices) }),
  };
}

function actorOf(bearer: Bearer): Extract<Actor, { kind: 'user' | 'admin' }> {
  const { userId, username } = bearer;
  return { kind: bearer.isAdmin ? 'admin' : 'user', userId, username };
}
