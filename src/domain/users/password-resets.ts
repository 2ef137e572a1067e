import type { Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { codeSpelling, createCode, hashSecret } from '../../lib/secret-token.ts';
import { networkOf, wideNetworkOf } from '../budgets/budget.ts';
import { DomainError, unauthenticated } from '../errors.ts';
import type { UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import { countTry } from './failure-limiters.ts';
import { findResetTarget, type LoginParts } from './logins.ts';
import { type CodeSender, messageWords } from './message-language.ts';
import { requireStrongPassword } from './password-work.ts';

/** A code that was mailed to a user who forgot the password. */
export interface PendingReset {
  readonly userId: UserId;
  readonly codeHash: string;
  readonly expiresAt: Instant;
  /** The address that the code proves. */
  readonly provenAt: Instant;
}

/** Codes for forgotten passwords; they go with their accounts. */
export interface PasswordResetStore {
  /**
   * Keeps one more code, beside those of before; nothing happens for an account that is gone. Codes
   * that have expired go, and of more than `limits.passwordResetsMax` those that expire first.
   */
  insert(reset: PendingReset, now: Instant): Promise<void>;
  /** The code of this account, unless it has expired. */
  find(userId: UserId, codeHash: string, now: Instant): Promise<PendingReset | undefined>;
  /** As find, and removes all codes of the account: of many at once, one gets it. */
  take(userId: UserId, codeHash: string, now: Instant): Promise<PendingReset | undefined>;
}

/** The account and the address that ask for a code. */
interface ResetRequest {
  readonly login: string;
  readonly address: string;
  /** Languages that the asker reads, as `Accept-Language` says them. */
  readonly languages?: string | undefined;
}

/** Resets passwords by codes; asking for another code leaves those before it valid. */
export function createPasswordResets(
  options: Omit<LoginParts, 'reporter'> & {
    readonly pending: PasswordResetStore;
    readonly codes: CodeSender;
    readonly log: Log;
  },
) {
  const { users, work, pending, clock, codes, log } = options;
  const isPossible = codes.channels.has('email');
  const limiterOf = (name: string, failuresMax: number) =>
    options.failures.of(`reset ${name}`, { failuresMax, windowMs: limits.passwordResetMs });
  const byAddress = limiterOf('address', limits.passwordResetsPerAddress);
  const mailsByPair = limiterOf('pair', limits.passwordResetsPerUser);
  const mailsToUser = limiterOf('account', limits.passwordResetsOfStrangers);
  const triesByPair = limiterOf('tries', limits.passwordResetTriesMax);

  /** Whether this account may be mailed once more because a client of this network asks. */
  async function mayMail(userId: UserId, network: string): Promise<boolean> {
    const pair = `${userId} ${network}`;
    const isStrange = !(await users.knowsNetwork(userId, network));
    if (mailsByPair.blockedForMs(pair) > 0) return false;
    if (isStrange && mailsToUser.blockedForMs(userId) > 0) return false;
    mailsByPair.recordFailure(pair);
    if (isStrange) mailsToUser.recordFailure(userId);
    return true;
  }

  async function mailCode({ login: asked, address, languages }: ResetRequest): Promise<void> {
    const target = await findResetTarget(users, asked);
    if (target === undefined) return;
    const { login, email, provenAt } = target;
    const { id: userId, username } = login.user;
    // The mails before it hold codes that are good: no stranger can ask them away.
    if (!(await mayMail(userId, networkOf(address)))) return;
    const askedFrom = wideNetworkOf(address);
    const now = clock.now();
    const code = createCode();
    const expiresAt = now + limits.passwordResetMs;
    await pending.insert({ userId, codeHash: hashSecret(code), expiresAt, provenAt }, now);
    const text = messageWords(languages).newPassword(username, code);
    await codes.send({ channel: 'email', username, address: email, text, askedFrom });
  }

  return {
    /** Whether this service can send mail. */
    isPossible,
    /**
     * Sends a code to the proven e-mail address of the account with this username or e-mail, if
     * there is one. Answers the same whether there is, so that no client learns of accounts, and
     * whether a code was sent a moment ago and still is good. Throws unavailable where no mail can
     * be sent, rate_limited when one address asks for many.
     */
    async request(asked: ResetRequest): Promise<void> {
      if (!isPossible) throw noMail();
      countTry('requests for a new password', [byAddress, networkOf(asked.address)]);
      // Not awaited: how long it takes would reveal that the account exists.
      mailCode(asked).catch((err: unknown) => log.error({ err }, 'no code was mailed'));
    },
    /**
     * Sets the password, and ends all tokens and the keys that were made before the address was
     * proven [contract 14]. Throws unauthenticated, invalid, rate_limited.
     */
    async confirm(given: {
      readonly login: string;
      readonly code: string;
      readonly password: string;
      readonly address: string;
    }): Promise<void> {
      const { login, code, password, address } = given;
      requireStrongPassword(password);
      const network = networkOf(address);
      const target = await findResetTarget(users, login);
      const id = target?.login.user.id;
      const pair = `${id ?? login.toLowerCase()} ${network}`;
      const mayTry = byAddress.blockedForMs(network) + triesByPair.blockedForMs(pair) === 0;
      const codeHash = hashSecret(codeSpelling(code));
      const known = id && mayTry && (await pending.find(id, codeHash, clock.now()));
      const found = known && (await pending.take(known.userId, codeHash, clock.now()));
      if (id === undefined || !found) {
        triesByPair.recordFailure(pair);
        byAddress.recordFailure(network);
        await options.failures.told();
        throw unauthenticated('the code is wrong or no longer valid: ask for a new one');
      }
      const passwordHash = await work.hash({ lane: 'known', payer: network }, password);
      await users.setPassword(id, passwordHash, { keysMadeBefore: found.provenAt });
    },
  };
}

/** A new password for a user who forgot the old one and reads mail at the profile's address. */
export type PasswordResets = ReturnType<typeof createPasswordResets>;

const noMail = () =>
  new DomainError(
    'unavailable',
    'this service cannot send e-mail: ask its administrator for a new password',
  );
