import type { Clock, Instant } from '../../lib/clock.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { Actor, KeyLimits } from '../actor.ts';
import { unauthenticated } from '../errors.ts';
import { limits } from '../limits.ts';
import { requirePerson } from './account-access.ts';
import { type BrowserSessions, createBrowserSessions } from './browser-sessions.ts';
import type {
  AccessKeyRecord,
  Bearer,
  CredentialStore,
  TokenBasis,
  TokenRecord,
} from './credential-store.ts';
import type { LoggedIn } from './logins.ts';

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

export interface Sessions extends BrowserSessions {
  /** A fresh token for someone who just gave the password; lives `lifeSeconds`. */
  open(login: LoggedIn, lifeSeconds: number): Promise<string>;
  /** The actor behind a bearer token or access key. Throws unauthenticated. */
  authenticate(secret: string): Actor | Promise<Actor>;
  /** The browser login that a token came from. */
  sessionOf(secret: string): Promise<string | undefined>;
  /** A fresh token for a valid one, until 30 days after the login. */
  renew(secret: string, lifeSeconds: number): Promise<string>;
  /** Ends the token and the browser login that it came from; answers whether it came from one. */
  end(secret: string): Promise<boolean>;
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

  function forgetAll(): void {
    generation += 1;
    known.clear();
  }

  const recheckAt = (): Instant => clock.now() + limits.credentialCacheMs;

  function requireUnexpired(expiresAt: Instant): void {
    if (expiresAt > clock.now()) return;
    throw unauthenticated('the token has expired: request a new one from /auth/token');
  }

  async function issue(
    token: Pick<TokenRecord, 'userId' | 'loggedInAt' | 'sessionId'>,
    basis: TokenBasis,
    lifeSeconds: number,
  ): Promise<string> {
    const secret = createSecret();
    const now = clock.now();
    const record = { ...token, hash: hashSecret(secret), expiresAt: now + lifeSeconds * 1_000 };
    if ((await credentials.insertToken(record, basis, now)) === 'inserted') return secret;
    throw unauthenticated('the password was changed, or the login ended: log in again');
  }

  return {
    open({ user, passwordHash }, lifeSeconds) {
      const basis = { kind: 'password', passwordHash } as const;
      return issue({ userId: user.id, loggedInAt: clock.now() }, basis, lifeSeconds);
    },
    authenticate,
    async renew(secret, lifeSeconds) {
      const person = requirePerson(await authenticate(secret));
      const hash = hashSecret(secret);
      const token = await credentials.findToken(hash);
      if (token === undefined || token.loggedInAt + limits.renewalMs <= clock.now()) {
        throw unauthenticated('the login is older than 30 days: log in again');
      }
      const { userId } = person;
      const { loggedInAt, sessionId } = token;
      const fresh = { userId, loggedInAt, ...(sessionId !== undefined && { sessionId }) };
      return issue(fresh, { kind: 'token', hash }, lifeSeconds);
    },
    async end(secret) {
      const { userId } = requirePerson(await authenticate(secret));
      const hash = hashSecret(secret);
      const sessionId = (await credentials.findToken(hash))?.sessionId;
      await credentials.removeToken(hash);
      if (sessionId !== undefined) await credentials.removeSession(userId, sessionId);
      forgetAll();
      return sessionId !== undefined;
    },
    ...createBrowserSessions({ credentials, clock, issue, forgetAll }),
    sessionOf: async (secret) => (await credentials.findToken(hashSecret(secret)))?.sessionId,
    forgetAll,
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
