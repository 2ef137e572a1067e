import { createLruCache } from '../../lib/cache.ts';
import { hashPassword, type PasswordCost, verifyPassword } from '../../lib/password-hash.ts';
import {
  createFairQueue,
  type FairQueue,
  LeftQueueError,
  type QueuePlace,
  ShareFullError,
} from '../../lib/scheduling/fair-queue.ts';
import { TooManyWaitingError } from '../../lib/scheduling/payer-queues.ts';
import { createSecret, equalSecrets, signText } from '../../lib/secret-token.ts';
import { DomainError, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { StoredLogin } from './user.ts';

/**
 * Class of a client that logs in: `known` has logged in to the account from there before,
 * `strange` has not, nor failed, and from the network of a `suspect` a login failed a moment ago.
 */
export type Standing = 'known' | 'strange' | 'suspect';

/** Lanes of persons (over HTTP), of devices (over MQTT), and of new accounts. */
const lanes = [
  ...(['known', 'strange', 'suspect'] as const),
  ...(['known device', 'strange device', 'suspect device'] as const),
  ...(['sign-up', 'further sign-up'] as const),
] as const;
/** Logins whose clients have left: they are checked when no client waits. */
const idleLanes = ['abandoned'] as const;
/** Where a password waits to be checked or hashed; the payer is the network, or the account. */
export type PasswordPlace = QueuePlace<(typeof lanes)[number] | (typeof idleLanes)[number]>;

/** `cost` is of new hashes; absent: the usual one. Old ones are checked at their own. */
export function createPasswordWork(cost?: PasswordCost) {
  let nobodysHash: Promise<string> | undefined;
  const waitingMax = limits.loginsWaitingMax;
  const parallelMax = limits.loginsInParallelMax;
  const queue = createFairQueue({ lanes, idleLanes, parallelMax, waitingMax });
  const slow = new Map<string, { queue: FairQueue<'strange' | 'suspect'>; users: number }>();
  const openSlow = () => ({
    queue: createFairQueue({ lanes: ['strange', 'suspect'], parallelMax: 1, waitingMax }),
    users: 0,
  });
  return {
    /** Runs what checks passwords. */
    sequential: <Result>(place: PasswordPlace, task: () => Promise<Result>) =>
      refusing('logins', () => queue.run(place, task)),
    /**
     * Runs what checks the passwords of an account at which many strangers failed: one at a time,
     * with a pause before each; networks that have not failed alternate with those that have.
     */
    async slowly<Result>(
      account: string,
      place: QueuePlace<'strange' | 'suspect'>,
      task: () => Promise<Result>,
    ): Promise<Result> {
      const own = slow.get(account) ?? openSlow();
      slow.set(account, own);
      own.users += 1;
      const paced = async () => {
        await new Promise((resolve) => setTimeout(resolve, limits.slowLoginPauseMs).unref());
        return task();
      };
      try {
        return await refusing('logins', () => own.queue.run(place, paced));
      } finally {
        own.users -= 1;
        if (own.users === 0) slow.delete(account);
      }
    },
    hash: (place: PasswordPlace, password: string) =>
      refusing(place.lane.endsWith('sign-up') ? 'sign-ups' : 'logins', () =>
        queue.run(place, () => hashPassword(password, cost)),
      ),
    /** The hash of a password of no account: checking it takes as long as that of an account. */
    nobodysHash(): Promise<string> {
      nobodysHash ??= hashPassword('nobody has this password', cost);
      return nobodysHash;
    },
  };
}

/**
 * Checks and hashes passwords, which costs a processor 30 ms and more each. A few at a time, queued
 * by lane and then by payer, so that no flood of strangers, devices or new accounts makes
 * others wait. Throws rate_limited when the payer's quota of the lane is full, unavailable when the
 * lane is, or a signal took it out of the queue: see `hasLeft`.
 */
export type PasswordWork = ReturnType<typeof createPasswordWork>;

/** Whether this was thrown because a signal took a task out of the queue. */
export const hasLeft = (error: unknown): boolean =>
  error instanceof DomainError && error.cause instanceof LeftQueueError;

async function refusing<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof LeftQueueError) {
      throw new DomainError('unavailable', 'the client left before its turn', { cause });
    }
    if (!(cause instanceof TooManyWaitingError)) throw cause;
    const isOwn = cause instanceof ShareFullError;
    const whose = isOwn ? ' from your network' : '';
    const message = `too many ${what} at once${whose}: try again in a moment`;
    const code = isOwn ? 'rate_limited' : 'unavailable';
    throw new DomainError(code, message, { cause, retryAfterSeconds: 5 });
  }
}

