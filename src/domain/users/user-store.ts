import type { UserId, Username } from '../ids.ts';
import type { User, UserChanges } from './user.ts';

export interface UserListing {
  readonly users: readonly User[];
  /** All that match, whatever the page. */
  readonly total: number;
}

/** What went with an account, by id. */
export interface RemovedThings {
  readonly devices: readonly string[];
  readonly gateways: readonly string[];
}

/** Where accounts are kept. Usernames are unique and found without regard to case. */
export interface UserStore {
  insert(user: User, passwordHash: string): Promise<'inserted' | 'duplicate'>;
  find(id: UserId): Promise<User | undefined>;
  findByUsername(username: string): Promise<User | undefined>;
  /** The account to log in to: by username, else the oldest with this e-mail, in any case. */
  findLogin(usernameOrEmail: string): Promise<{ user: User; passwordHash: string } | undefined>;
  /** In order of creation; `username` narrows to that one. */
  list(page: { username?: string; limit: number; offset: number }): Promise<UserListing>;
  /** Disabling an account also ends its tokens, in the same step. */
  update(id: UserId, changes: UserChanges): Promise<'updated' | 'missing'>;
  /** Sets the password and ends all of the user's tokens, in one step. */
  setPassword(id: UserId, passwordHash: string): Promise<'updated' | 'missing'>;
  /**
   * Removes the account with everything that is its own: tokens, keys, grants given and received,
   * devices with their datapoints, gateways, projects, social messages sent and received. In one
   * step. The answer names the devices and gateways that went.
   */
  remove(id: UserId): Promise<RemovedThings | 'missing'>;
  /** Admins who can log in: those that are not disabled. */
  countAdmins(): Promise<number>;
}

export type { User, UserChanges, Username };
