import type { Instant } from '../../lib/clock.ts';
import type { AccessKeyId, DeviceId, GatewayId, UserId, Username } from '../ids.ts';
import type { NewUser, User, UserChanges } from './user.ts';

export interface UserListing {
  readonly users: readonly User[];
  /** Number of all that match, whatever the page. */
  readonly total: number;
}

/** An account with the hash of its password. */
export interface StoredLogin {
  readonly user: User;
  readonly passwordHash: string;
}

/** Things that went with an account, by id. */
export interface RemovedThings {
  readonly devices: readonly DeviceId[];
  readonly gateways: readonly GatewayId[];
}

export interface PasswordOptions {
  readonly keysMadeBefore?: Instant;
  readonly exceptSession?: string;
  readonly isInitial?: true;
}

/** Where accounts are kept. Usernames are unique and found without regard to case. */
export interface UserStore {
  insert(user: NewUser, passwordHash: string): Promise<'inserted' | 'duplicate'>;
  find(id: UserId): Promise<User | undefined>;
  findByUsername(username: string): Promise<User | undefined>;
  /** By username, in any case of letters. */
  findLogin(username: string): Promise<StoredLogin | undefined>;
  /**
   * The first two accounts with this e-mail address, in any case of letters: those that proved it
   * before those older than proofs before the others, and the oldest first.
   */
  findByEmail(email: string): Promise<readonly StoredLogin[]>;
  /** Keeps that the account was logged in to then, and from this network; the newest of them. */
  rememberNetwork(id: UserId, network: string, at: Instant): Promise<void>;
  /** Whether the account was logged in to from this network before. */
  knowsNetwork(id: UserId, network: string): Promise<boolean>;
  /** In order of creation; `username` narrows to that one. */
  list(page: { username?: string; limit: number; offset: number }): Promise<UserListing>;
  /** Disabling an account also ends its tokens and keys, in the same step. */
  update(id: UserId, changes: UserChanges): Promise<'updated' | 'missing'>;
  /**
   * Sets the password and ends all of the user's tokens, all logins that stay but one, and the
   * keys made before a time, in one step. The answer names the keys that ended. `isInitial`:
   * another user chose the password.
   */
  setPassword(
    id: UserId,
    passwordHash: string,
    options?: PasswordOptions,
  ): Promise<{ readonly endedKeys: readonly AccessKeyId[] } | 'missing'>;
  /**
   * Removes the account with everything that is its own: tokens, keys, grants given and received,
   * devices with their datapoints, gateways, projects, social messages sent and received. In one
   * step. The answer names the devices and gateways that went.
   */
  remove(id: UserId): Promise<RemovedThings | 'missing'>;
  /** Accounts that were made by themselves, since such have a quota of their own. */
  signUps(): Promise<readonly Username[]>;
  /** Admins who can log in: those that are not disabled. */
  countAdmins(): Promise<number>;
}

export type { User, UserChanges, Username };
