import type { Instant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { UserId, Username } from '../ids.ts';
import { requireAdmin } from './account-access.ts';
import type { User, UserListing, UserStore } from './user.ts';

/** Which accounts a list shows, for administrators; all that is given holds. */
export interface UserFilter {
  /** In any case of letters. */
  readonly username?: string;
  /** Each of its words is in the username, a name, the e-mail address or a phone number. */
  readonly text?: string;
  readonly role?: 'admin' | 'user';
  readonly isDisabled?: boolean;
  readonly hasLoggedIn?: boolean;
  /** Older than this, and without a login from then on. */
  readonly inactiveSince?: Instant;
}

/** Lists of accounts that administrators narrow. */
export interface UserSearch {
  /** Ids of the accounts that fit, in order of creation. Throws forbidden unless an admin asks. */
  search(actor: Actor, filter: UserFilter): Promise<readonly UserId[]>;
  /** A page of the accounts with these ids, but for those that are gone. */
  some(
    ids: readonly UserId[],
    page: { readonly limit: number; readonly offset: number },
  ): Promise<UserListing>;
  /** How many devices a user owns, for administrators; undefined for others. */
  devicesOf(actor: Actor, user: User): Promise<number | undefined>;
}

export interface UserSearchOptions {
  readonly users: UserStore;
  readonly countDevices: (owner: Username) => Promise<number>;
  readonly longWork: Pick<LongWork, 'run'>;
}

export function createUserSearch(options: UserSearchOptions): UserSearch {
  const { users, countDevices, longWork } = options;
  return {
    async search(actor, filter) {
      requireAdmin(actor);
      return longWork.run(actor, (pace) => searchUsers(users, filter, pace));
    },
    async some(ids, { limit, offset }) {
      const found: User[] = [];
      for (const id of ids.slice(offset, offset + limit)) {
        const user = await users.find(id);
        if (user !== undefined) found.push(user);
      }
      return { users: found, total: ids.length };
    },
    async devicesOf(actor, { username }) {
      if (actor.kind !== 'admin' || actor.key !== undefined) return undefined;
      return countDevices(username);
    },
  };
}

/** Accounts that are read at once: a profile may be large. */
const accountsPerStep = 100;

/** Ids of all accounts that fit, in order of creation. */
async function searchUsers(
  users: UserStore,
  filter: UserFilter,
  pace: Pace,
): Promise<readonly UserId[]> {
  const fits = userMatcher(filter);
  const found: UserId[] = [];
  for (let offset = 0; ; offset += accountsPerStep) {
    const step = (await users.list({ limit: accountsPerStep, offset })).users;
    for (const user of step) if (fits(user)) found.push(user.id);
    if (step.length < accountsPerStep) return found;
    if (pace.isOver()) await pace.rest();
  }
}

/** Whether an account is one that a filter shows. */
export function userMatcher(filter: UserFilter): (user: User) => boolean {
  const { username, text = '', role, isDisabled, hasLoggedIn, inactiveSince } = filter;
  const named = username?.toLowerCase();
  const words = plain(text).split(/\s+/).filter(Boolean);
  return (user) => {
    const { lastLoginAt } = user;
    if (named !== undefined && user.username.toLowerCase() !== named) return false;
    if (role !== undefined && user.isAdmin !== (role === 'admin')) return false;
    if (isDisabled !== undefined && user.isDisabled !== isDisabled) return false;
    if (hasLoggedIn !== undefined && hasLoggedIn !== (lastLoginAt !== undefined)) return false;
    if (inactiveSince !== undefined && (lastLoginAt ?? user.createdAt) >= inactiveSince) {
      return false;
    }
    if (words.length === 0) return true;
    const { firstName = '', lastName = '', email = '', phone = [] } = user.profile;
    const about = plain([user.username, firstName, lastName, email, ...phone].join(' '));
    return words.every((word) => about.includes(word));
  };
}

/** The text without accents and capitals: people type names without them. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
