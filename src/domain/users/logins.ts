import type { Clock } from '../../lib/clock.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { verifyPassword } from '../../lib/password-hash.ts';
import { networkOf } from '../budgets/payer.ts';
import { forbidden, unauthenticated } from '../errors.ts';
import type { UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import type { DeviceCookies } from './device-cookies.ts';
import type { FailureLimiters } from './failure-limiters.ts';
import { findLoginCandidates } from './login-candidates.ts';
import { createLoginLimiter, type LoginAttempt } from './login-limiter.ts';
import type { PasswordWork } from './password-work.ts';
import type { User } from './user.ts';
import type { StoredLogin, UserStore } from './user-store.ts';

/** Somebody who just gave the right password. */
export interface LoggedIn {
  readonly user: User;
  /** What the password was checked against: a later one ends what rests on this login. */
  readonly passwordHash: string;
}

/** A username or e-mail address with its password, and who sent them. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /** The client's IP address. */
  readonly address: string;
  /** The device cookie of a browser, as it was sent. */
  readonly deviceCookie?: string;
}

export interface Logins {
  /** The account, if the password is right. Throws unauthenticated, rate_limited, unavailable. */
  logIn(login: Login): Promise<LoggedIn>;
  /**
   * Checks the password of somebody who is logged in, before something that a borrowed token shall
   * not do. Throws forbidden, rate_limited, unavailable.
   */
  confirm(user: User, password: string | undefined, address: string): Promise<void>;
  /** A cookie by which this browser is known to the account from now on. */
  deviceCookieOf(user: User): string;
}

/**
 * Who somebody is, by username or e-mail and password. Hashing is bounded and shared out in turns,
 * so that a flood of logins cannot starve pushes or other logins; an unknown user costs the same
 * time as a wrong password.
 */
export function createLogins(options: {
  readonly users: UserStore;
  readonly work: PasswordWork;
  readonly deviceCookies: DeviceCookies;
  readonly failures: FailureLimiters;
  readonly clock: Clock;
  readonly reporter: Reporter;
}): Logins {
  const { users, work, deviceCookies, failures, clock, reporter } = options;
  const limiter = createLoginLimiter(failures);
  // When a network was last written down, so that it is not at every login.
  const remembered = createLruCache<string, number>(limits.loginFailureEntriesMax);

  /** Why the client is no stranger to one of the accounts, if it is none. */
  async function acquaintanceOf(
    candidates: readonly StoredLogin[],
    network: string,
    cookie: string | undefined,
  ): Promise<string | undefined> {
    const ids = candidates.map(({ user }) => user.id);
    const browser = deviceCookies.recognise(cookie, ids);
    if (browser !== undefined) return browser;
    for (const id of ids) if (await users.knowsNetwork(id, network)) return `network/${network}`;
    return undefined;
  }

  async function remember(userId: UserId, network: string): Promise<void> {
    const name = `${userId} ${network}`;
    const now = clock.now();
    if ((remembered.get(name) ?? Number.NEGATIVE_INFINITY) + limits.knownNetworkMs > now) return;
    await users.rememberNetwork(userId, network, now);
    remembered.set(name, now);
  }

  /** The account whose password this is; in turn with others, and counted. */
  async function verify(
    attempt: LoginAttempt,
    candidates: readonly StoredLogin[],
    password: string,
  ): Promise<StoredLogin | undefined> {
    const nobody = await work.nobodysHash();
    const lane = attempt.acquaintance === undefined ? 'strange' : 'known';
    const found = await work.sequential({ lane, payer: attempt.network }, async () => {
      // Asked again: those who waited in line must not get more tries than the limit.
      limiter.requireUnblocked(attempt);
      if (candidates.length === 0) await verifyPassword(password, nobody);
      for (const candidate of candidates) {
        if (await verifyPassword(password, candidate.passwordHash)) return candidate;
      }
      return undefined;
    });
    const isRight = found !== undefined && !found.user.isDisabled;
    if (isRight) {
      limiter.succeeded(attempt);
      return found;
    }
    limiter.failed(attempt);
    await failures.told();
    return undefined;
  }

  return {
    async logIn({ username, password, address, deviceCookie }) {
      const network = networkOf(address);
      const candidates = await findLoginCandidates(users, username);
      const acquaintance = await acquaintanceOf(candidates, network, deviceCookie);
      const attempt = { login: username, network, ...(acquaintance && { acquaintance }) };
      limiter.requireUnblocked(attempt);
      const found = await verify(attempt, candidates, password);
      if (found === undefined) {
        reporter.loginFailed();
        throw unauthenticated('the username or the password is wrong');
      }
      await remember(found.user.id, network);
      reporter.loginSucceeded();
      return found;
    },
    async confirm(user, password, address) {
      if (password === undefined) throw forbidden('send your present password as old_password');
      const login = await users.findLogin(user.username);
      const network = networkOf(address);
      const acquaintance = `confirm/${network}`;
      const attempt = { login: user.username, network, acquaintance };
      limiter.requireUnblocked(attempt);
      const candidates = login === undefined ? [] : [login];
      const found = await verify(attempt, candidates, password);
      if (found === undefined) throw forbidden('old_password is not your present password');
    },
    deviceCookieOf: ({ id }) => deviceCookies.issue(id),
  };
}
