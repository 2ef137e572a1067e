import { tooMany } from '../errors.ts';
import { limits } from '../limits.ts';
import type { FailureLimiters } from './failure-limiters.ts';

/** One try to log in, as far as it is counted. */
export interface LoginAttempt {
  /** The username or e-mail address, as it was given. */
  readonly login: string;
  /** The network of the client: networkOf its address. */
  readonly network: string;
  /**
   * Why this client is no stranger to the account: this browser has logged in to it before
   * (`device/` and the number of its cookie), or somebody has from this network.
   */
  readonly acquaintance?: string;
}

/** Counts failed logins so that guessing is slow and nobody can lock somebody else out. */
export interface LoginLimiter {
  /** Throws rate_limited with the time to wait. */
  requireUnblocked(attempt: LoginAttempt): void;
  failed(attempt: LoginAttempt): void;
  succeeded(attempt: LoginAttempt): void;
}

/**
 * Failures count for an account and a network together. Strangers are also counted by network, and
 * all of them together by account; who is known to the account has a lane of its own, which no
 * stranger can fill [OWASP Authentication Cheat Sheet: device cookies].
 */
export function createLoginLimiter(failures: FailureLimiters): LoginLimiter {
  const limiterOf = (name: string, failuresMax: number) =>
    failures.of(`login ${name}`, { failuresMax, windowMs: limits.loginFailureWindowMs });
  const byPair = limiterOf('pair', limits.loginFailuresPerUser);
  const byNetwork = limiterOf('network', limits.loginFailuresPerAddress);
  const byLogin = limiterOf('account', limits.loginFailuresOfStrangers);
  const acquainted = limiterOf('acquainted', limits.loginFailuresPerUser);

  /** What counts this try, with its key. */
  function countersOf({ login, network, acquaintance }: LoginAttempt) {
    const name = login.toLowerCase();
    if (acquaintance !== undefined) {
      return [{ limiter: acquainted, key: `${acquaintance} ${name}` }] as const;
    }
    return [
      { limiter: byPair, key: `${network} ${name}` },
      { limiter: byNetwork, key: network },
      { limiter: byLogin, key: name },
    ] as const;
  }

  return {
    requireUnblocked(attempt) {
      const waits = countersOf(attempt).map(({ limiter, key }) => limiter.blockedForMs(key));
      const waitMs = Math.max(...waits);
      if (waitMs > 0) throw tooMany('failed logins', waitMs);
    },
    failed(attempt) {
      for (const { limiter, key } of countersOf(attempt)) limiter.recordFailure(key);
    },
    succeeded(attempt) {
      // The network goes on being counted: one account of a guesser must not forgive the others.
      const [{ limiter, key }] = countersOf(attempt);
      limiter.forgive(key);
    },
  };
}
