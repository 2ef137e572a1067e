import { createFairQueue, ShareFullError } from '../../lib/fair-queue.ts';
import { hashPassword, type PasswordCost } from '../../lib/password-hash.ts';
import { TooManyWaitingError } from '../../lib/semaphore.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';

/** Who waits for a password to be checked or hashed. */
export interface PasswordQueue {
  /** known: of somebody who has logged in before; strange: of anybody. */
  readonly lane: 'known' | 'strange';
  /** Whose turn it is: the network of the client, or the account. */
  readonly payer: string;
}

/**
 * Checks and hashes passwords, which costs a processor 30 ms and more each. A few at a time, in
 * turn by payer; those of sign-ups wait in a line of their own, so that no flood of new accounts
 * makes logins wait. Throws rate_limited when the payer's share of the line is full, unavailable
 * when the line is.
 */
export interface PasswordWork {
  /** Runs what checks passwords. */
  sequential<Result>(place: PasswordQueue, task: () => Promise<Result>): Promise<Result>;
  hash(place: PasswordQueue, password: string): Promise<string>;
  /** Hashes the password of a new account. */
  hashNew(payer: string, password: string): Promise<string>;
  /** The hash of a password that nobody has: checking it takes as long as that of somebody. */
  nobodysHash(): Promise<string>;
}

/** `cost` is of new hashes; absent: the usual one. Old ones are checked at their own. */
export function createPasswordWork(cost?: PasswordCost): PasswordWork {
  let nobodysHash: Promise<string> | undefined;
  const logins = createFairQueue({
    lanes: ['known', 'strange'],
    parallelMax: limits.loginsInParallelMax,
    waitingMax: limits.loginsWaitingMax,
  });
  const signUps = createFairQueue({
    lanes: ['strange'],
    parallelMax: limits.signUpsInParallelMax,
    waitingMax: limits.signUpsWaitingMax,
  });
  return {
    sequential: (place, task) => refusing('logins', () => logins.run(place, task)),
    hash: (place, password) =>
      refusing('logins', () => logins.run(place, () => hashPassword(password, cost))),
    hashNew: (payer, password) =>
      refusing('sign-ups', () =>
        signUps.run({ lane: 'strange', payer }, () => hashPassword(password, cost)),
      ),
    nobodysHash() {
      nobodysHash ??= hashPassword('nobody has this password', cost);
      return nobodysHash;
    },
  };
}

async function refusing<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (!(cause instanceof TooManyWaitingError)) throw cause;
    const isOwn = cause instanceof ShareFullError;
    const whose = isOwn ? ' from your address' : '';
    const message = `too many ${what} at once${whose}: try again in a moment`;
    const code = isOwn ? 'rate_limited' : 'unavailable';
    throw new DomainError(code, message, { cause, retryAfterSeconds: 5 });
  }
}
