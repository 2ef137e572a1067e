import type { Clock, Instant } from '../../lib/clock.ts';
import { createFailureLimiter } from '../../lib/failure-limiter.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { createCode, hashSecret } from '../../lib/secret-token.ts';
import { DomainError, unauthenticated } from '../errors.ts';
import type { UserId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Logins } from './logins.ts';
import { requireStrongPassword } from './profile.ts';
import type { Sessions } from './sessions.ts';
import type { UserStore } from './user-store.ts';

/** A mail with a code, to the address of one user; it resolves when it left, or never will. */
export type SendMail = (mail: {
  readonly username: Username;
  readonly email: string;
  readonly text: string;
}) => Promise<void>;

/** A new password for somebody who forgot the old one and reads mail at the profile's address. */
export interface PasswordResets {
  /** Whether this service can send mail. */
  readonly isPossible: boolean;
  /**
   * Sends a code to the account with this username or e-mail address, if it has one. Answers the
   * same whether it does, so that nobody learns who has an account. Throws unavailable where no
   * mail can be sent, rate_limited.
   */
  request(request: { readonly login: string; readonly address: string }): Promise<void>;
  /** Sets the password and ends all tokens. Throws unauthenticated, invalid, rate_limited. */
  confirm(answer: {
    readonly login: string;
    readonly code: string;
    readonly password: string;
    readonly address: string;
  }): Promise<void>;
}

interface PendingReset {
  readonly codeHash: string;
  readonly expiresAt: Instant;
  triesLeft: number;
}

/** Codes live in memory: after a restart one asks for another. */
export function createPasswordResets(options: {
  readonly users: UserStore;
  readonly logins: Logins;
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** Absent: no mail can be sent from here. */
  readonly sendMail?: SendMail;
}): PasswordResets {
  const { users, logins, sessions, clock, sendMail } = options;
  const pending = createLruCache<UserId, PendingReset>(limits.passwordResetsMax);
  const window = {
    windowMs: limits.passwordResetMs,
    entriesMax: limits.loginFailureEntriesMax,
    clock,
  };
  const byLogin = createFailureLimiter({ failuresMax: limits.passwordResetsPerUser, ...window });
  const byAddress = createFailureLimiter({
    failuresMax: limits.passwordResetsPerAddress,
    ...window,
  });

  function count(login: string, address: string): void {
    const key = login.toLowerCase();
    const waitMs = Math.max(byLogin.blockedForMs(key), byAddress.blockedForMs(address));
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / 1_000);
      const message = `too many requests for a new password: try again in ${retryAfterSeconds} s`;
      throw new DomainError('rate_limited', message, { retryAfterSeconds });
    }
    byLogin.recordFailure(key);
    byAddress.recordFailure(address);
  }

  return {
    isPossible: sendMail !== undefined,
    async request({ login, address }) {
      if (sendMail === undefined) throw noMail();
      count(login, address);
      const user = (await users.findLogin(login))?.user;
      const email = user?.profile.email;
      if (user === undefined || email === undefined || user.isDisabled) return;
      const code = createCode();
      const expiresAt = clock.now() + limits.passwordResetMs;
      const triesLeft = limits.passwordResetTriesMax;
      pending.set(user.id, { codeHash: hashSecret(code), expiresAt, triesLeft });
      // Not awaited: how long a mail takes would tell that the account exists.
      void sendMail({ username: user.username, email, text: mailText(user.username, code) });
    },
    async confirm({ login, code, password, address }) {
      requireStrongPassword(password);
      const waitMs = byAddress.blockedForMs(address);
      const user = waitMs > 0 ? undefined : (await users.findLogin(login))?.user;
      const reset = user === undefined ? undefined : pending.get(user.id);
      const isRight =
        reset !== undefined &&
        reset.expiresAt > clock.now() &&
        reset.triesLeft > 0 &&
        reset.codeHash === hashSecret(spellingOf(code));
      if (user === undefined || !isRight) {
        if (reset !== undefined) reset.triesLeft -= 1;
        byAddress.recordFailure(address);
        throw unauthenticated('the code is wrong or no longer valid: ask for a new one');
      }
      pending.delete(user.id);
      await users.setPassword(user.id, await logins.hash(password));
      sessions.forgetAll();
    },
  };
}

/** As people type it: in any case, with or without the dash. */
function spellingOf(code: string): string {
  const letters = code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

const noMail = () =>
  new DomainError(
    'unavailable',
    'this service cannot send e-mail: ask its administrator for a new password',
  );

const mailText = (username: Username, code: string): string =>
  `Somebody asked for a new password for the account ${username}.\n\n` +
  `The code is ${code}. It can be used once, within ` +
  `${limits.passwordResetMs / 60_000} minutes.\n\n` +
  'If it was not you, there is nothing to do: the password stays as it is.\n';
