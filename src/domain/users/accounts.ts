import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/secret-token.ts';
import { createSemaphore } from '../../lib/semaphore.ts';
import { requireAccount } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { parseUserId, type UserId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { requireAdmin, requirePerson, requireSelfOrAdmin } from './account-access.ts';
import type { Logins } from './logins.ts';
import { requireStrongPassword } from './profile.ts';
import type { Sessions } from './sessions.ts';
import type { Profile, User, UserChanges } from './user.ts';
import type { UserListing, UserStore } from './user-store.ts';

export interface NewAccount {
  readonly username: Username;
  readonly password: string;
  readonly profile: Profile;
}

export interface AccountsPage {
  readonly username?: string;
  readonly limit: number;
  readonly offset: number;
}

/** Accounts: everyone may read them (contact details aside), each person changes their own. */
export interface Accounts {
  /** Creates an account. Throws conflict when the username is taken, forbidden when closed. */
  signUp(actor: Actor, account: NewAccount): Promise<User>;
  list(page: AccountsPage): Promise<UserListing>;
  get(id: UserId): Promise<User>;
  me(actor: Actor): Promise<User>;
  update(actor: Actor, id: UserId, changes: UserChanges): Promise<void>;
  /** Sets a new password and ends all tokens of the user. */
  setPassword(actor: Actor, id: UserId, password: string): Promise<void>;
  /** Deletes the account with everything that is its own. */
  remove(actor: Actor, id: UserId): Promise<void>;
  /** Whether the actor may read the contact details of this user. */
  maySeeContact(actor: Actor, user: User): boolean;
}

export function createAccounts(options: {
  readonly users: UserStore;
  readonly logins: Logins;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly signup: 'open' | 'closed';
}): Accounts {
  const { users, logins, sessions, clock } = options;
  const admins = createSemaphore({ parallelMax: 1, waitingMax: limits.adminChangesWaitingMax });

  async function get(id: UserId): Promise<User> {
    const user = await users.find(id);
    if (user === undefined) throw noUser(id);
    return user;
  }

  /**
   * Makes a change that takes an admin away, if another one is left: an installation without an
   * admin could not be mended from outside. One at a time, or two admins could end each other.
   */
  async function keepingAnAdmin(
    id: UserId,
    what: string,
    change: () => Promise<unknown>,
  ): Promise<void> {
    const { isAdmin } = await get(id);
    if (!isAdmin) {
      await change();
      return;
    }
    await admins.run(async () => {
      const user = await get(id);
      if (user.isAdmin && !user.isDisabled && (await users.countAdmins()) <= 1) {
        throw invalid(`the last admin cannot be ${what}: make another user admin first`);
      }
      await change();
    });
  }

  return {
    get,
    list: (page) => users.list(page),
    async me(actor) {
      return get(requirePerson(actor).userId);
    },
    async signUp(actor, { username, password, profile }) {
      requireAccount(actor);
      if (options.signup === 'closed' && actor.kind !== 'admin') {
        throw forbidden('sign-up is closed here: ask an admin for an account');
      }
      requireStrongPassword(password);
      // Asked before hashing, which is costly, and decided again by the store.
      if ((await users.findByUsername(username)) !== undefined) throw usernameTaken(username);
      const user: User = {
        id: parseUserId(createId()),
        username,
        createdAt: clock.now(),
        profile,
        isAdmin: false,
        isDisabled: false,
      };
      const outcome = await users.insert(user, await logins.hash(password));
      if (outcome === 'duplicate') throw usernameTaken(username);
      return user;
    },
    async update(actor, id, changes) {
      const person = requireSelfOrAdmin(actor, id);
      const isAdministrative =
        changes.isAdmin !== undefined ||
        changes.isDisabled !== undefined ||
        changes.smsCredit !== undefined;
      if (isAdministrative && person.kind !== 'admin') requireAdmin(actor);
      const apply = async () => {
        if ((await users.update(id, changes)) === 'missing') throw noUser(id);
      };
      if (changes.isAdmin === false) await keepingAnAdmin(id, 'made a plain user', apply);
      else if (changes.isDisabled === true) await keepingAnAdmin(id, 'disabled', apply);
      else await apply();
      sessions.forgetAll();
    },
    async setPassword(actor, id, password) {
      requireSelfOrAdmin(actor, id);
      requireStrongPassword(password);
      await get(id);
      await users.setPassword(id, await logins.hash(password));
      sessions.forgetAll();
    },
    async remove(actor, id) {
      requireSelfOrAdmin(actor, id);
      await keepingAnAdmin(id, 'deleted', () => users.remove(id));
      sessions.forgetAll();
    },
    maySeeContact(actor, user) {
      if (actor.kind === 'guest' || actor.key !== undefined) return false;
      return actor.kind === 'admin' || actor.userId === user.id;
    },
  };
}

const noUser = (id: UserId) => notFound(`there is no user with id ${id}`);
const usernameTaken = (username: string) => conflict(`the username ${username} is taken`);