/** Refuses a password that is too weak to guard an account. */
export function requireStrongPassword(password: string): void {
  const { passwordCharactersMin: min, passwordCharactersMax: max } = limits;
  if (password.length < min || password.length > max) {
    throw invalid(`password must have ${min} to ${max} characters, got ${password.length}`);
  }
}

/** A check that callers wait for. */
interface Check {
  readonly answered: PromiseWithResolvers<boolean>;
  /** Takes all who wait for it out of the queue. */
  readonly over: AbortController;
  waiting: number;
  hashing?: Promise<boolean>;
}

/** Checks of passwords that wait in a queue: equal ones need one hash. */
export function createPasswordChecks(work: PasswordWork) {
  const secret = createSecret();
  const checks = new Map<string, Check>();
  // Proofs by account, bound to the password hash: a new password makes them worthless.
  const remembered = createLruCache<string, string>(limits.loginFailureEntriesMax);
  const proofOf = ({ user, passwordHash }: StoredLogin, password: string): string =>
    signText(secret, `${user.id} ${passwordHash} ${password}`);

  function checkOf(key: string): Check {
    const known = checks.get(key);
    if (known !== undefined) return known;
    const answered = Promise.withResolvers<boolean>();
    const check: Check = { answered, over: new AbortController(), waiting: 0 };
    checks.set(key, check);
    return check;
  }

  async function hash(check: Check, password: string, passwordHash: string): Promise<boolean> {
    const isRight = await verifyPassword(password, passwordHash);
    check.answered.resolve(isRight);
    check.over.abort();
    return isRight;
  }

  return {
    /**
     * Whether the password is that of the account; without an account it takes as long. `mayBegin`
     * is called before a hash and may throw.
     */
    async isRight(
      account: StoredLogin | string,
      password: string,
      { place, mayBegin }: { readonly place: PasswordPlace; readonly mayBegin: () => void },
    ): Promise<boolean> {
      const isNobody = typeof account === 'string';
      const passwordHash = isNobody ? await work.nobodysHash() : account.passwordHash;
      const key = isNobody
        ? signText(secret, `nobody ${account} ${password}`)
        : proofOf(account, password);
      const check = checkOf(key);
      const signals = [...(place.signals ?? []), check.over.signal];
      check.waiting += 1;
      try {
        return await work.sequential({ ...place, signals }, async () => {
          mayBegin();
          check.hashing ??= hash(check, password, passwordHash);
          return check.hashing;
        });
      } catch (error) {
        if (hasLeft(error) && check.over.signal.aborted) return await check.answered.promise;
        throw error;
      } finally {
        check.waiting -= 1;
        // A login that comes after an answer needs a hash of its own.
        if (check.waiting === 0 || check.over.signal.aborted) {
          if (checks.get(key) === check) checks.delete(key);
        }
      }
    },
    /** Remembers a password that was right until the account has another one. */
    remember: (login: StoredLogin, password: string) =>
      remembered.set(login.user.id, proofOf(login, password)),
    isRemembered(login: StoredLogin, password: string): boolean {
      const proof = remembered.get(login.user.id);
      return proof !== undefined && equalSecrets(proof, proofOf(login, password));
    },
  };
}
