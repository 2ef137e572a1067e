import type { Clock } from '../../lib/clock.ts';
import { hashPassword, type PasswordCost } from '../../lib/password-hash.ts';
import { createId, createSecret, createSigningKey } from '../../lib/secret-token.ts';
import { parseUserId, type Username } from '../ids.ts';
import type { UserStore } from './user.ts';

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
