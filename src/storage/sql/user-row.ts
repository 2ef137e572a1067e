import type { UserId, Username } from '../../domain/ids.ts';
import { addressKey } from '../../domain/users/address-proofs.ts';
import type { AddressProof, NewUser, Profile, User } from '../../domain/users/user.ts';
import { detailsFrom } from './details.ts';

/** A row of the table users. */
export interface UserRow {
  readonly id: string;
  readonly username: string;
  readonly password_hash: string;
  readonly created_at: number;
  readonly is_admin: number;
  readonly is_disabled: number;
  readonly sms_credit: number | null;
  readonly profile: string;
  readonly proofs: string;
  readonly webhook_secret: string | null;
  readonly is_signup: number;
  readonly is_password_initial: number;
  readonly last_login_at: number | null;
}

/** The columns of UserRow. */
export const userColumns =
  'id, username, password_hash, created_at, is_admin, is_disabled, sms_credit, profile, proofs, ' +
  'webhook_secret, is_signup, is_password_initial, last_login_at';

/** Keeps $2 as the last login of the account $1, if the one that is kept lies before $3. */
export const keepLastLogin = `
  update users set last_login_at = $2 where id = $1 and coalesce(last_login_at, 0) < $3`;

export function userToRow(user: NewUser, passwordHash: string): UserRow {
  return {
    id: user.id,
    username: user.username,
    password_hash: passwordHash,
    created_at: user.createdAt,
    is_admin: Number(user.isAdmin),
    is_disabled: Number(user.isDisabled),
    sms_credit: user.smsCredit ?? null,
    profile: JSON.stringify(user.profile),
    proofs: JSON.stringify(user.proofs ?? []),
    webhook_secret: user.webhookSecret,
    is_signup: Number(user.isSignUp ?? false),
    is_password_initial: Number(user.isPasswordInitial ?? false),
    last_login_at: user.lastLoginAt ?? null,
  };
}

/** The key by which an e-mail is found, without regard to case. */
export function emailKey(email: string): string {
  return addressKey('email', email);
}

/** The e-mail key of a profile kept as JSON text; null without an e-mail. */
export function emailKeyOf(profile: string): string | null {
  const { email } = parseProfile(profile);
  return email === undefined ? null : emailKey(email);
}

export function userFromRow(row: UserRow): User {
  const proofs = parseProofs(row.proofs);
  return {
    // Rows hold what parsed ids were written from.
    id: row.id as UserId,
    username: row.username as Username,
    createdAt: row.created_at,
    profile: parseProfile(row.profile),
    isAdmin: row.is_admin !== 0,
    isDisabled: row.is_disabled !== 0,
    ...(row.is_signup !== 0 && { isSignUp: true as const }),
    ...(row.is_password_initial !== 0 && { isPasswordInitial: true as const }),
    ...(row.last_login_at !== null && { lastLoginAt: row.last_login_at }),
    ...(row.sms_credit === null ? {} : { smsCredit: row.sms_credit }),
    ...(proofs.length > 0 && { proofs }),
    ...(row.webhook_secret !== null && { webhookSecret: row.webhook_secret }),
  };
}

/** A profile from its JSON text. */
export function parseProfile(text: string): Profile {
  return detailsFrom<Profile>(text);
}

/** Proofs from their JSON text. */
export function parseProofs(text: string): readonly AddressProof[] {
  // The text was written from proofs.
  return JSON.parse(text) as readonly AddressProof[];
}
