import type { Clock } from '../../lib/clock.ts';
import { createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { ChangeSource } from '../changes.ts';
import { unauthenticated } from '../errors.ts';
import { limits } from '../limits.ts';
import { requirePerson } from './account-access.ts';
import { type BrowserSessions, createBrowserSessions } from './browser-sessions.ts';
import { type CredentialDirectory, createCredentialDirectory } from './credential-directory.ts';
import type { CredentialStore, TokenBasis, TokenRecord } from './credential-store.ts';
import type { LoggedIn } from './logins.ts';

export interface Sessions extends BrowserSessions, CredentialDirectory {
  /** A fresh token for someone who just gave the password; lives `lifeSeconds`. */
  open(login: LoggedIn, lifeSeconds: number): Promise<string>;
  /** The browser login that a token came from. */
  sessionOf(secret: string): Promise<string | undefined>;
  /** A fresh token for a valid one, until 30 days after the login. */
  renew(secret: string, lifeSeconds: number): Promise<string>;
  /** Ends the token and the browser login that it came from; answers whether it came from one. */
  end(secret: string): Promise<boolean>;
}

/** Tokens and keys, opaque to clients, kept as hashes. */
export function createSessions(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly changes: ChangeSource;
}): Sessions {
  const { credentials, clock } = options;
  const directory = createCredentialDirectory(options);
  const { authenticate } = directory;

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
    peek: directory.peek,
    authenticate,
    get generation() {
      return directory.generation;
    },
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
      return sessionId !== undefined;
    },
    ...createBrowserSessions({ credentials, clock, issue }),
    sessionOf: async (secret) => (await credentials.findToken(hashSecret(secret)))?.sessionId,
  };
}
