import { createLruCache } from '../../lib/lru-cache.ts';
import { verifyPassword } from '../../lib/password-hash.ts';
import { createSecret, equalSecrets, signText } from '../../lib/secret-token.ts';
import { limits } from '../limits.ts';
import { hasLeft, type PasswordPlace, type PasswordWork } from './password-work.ts';
import type { StoredLogin } from './user.ts';

/** Checks of passwords that wait in a queue: equal ones need one hash. */
export interface PasswordChecks {
  /**
   * Whether the password is that of the account; without an account it takes as long. `mayBegin` is
   * called before a hash and may throw.
   */
  isRight(
    account: StoredLogin | string,
    password: string,
    turn: { readonly place: PasswordPlace; readonly mayBegin: () => void },
  ): Promise<boolean>;
  /** Remembers a password that was right until the account has another one. */
  remember(login: StoredLogin, password: string): void;
  isRemembered(login: StoredLogin, password: string): boolean;
}

/** A check that callers wait for. */
interface Check {
  readonly answered: PromiseWithResolvers<boolean>;
  /** Takes all who wait for it out of the queue. */
  readonly over: AbortController;
  waiting: number;
  hashing?: Promise<boolean>;
}

export function createPasswordChecks(work: PasswordWork): PasswordChecks {
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
    async isRight(account, password, { place, mayBegin }) {
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
        if (hasLeft(error) && check.over.signal.aborted) {
          return await check.answered.promise;
        }
        throw error;
      } finally {
        check.waiting -= 1;
        // A login that comes after an answer needs a hash of its own.
        if (check.waiting === 0 || check.over.signal.aborted) {
          if (checks.get(key) === check) checks.delete(key);
        }
      }
    },
    remember: (login, password) => remembered.set(login.user.id, proofOf(login, password)),
    isRemembered(login, password) {
      const proof = remembered.get(login.user.id);
      return proof !== undefined && equalSecrets(proof, proofOf(login, password));
    },
  };
}
