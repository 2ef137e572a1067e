import { createLruCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSecret, equalSecrets, hashSecret, signText } from '../../lib/secret-token.ts';
import { networkOf, wideNetworkOf } from '../budgets/budget.ts';
import { forbidden, tooMany, unauthenticated } from '../errors.ts';
import type { UserId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import { emailStrength, proofOf } from './address-proofs.ts';
import type { FailureLimiters } from './failure-limiters.ts';
import {
  createPasswordChecks,
  hasLeft,
  type PasswordPlace,
  type PasswordWork,
  type Standing,
} from './password-work.ts';
import type { StoredLogin, User, UserStore } from './user.ts';

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

const cookiePattern = /^([\w-]{43})\.([\w-]{43})$/;

/**
 * Cookies that say "this browser has logged in to this account before". One gives no right: it only
 * puts the browser's failed logins in a lane of their own [OWASP: device cookies]. `secret` is the
 * installation's own.
 */
export function createDeviceCookies(secret: string) {
  const signatureOf = (nonce: string, userId: UserId): string =>
    signText(secret, `device cookie ${nonce} ${userId}`);
  return {
    issue(userId: UserId): string {
      const nonce = createSecret();
      return `${nonce}.${signatureOf(nonce, userId)}`;
    },
    /** A name for the browser, if the cookie is ours and of one of these accounts. */
    recognise(cookie: string | undefined, userIds: readonly UserId[]): string | undefined {
      const [, nonce = '', signature = ''] = cookiePattern.exec(cookie ?? '') ?? [];
      const isOurs = userIds.some((userId) => equalSecrets(signature, signatureOf(nonce, userId)));
      return isOurs ? `device/${nonce}` : undefined;
    },
  };
}

/**
 * The accounts that a client may mean by a username or e-mail address, the likeliest first: two at
 * most. An e-mail address means the account that proved it; if none did, the only account that has
 * it [contract 14]. A username in the form of an address hides no account that proved the address.
 */
export async function findLoginCandidates(
  users: UserStore,
  usernameOrEmail: string,
): Promise<readonly StoredLogin[]> {
  const named = await users.findLogin(usernameOrEmail);
  if (!usernameOrEmail.includes('@')) return named === undefined ? [] : [named];
  const holder = holderOf(await users.findByEmail(usernameOrEmail));
  if (holder === undefined || holder.user.id === named?.user.id) {
    return named === undefined ? [] : [named];
  }
  if (named === undefined) return [holder];
  return strengthOf(holder) === provenByCode ? [holder, named] : [named, holder];
}

/** The account to which a code for a new password may be mailed: to a proven address only. */
export async function findResetTarget(users: UserStore, usernameOrEmail: string) {
  for (const login of await findLoginCandidates(users, usernameOrEmail)) {
    const { profile, isDisabled } = login.user;
    const proof = profile.email && proofOf(login.user, 'email', profile.email);
    if (isDisabled || profile.email === undefined || !proof) continue;
    // An address older than proofs counts while no other account has a claim to it.
    const holder = holderOf(await users.findByEmail(profile.email));
    if (strengthOf(login) === provenByCode || holder?.user.id === login.user.id) {
      return { login, email: profile.email, provenAt: proof.provenAt };
    }
  }
  return undefined;
}

const provenByCode = 2;
const strengthOf = ({ user }: StoredLogin) => emailStrength(user.profile, user.proofs ?? []);

/** Of the accounts with an e-mail, strongest proof and oldest first: the one it means. */
function holderOf([first, second]: readonly StoredLogin[]): StoredLogin | undefined {
  if (first === undefined || second === undefined) return first;
  const strength = strengthOf(first);
  return strength === provenByCode || strength > strengthOf(second) ? first : undefined;
}

/**
 * User who just gave the right password, with the hash that it was checked against: a later one
 * ends what rests on this login.
 */
export type LoggedIn = StoredLogin;

/** A username or e-mail address with its password, and who sent them. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /** The client's IP address. */
  readonly address: string;
  /** The device cookie of a browser, as it was sent. */
  readonly deviceCookie?: string;
  /** A client that comes back again and again: a password that was right is not hashed again. */
  readonly comesBack?: true;
  /** Aborts when the client leaves: it waits no longer then. */
  readonly signal?: AbortSignal;
}

/** A login attempt, with what is checked for it. */
interface Asked {
  readonly attempt: LoginAttempt;
  readonly candidates: readonly StoredLogin[];
  readonly password: string;
  readonly comesBack: boolean;
}

/** So many strangers failed meanwhile that the others of the account wait in a queue. */
class SlowedDownError extends Error {}

/** The parts by which logins are checked. */
export interface LoginParts {
  readonly users: UserStore;
  readonly work: PasswordWork;
  readonly failures: FailureLimiters;
  readonly clock: Clock;
  readonly reporter: Reporter;
}

/**
 * Finds users by username or e-mail and password. Hashing is bounded and queued fairly, so
 * that a flood of logins cannot starve pushes or other logins; an unknown user costs the same time
 * as a wrong password.
 */
