import type { Clock } from '../../lib/clock.ts';
import { hashPassword, type PasswordCost } from '../../lib/password-hash.ts';
import { createId, createSecret, createSigningKey, hashSecret } from '../../lib/secret-token.ts';
import { networkOf } from '../budgets/budget.ts';
import { tooMany, unauthenticated } from '../errors.ts';
import { parseUserId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { LoggedIn, LoginParts } from './logins.ts';
import type { PasswordResetStore } from './password-resets.ts';
import { requireStrongPassword } from './password-work.ts';
import type { StoredLogin, UserStore } from './user.ts';

/** Kept among the codes for forgotten passwords: like them it replaces a password. */
export function createFirstLogin(
  options: LoginParts & {
    /** Administrator whom the first start makes. */
    readonly username: Username;
    readonly pending: PasswordResetStore;
  },
) {
  const { users, username, work, pending, clock, reporter } = options;
  const limiter = options.failures.of('first login', {
    failuresMax: limits.loginFailuresPerAddress,
    windowMs: limits.loginFailureWindowMs,
  });

  /** The administrator, if this secret is good for the password that there is now. */
  async function find(secret: string): Promise<StoredLogin | undefined> {
    const login = await users.findLogin(username);
    if (login === undefined || login.user.isDisabled) return undefined;
    return (await pending.find(login.user.id, hashFor(secret, login), clock.now())) && login;
  }

  function refuse(network: string): Error {
    limiter.recordFailure(network);
    reporter.loginFailed();
    return unauthenticated('the link is wrong or no longer valid: log in with the password');
  }

  return {
    /** A secret of 256 random bits that logs the first administrator in, once, within the hour. */
    async createLink(): Promise<string> {
      const login = await users.findLogin(username);
      if (login === undefined) throw new Error(`there is no account ${username}`);
      const secret = createSecret();
      const now = clock.now();
      const codeHash = hashFor(secret, login);
      const expiresAt = now + limits.firstLoginMs;
      await pending.insert({ userId: login.user.id, codeHash, expiresAt, provenAt: now }, now);
      return secret;
    },
    /**
     * Takes the secret for a login, and sets the password where one is given: it ends all tokens.
     * Throws invalid, rate_limited, and unauthenticated for a secret that is wrong, used or older
     * than an hour, and for one from before the password was changed.
     */
    async logIn(given: {
      readonly secret: string;
      readonly password?: string;
      /** The client's IP address. */
      readonly address: string;
    }): Promise<LoggedIn> {
      const { secret, password, address } = given;
      if (password !== undefined) requireStrongPassword(password);
      const network = networkOf(address);
      const waitMs = limiter.blockedForMs(network);
      if (waitMs > 0) throw tooMany('failed logins', waitMs);
      const login = await find(secret);
      if (login === undefined) throw refuse(network);
      const { id } = login.user;
      // Before the secret is spent: where no password can be hashed now, it is good for later.
      const hashed = password && (await work.hash({ lane: 'known', payer: network }, password));
      const taken = await pending.take(id, hashFor(secret, login), clock.now());
      if (taken === undefined) throw refuse(network);
      if (hashed) await users.setPassword(id, hashed);
      await users.rememberNetwork(id, network, clock.now());
      reporter.loginSucceeded();
      return { ...login, ...(hashed && { passwordHash: hashed }) };
    },
  };
}

/** The link by which the operator of the service logs in for the first time [contract 14]. */
export type FirstLogin = ReturnType<typeof createFirstLogin>;

/** A new password makes another hash of the same secret; no code that is typed has one like it. */
const hashFor = (secret: string, { passwordHash }: StoredLogin): string =>
  hashSecret(`first login ${secret} ${passwordHash}`);

/**
 * Makes the first admin where there is none. Answers the password if it was generated: the only
 * time it can be seen; or that an admin is there already.
 */
export async function ensureAdmin(options: {
  readonly users: UserStore;
  readonly clock: Clock;
  readonly username: Username;
  readonly password?: string;
  /** Of the hash of the password; absent: the usual one. */
  readonly passwordCost?: PasswordCost | undefined;
}): Promise<{ readonly generatedPassword?: string; readonly isThere?: true }> {
  const { users, clock, username } = options;
  if ((await users.countAdmins()) > 0) return { isThere: true };
  const password = options.password ?? createSecret();
  const admin = {
    id: parseUserId(createId()),
    username,
    createdAt: clock.now(),
    profile: {},
    isAdmin: true,
    isDisabled: false,
    webhookSecret: createSigningKey(),
  };
  const outcome = await users.insert(admin, await hashPassword(password, options.passwordCost));
  // Another process that started at the same time may have made it meanwhile.
  if (outcome === 'duplicate' && (await users.countAdmins()) > 0) return { isThere: true };
  if (outcome === 'duplicate') {
    throw new Error(
      `there is no admin, and the name ${username} belongs to a plain user: ` +
        'name another in KIPIMO_ADMIN_USERNAME, or use kipimo user add --admin',
    );
  }
  return options.password === undefined ? { generatedPassword: password } : {};
}
