import { hashSecret } from '../../lib/secret-token.ts';
import { type Actor, guestAt, personOf } from '../actor.ts';
import { DomainError, unauthenticated } from '../errors.ts';
import { guestUsername } from '../ids.ts';
import { accessKeyPrefix } from './credential-directory.ts';
import type { Logins } from './logins.ts';
import type { Sessions } from './sessions.ts';
import type { UserStore } from './user.ts';

/** Login of a client, which may stay as long as the credential is good. */
export interface ClientLogin {
  readonly actor: Actor;
  /**
   * The actor as of now; undefined when the token or key has ended, the password has changed, or
   * the account is gone or disabled. Throws when the store cannot answer.
   */
  recheck(): Promise<Actor | undefined>;
}

/**
 * Lets clients in that log in once and stay [contract 8]: with username and password, or with an
 * access key or token as the password, whatever the username. No username, or guest, is the guest.
 * Throws unauthenticated, rate_limited, unavailable.
 */
export type AuthenticateClient = (presented: {
  readonly username?: string;
  readonly password?: string;
  readonly address: string;
  /** Aborts when the client leaves before it is let in. */
  readonly signal?: AbortSignal;
}) => Promise<ClientLogin>;

function guestLogin(address: string): ClientLogin {
  const actor = guestAt(address);
  return { actor, recheck: async () => actor };
}

const looksLikeToken = /^[\w-]{43}$/;

export function createAuthenticateClient(options: {
  readonly users: UserStore;
  readonly logins: Logins;
  readonly sessions: Sessions;
}): AuthenticateClient {
  const { users, logins, sessions } = options;

  async function bySecret(secret: string): Promise<ClientLogin> {
    return {
      actor: await sessions.authenticate(secret),
      recheck: () => unlessRefused(() => sessions.authenticate(secret)),
    };
  }

  async function byPassword(
    login: Omit<Parameters<Logins['logIn']>[0], 'comesBack'>,
  ): Promise<ClientLogin> {
    const { user, passwordHash } = await logins.logIn({ ...login, comesBack: true });
    const proof = hashSecret(passwordHash);
    return {
      actor: personOf(user),
      async recheck() {
        const now = await users.findLogin(user.username);
        if (now === undefined || now.user.id !== user.id || now.user.isDisabled) return undefined;
        return hashSecret(now.passwordHash) === proof ? personOf(now.user) : undefined;
      },
    };
  }

  return async ({ username = '', password = '', address, signal }) => {
    if (isGuest(username, password)) return guestLogin(address);
    if (password.startsWith(accessKeyPrefix)) return bySecret(password);
    if (looksLikeToken.test(password)) {
      const admission = await unlessRefused(() => bySecret(password));
      if (admission !== undefined) return admission;
    }
    if (username === '' || password === '') {
      throw unauthenticated('give a username and a password, or a key or token as the password');
    }
    return byPassword({ username, password, address, ...(signal && { signal }) });
  };
}

function isGuest(username: string, password: string): boolean {
  if (username === '') return password === '';
  return username === guestUsername && (password === '' || password === guestUsername);
}

async function unlessRefused<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
