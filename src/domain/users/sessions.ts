import type { Clock } from '../../lib/clock.ts';
import { createId, createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { Actor } from '../actor.ts';
import type { ChangeSource } from '../changes.ts';
import { invalid, notFound, unauthenticated } from '../errors.ts';
import { type AccessKeyId, parseAccessKeyId } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from './account-access.ts';
import { accessKeyPrefix, createCredentialDirectory } from './credential-directory.ts';
import type {
  AccessKeyRecord,
  CredentialStore,
  SessionRecord,
  TokenBasis,
  TokenRecord,
} from './credential-store.ts';
import type { LoggedIn } from './logins.ts';

/** Sender of a request, as the list of logged-in browsers shows it. */
export interface Browser {
  readonly name: string;
  readonly address: string;
}

/** Writes a token that rests on something, and answers its secret. */
type Issue = (
  token: Pick<TokenRecord, 'userId' | 'loggedInAt' | 'sessionId'>,
  basis: TokenBasis,
  lifeSeconds: number,
) => Promise<string>;

/** Browsers that stay logged in: each has a cookie that is replaced whenever it renews a token. */
function createBrowserSessions(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly issue: Issue;
}) {
  const { credentials, clock, issue } = options;

  return {
    /** Like open, for a browser that stays logged in: `cookie` renews it for 30 days of no use. */
    async remember(
      { user, passwordHash }: LoggedIn,
      { name, address }: Browser,
      lifeSeconds: number,
    ): Promise<{ readonly token: string; readonly cookie: string }> {
      const now = clock.now();
      const cookie = createSecret();
      const session = {
        id: createId(),
        userId: user.id,
        hash: hashSecret(cookie),
        name: name.slice(0, limits.sessionNameCharactersMax),
        address,
        ...{ createdAt: now, lastUsedAt: now, expiresAt: now + limits.sessionMs },
      };
      const basis = { kind: 'password', passwordHash } as const;
      if ((await credentials.insertSession(session, basis, now)) === 'gone') throw ended();
      const token = { userId: user.id, loggedInAt: now, sessionId: session.id };
      const onSession = { kind: 'session', id: session.id } as const;
      return { token: await issue(token, onSession, lifeSeconds), cookie };
    },
    /**
     * A fresh token for the cookie of a browser, and its next cookie; none while another tab has
     * just been given it. Throws unauthenticated.
     */
    async renewByCookie(cookie: string, address: string, lifeSeconds: number) {
      const now = clock.now();
      const hash = hashSecret(cookie);
      const session = await credentials.findSession(hash);
      if (session === undefined || session.expiresAt <= now) throw ended();
      const { id, userId, replaced } = session;
      const isOld = session.hash !== hash;
      if (isOld && (replaced?.at ?? 0) + limits.sessionGraceMs <= now) throw ended();
      // The use of the cookie counts as a login: what it renews may be renewed for as long.
      const token = { userId, loggedInAt: now, sessionId: id };
      const basis = { kind: 'session', id } as const;
      const next = createSecret();
      const renewal = { hash: hashSecret(next), address, lastUsedAt: now };
      const expiresAt = now + limits.sessionMs;
      const isNext =
        !isOld && (await credentials.renewSession(hash, { ...renewal, expiresAt })) === 'renewed';
      const secret = await issue(token, basis, lifeSeconds);
      return { token: secret, ...(isNext && { cookie: next }) };
    },
    /** The caller's browsers that stay logged in, those used last first. */
    async list(actor: Actor): Promise<readonly SessionRecord[]> {
      const now = clock.now();
      const all = await credentials.listSessions(requirePerson(actor).userId);
      return all.filter(({ expiresAt }) => expiresAt > now);
    },
    /** Logs one of the caller's browsers out. Throws not_found. */
    async remove(actor: Actor, id: string): Promise<void> {
      const { userId } = requirePerson(actor);
      if ((await credentials.removeSession(userId, id)) === 'missing') {
        throw notFound(`you have no login with id ${id}`);
      }
    },
  };
}

const ended = () => unauthenticated('this login has ended: log in again');

/** Tokens and keys, opaque to clients, kept as hashes. */
export function createSessions(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly changes: ChangeSource;
}) {
  const { credentials, clock } = options;
  const directory = createCredentialDirectory(options);
  const { authenticate } = directory;

  const issue: Issue = async (token, basis, lifeSeconds) => {
    const secret = createSecret();
    const now = clock.now();
    const record = { ...token, hash: hashSecret(secret), expiresAt: now + lifeSeconds * 1_000 };
    if ((await credentials.insertToken(record, basis, now)) === 'inserted') return secret;
    throw unauthenticated('the password was changed, or the login ended: log in again');
  };

  return {
    /** A fresh token for someone who just gave the password; lives `lifeSeconds`. */
    open({ user, passwordHash }: LoggedIn, lifeSeconds: number): Promise<string> {
      const basis = { kind: 'password', passwordHash } as const;
      return issue({ userId: user.id, loggedInAt: clock.now() }, basis, lifeSeconds);
    },
    peek: directory.peek,
    authenticate,
    get generation() {
      return directory.generation;
    },
    /** A fresh token for a valid one, until 30 days after the login. */
    async renew(secret: string, lifeSeconds: number): Promise<string> {
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
    /** Ends the token and the browser login that it came from; answers whether it came from one. */
    async end(secret: string): Promise<boolean> {
      const { userId } = requirePerson(await authenticate(secret));
      const hash = hashSecret(secret);
      const sessionId = (await credentials.findToken(hash))?.sessionId;
      await credentials.removeToken(hash);
      if (sessionId !== undefined) await credentials.removeSession(userId, sessionId);
      return sessionId !== undefined;
    },
    ...createBrowserSessions({ credentials, clock, issue }),
    /** The browser login that a token came from. */
    sessionOf: async (secret: string) =>
      (await credentials.findToken(hashSecret(secret)))?.sessionId,
  };
}
export type Sessions = ReturnType<typeof createSessions>;
export type NewAccessKey = Pick<AccessKeyRecord, 'name' | 'scopes' | 'devices' | 'expiresAt'>;

/** Long-lived secrets for gateways and devices, never wider than their owner's rights. */
export function createAccessKeys(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
}) {
  const { credentials, clock } = options;
  return {
    /** The answer holds the secret, which is shown this once and kept only as a hash. */
    async create(actor: Actor, key: NewAccessKey) {
      const person = requirePerson(actor);
      if (key.expiresAt !== undefined && key.expiresAt <= clock.now()) {
        throw invalid('expires must be in the future');
      }
      const secret = createSecret(accessKeyPrefix);
      const record: AccessKeyRecord = {
        ...key,
        id: parseAccessKeyId(createId()),
        hash: hashSecret(secret),
        userId: person.userId,
        createdAt: clock.now(),
      };
      const outcome = await credentials.insertKey(record);
      if (outcome === 'too_many') {
        throw invalid(`a user may have ${limits.accessKeysPerUserMax} keys: delete one first`);
      }
      if (outcome === 'gone') throw unauthenticated('this account is gone or disabled');
      return { record, secret };
    },
    /** In order of creation, few at a time. */
    list: (actor: Actor) => credentials.listKeys(requirePerson(actor).userId),
    async remove(actor: Actor, id: AccessKeyId): Promise<void> {
      const { userId } = requirePerson(actor);
      if ((await credentials.removeKey(userId, id)) === 'missing') {
        throw notFound(`you have no key with id ${id}`);
      }
    },
  };
}
export type AccessKeys = ReturnType<typeof createAccessKeys>;