export function createLogins(
  options: LoginParts & { readonly deviceCookies: ReturnType<typeof createDeviceCookies> },
) {
  const { users, work, failures, clock, reporter } = options;
  const limiter = createLoginLimiter(failures);
  const checks = createPasswordChecks(work);
  // When a network was last written down, so that it is not at every login.
  const remembered = createLruCache<string, number>(limits.loginFailureEntriesMax);
  /** Logins whose clients have left, by network, account and password: each waits once. */
  const abandoned = new Set<string>();

  async function remember(userId: UserId, network: string): Promise<void> {
    const name = `${userId} ${network}`;
    const now = clock.now();
    if ((remembered.get(name) ?? Number.NEGATIVE_INFINITY) + limits.knownNetworkMs > now) return;
    await users.rememberNetwork(userId, network, now);
    remembered.set(name, now);
  }

  /** The account whose password this is, of those that the name may mean. */
  async function find(
    { attempt, candidates, password }: Asked,
    turn: Parameters<typeof checks.isRight>[2],
  ): Promise<StoredLogin | undefined> {
    if (candidates.length === 0) await checks.isRight(attempt.login, password, turn);
    for (const candidate of candidates) {
      if (await checks.isRight(candidate, password, turn)) return candidate;
    }
    return undefined;
  }

  /** The same, by way of the fair queue. */
  async function findInTurn(asked: Asked, place: PasswordPlace): Promise<StoredLogin | undefined> {
    const { attempt } = asked;
    // Asked again: clients that waited in the queue must not get more tries than the limit.
    const mayBegin = () => limiter.requireUnblocked(attempt);
    const mustBeFast = () => {
      mayBegin();
      if (limiter.isSlow(attempt)) throw new SlowedDownError();
    };
    try {
      if (!limiter.isSlow(attempt)) return await find(asked, { place, mayBegin: mustBeFast });
    } catch (error) {
      if (!(error instanceof SlowedDownError)) throw error;
    }
    const lane = limiter.standingOf(attempt) === 'strange' ? 'strange' : 'suspect';
    const slow = { ...place, lane } as const;
    return work.slowly(limiter.nameOf(attempt), slow, () => find(asked, { place, mayBegin }));
  }

  /** The account whose password this is; by way of the fair queue, and counted. */
  async function verify(asked: Asked, place: PasswordPlace): Promise<StoredLogin | undefined> {
    const { attempt, password, comesBack } = asked;
    const found = await findInTurn(asked, place);
    if (found !== undefined && !found.user.isDisabled) {
      limiter.succeeded(attempt);
      if (comesBack) checks.remember(found, password);
      await remember(found.user.id, attempt.network);
      return found;
    }
    limiter.failed(attempt);
    await failures.told();
    return undefined;
  }

  /** Checks the password of a client that left, when none waits: it is in as it comes back. */
  function finish(asked: Asked, place: PasswordPlace): void {
    const { attempt, candidates, password } = asked;
    const name = `${attempt.network} ${candidates.map(({ user }) => user.id)} ${password}`;
    if (candidates.length === 0 || abandoned.has(name)) return;
    // A guesser that leaves has no more tries than one that waits.
    limiter.abandoned(attempt);
    if (limiter.isSlow(attempt)) return;
    abandoned.add(name);
    void verify(asked, { lane: 'abandoned', payer: place.payer })
      .catch(() => undefined)
      .finally(() => abandoned.delete(name));
  }

  async function verifyUnlessLeft(
    asked: Asked,
    place: PasswordPlace,
  ): Promise<StoredLogin | undefined> {
    const { attempt, candidates, password, comesBack } = asked;
    const known = comesBack && candidates.find((one) => checks.isRemembered(one, password));
    if (known && !known.user.isDisabled) {
      await remember(known.user.id, attempt.network);
      return known;
    }
    try {
      return await verify(asked, place);
    } catch (error) {
      if (comesBack && hasLeft(error)) finish(asked, place);
      throw error;
    }
  }

  return {
    /** The account, if the password is right. Throws unauthenticated, rate_limited, unavailable. */
    async logIn({ username, password, address, ...login }: Login): Promise<LoggedIn> {
      const { deviceCookie, comesBack = false, signal } = login;
      const network = networkOf(address);
      const isPossible = password.length <= limits.passwordCharactersMax;
      const candidates = isPossible ? await findLoginCandidates(users, username) : [];
      const acquaintance = await acquaintanceOf(options, candidates, network, deviceCookie);
      const attempt = { login: username, network, ...(acquaintance && { acquaintance }) };
      limiter.requireUnblocked(attempt);
      const standing = limiter.standingOf(attempt);
      const place = {
        lane: comesBack ? (`${standing} device` as const) : standing,
        payer: wideNetworkOf(address),
        ...(signal && { signals: [signal] }),
      };
      const asked = { attempt, candidates, comesBack, password: isPossible ? password : '' };
      const found = await verifyUnlessLeft(asked, place);
      if (found === undefined) {
        reporter.loginFailed();
        throw unauthenticated('the username or the password is wrong');
      }
      reporter.loginSucceeded();
      return found;
    },
    /**
     * Checks the password of a user who is logged in, before something that a borrowed token shall
     * not do. Throws forbidden, rate_limited, unavailable.
     */
    async confirm(user: User, password: string | undefined, address: string): Promise<void> {
      if (password === undefined) throw forbidden('send your present password as old_password');
      const login = await users.findLogin(user.username);
      const network = networkOf(address);
      const attempt = { login: user.username, network, acquaintance: `confirm/${network}` };
      limiter.requireUnblocked(attempt);
      const candidates = login === undefined ? [] : [login];
      const place = { lane: 'known', payer: wideNetworkOf(address) } as const;
      const found = await verify({ attempt, candidates, password, comesBack: false }, place);
      if (found === undefined) throw forbidden('old_password is not your present password');
    },
    /** A cookie by which this browser is known to the account from now on. */
    deviceCookieOf: ({ id }: User) => options.deviceCookies.issue(id),
  };
}
export type Logins = ReturnType<typeof createLogins>;

/** Why the client is no stranger to one of the accounts, if it is none. */
async function acquaintanceOf(
  { users, deviceCookies }: Pick<Parameters<typeof createLogins>[0], 'users' | 'deviceCookies'>,
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
