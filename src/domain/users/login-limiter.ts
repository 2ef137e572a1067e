import { hashSecret } from '../../lib/secret-token.ts';
import { tooMany } from '../errors.ts';
import { limits } from '../limits.ts';
import type { FailureLimiters } from './failure-limiters.ts';
import type { Standing } from './password-work.ts';

/** A login attempt, as far as it is counted. */
export interface LoginAttempt {
  /** The username or e-mail address, as it was given. */
  readonly login: string;
  /** The network of the client: networkOf its address. */
  readonly network: string;
  /**
   * Why this client is no stranger to the account: this browser has logged in to it before
   * (`device/` and the number of its cookie), or a client has from this network.
   */
  readonly acquaintance?: string;
}

/** A longer name is of no account. */
const nameCharactersMax = 320;

/**
 * Counts failed logins so that guessing is slow and no client can lock another one out. Failures
 * count for an account and a network together, which then have to wait. Strangers are also
 * counted by network, and all of them together by account: that closes it to no client, it slows
 * strangers down. A client known to the account has a lane of its own, which no stranger can fill
 * [OWASP Authentication Cheat Sheet: device cookies].
 */
export function createLoginLimiter(failures: FailureLimiters) {
  const limiterOf = (name: string, failuresMax: number) =>
    failures.of(`login ${name}`, { failuresMax, windowMs: limits.loginFailureWindowMs });
  const byPair = limiterOf('pair', limits.loginFailuresPerUser);
  const byNetwork = limiterOf('network', limits.loginFailuresPerAddress);
  const byLogin = limiterOf('account', limits.loginFailuresOfStrangers);
  const acquainted = limiterOf('acquainted', limits.loginFailuresPerUser);

  const nameOf = ({ login }: LoginAttempt): string =>
    login.length > nameCharactersMax ? hashSecret(login) : login.toLowerCase();

  /** Limiters that count this attempt and may refuse it, with its key in each. */
  function countersOf(attempt: LoginAttempt) {
    const { network, acquaintance } = attempt;
    const name = nameOf(attempt);
    if (acquaintance !== undefined) {
      return [{ limiter: acquainted, key: `${acquaintance} ${name}` }] as const;
    }
    return [
      { limiter: byPair, key: `${network} ${name}` },
      { limiter: byNetwork, key: network },
    ] as const;
  }

  return {
    /** Key by which the account is counted. */
    nameOf,
    /** Throws rate_limited with the time to wait. */
    requireUnblocked(attempt: LoginAttempt): void {
      const waits = countersOf(attempt).map(({ limiter, key }) => limiter.blockedForMs(key));
      const waitMs = Math.max(...waits);
      if (waitMs > 0) throw tooMany('failed logins', waitMs);
    },
    /** Whether so many strangers failed at the account that strangers wait in a slow queue. */
    isSlow: (attempt: LoginAttempt) =>
      attempt.acquaintance === undefined && byLogin.blockedForMs(nameOf(attempt)) > 0,
    standingOf({ acquaintance, network }: LoginAttempt): Standing {
      if (acquaintance !== undefined) return 'known';
      return byNetwork.hasFailed(network) ? 'suspect' : 'strange';
    },
    failed(attempt: LoginAttempt): void {
      for (const { limiter, key } of countersOf(attempt)) limiter.recordFailure(key);
      if (attempt.acquaintance === undefined) byLogin.recordFailure(nameOf(attempt));
    },
    /** Counts a try whose client left before its answer, for its account and network. */
    abandoned(attempt: LoginAttempt): void {
      const [{ limiter, key }] = countersOf(attempt);
      limiter.recordFailure(key);
    },
    succeeded(attempt: LoginAttempt): void {
      // The network goes on being counted: one account of a guesser must not forgive the others.
      const [{ limiter, key }] = countersOf(attempt);
      limiter.forgive(key);
    },
  };
}
