import { conflict, invalid, notFound } from '../../src/domain/errors.ts';
import { parseNewUsername, parseUserId, type UserId } from '../../src/domain/ids.ts';
import { limits } from '../../src/domain/limits.ts';
import { vouchedProofs } from '../../src/domain/users/address-proofs.ts';
import { requireStrongPassword } from '../../src/domain/users/password-work.ts';
import type { NewUser, Profile, User, UserStore } from '../../src/domain/users/user.ts';
import { textOfChange } from '../../src/feed/entry-text.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { hashPassword } from '../../src/lib/password-hash.ts';
import { createId, createSigningKey } from '../../src/lib/secret-token.ts';
import type { AccountStorage } from '../../src/storage/storage.ts';
import { type DirectoryOption, knownPlaceOf, requirePlace } from './data-directory.ts';
import { openAccounts } from './open-for-commands.ts';

/** The id of an account that is to be made: "me" would be the caller in every path. */
export function parseNewUserId(text: unknown): UserId {
  if (text !== 'me') return parseUserId(text);
  throw invalid('user id me stands for whoever is logged in: choose another');
}

/** An account that is to be made; the user of a command vouches for its addresses. */
export function newAccount(
  clock: Clock,
  about: {
    readonly id?: unknown;
    readonly username: unknown;
    readonly isAdmin: boolean;
    readonly profile: Profile;
  },
): NewUser {
  const { id = createId(), username, isAdmin, profile } = about;
  return {
    id: parseNewUserId(id),
    username: parseNewUsername(username),
    createdAt: clock.now(),
    profile,
    isAdmin,
    isDisabled: false,
    webhookSecret: createSigningKey(),
    proofs: vouchedProofs(profile, clock.now()),
  };
}

/** Adds an account; throws conflict when the username is taken. */
export async function addAccount(
  { users, clock }: { readonly users: UserStore; readonly clock: Clock },
  account: {
    readonly username: string;
    readonly password: string;
    readonly isAdmin: boolean;
    readonly profile: Profile;
  },
): Promise<User> {
  const user = newAccount(clock, account);
  requireStrongPassword(account.password);
  const outcome = await users.insert(user, await hashPassword(account.password));
  if (outcome === 'duplicate') throw conflict(`the username ${user.username} is taken`);
  return user;
}

/** Sets a password and ends the tokens of the user; throws not_found for an unknown name. */
export async function replacePassword(
  { users }: { readonly users: UserStore },
  { username, password }: { readonly username: string; readonly password: string },
): Promise<User> {
  const user = await requireUser(users, username);
  requireStrongPassword(password);
  const outcome = await users.setPassword(user.id, await hashPassword(password));
  if (outcome === 'missing') throw unknownUser(username);
  return user;
}

/** The account with this username; throws not_found when there is none. */
export async function requireUser(users: UserStore, username: string): Promise<User> {
  const user = await users.findByUsername(username);
  if (user === undefined) throw unknownUser(username);
  return user;
}

/** All accounts in order of creation, page by page. */
export async function* allAccounts(users: UserStore): AsyncGenerator<User> {
  let offset = 0;
  while (true) {
    const page = await users.list({ limit: limits.usersPageMax, offset });
    yield* page.users;
    offset += page.users.length;
    if (page.users.length === 0 || offset >= page.total) return;
  }
}

/** Opens the accounts alone, also while a service runs; `makes`: makes the database if needed. */
export async function withAccounts(
  { makes = false, ...options }: DirectoryOption & { readonly makes?: boolean },
  work: (accounts: AccountStorage) => Promise<void>,
): Promise<void> {
  const place = makes ? requirePlace(options) : knownPlaceOf(options);
  const accounts = await openAccounts(place, { makes, textOf: textOfChange });
  try {
    await work(accounts);
  } finally {
    await accounts.close();
  }
}

const unknownUser = (username: string) =>
  notFound(`there is no user ${JSON.stringify(username)}: kipimo user list shows them`);
