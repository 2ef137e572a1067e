import type { Instant } from '../../lib/clock.ts';
import { emailStrength, proofOf } from './address-proofs.ts';
import type { StoredLogin, UserStore } from './user-store.ts';

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

/** Where a code for a new password may go. */
export interface ResetTarget {
  readonly login: StoredLogin;
  readonly email: string;
  /** Since when the address is known to reach the account's user. */
  readonly provenAt: Instant;
}

/** The account to which a code for a new password may be mailed: to a proven address only. */
export async function findResetTarget(
  users: UserStore,
  usernameOrEmail: string,
): Promise<ResetTarget | undefined> {
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
