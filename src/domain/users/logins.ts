import type { Clock } from '../../lib/clock.ts';
import { createFailureLimiter } from '../../lib/failure-limiter.ts';
import { hashPassword, verifyPassword } from '../../lib/password-hash.ts';
import { createSemaphore, TooManyWaitingError } from '../../lib/semaphore.ts';
import { DomainError, unauthenticated } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import type { User } from './user.ts';
import type { UserStore } from './user-store.ts';

export interface Logins {
  /** The account, if the password is right. Throws unauthenticated, rate_limited, unavailable. */
  logIn(login: { username: string; password: string; address: string }): Promise<User>;
  /** Hashes a new password, in the same line as the logins. */
  hash(password: string): Promise<string>;
}

/**
 * Who somebody is, by username or e-mail and password. Hashing is bounded, so that a flood of
 * logins cannot starve pushes; an unknown user costs the same time as a wrong password.
 */
export function createLogins(options: {
  readonly users: UserStore;
  readonly clock: Clock;
  readonly reporter: Reporter;
}): Logins {
  const { users, clock, reporter } = options;
  const window = {
    windowMs: limits.loginFailureWindowMs,
    entriesMax: limits.loginFailureEntriesMax,
    clock,
  };
  const byUser = createFailureLimiter({ failuresMax: limits.loginFailuresPerUser, ...window });
  const byAddress = createFailureLimiter({
    failuresMax: limits.loginFailuresPerAddress,
    ...window,
  });
  const line = createSemaphore({
    parallelMax: limits.loginsInParallelMax,
    waitingMax: limits.loginsWaitingMax,
  });
  let nobodysHash: Promise<string> | undefined;

  async function inLine<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      return await line.run(task);
    } catch (cause) {
      if (!(cause instanceof TooManyWaitingError)) throw cause;
      const message = 'too many logins at once: try again in a moment';
      throw new DomainError('unavailable', message, { cause, retryAfterSeconds: 5 });
    }
  }

  function requireUnblocked(userKey: string, address: string): void {
    const waitMs = Math.max(byUser.blockedForMs(userKey), byAddress.blockedForMs(address));
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    const message = `too many failed logins: try again in ${retryAfterSeconds} s`;
    throw new DomainError('rate_limited', message, { retryAfterSeconds });
  }

  return {
    hash: (password) => inLine(() => hashPassword(password)),
    async logIn({ username, password, address }) {
      const userKey = username.toLowerCase();
      requireUnblocked(userKey, address);
      const found = await users.findLogin(username);
      nobodysHash ??= hashPassword('nobody has this password');
      const passwordHash = found?.passwordHash ?? (await nobodysHash);
      const isRight = await inLine(() => {
        // Asked again: those who waited in line must not get more tries than the limit.
        requireUnblocked(userKey, address);
        return verifyPassword(password, passwordHash);
      });
      if (found === undefined || !isRight || found.user.isDisabled) {
        byUser.recordFailure(userKey);
        byAddress.recordFailure(address);
        reporter.loginFailed();
        throw unauthenticated('the username or the password is wrong');
      }
      byUser.forgive(userKey);
      reporter.loginSucceeded();
      return found.user;
    },
  };
}
