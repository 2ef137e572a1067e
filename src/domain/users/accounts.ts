import { createLruCache } from '../../lib/cache.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import { createCode, createId, createSigningKey } from '../../lib/secret-token.ts';
import { createTokenBucket } from '../../lib/token-bucket.ts';
import { requireAccount } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import { wideNetworkOf } from '../budgets/budget.ts';
import type { LongWork } from '../budgets/long-work.ts';
import { conflict, forbidden, invalid, notFound, tooMany } from '../errors.ts';
import { parseUserId, type UserId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { ListPart } from '../listing.ts';
import { requireAdmin, requirePerson, requireSelfOrAdmin } from './account-access.ts';
import { vouchedProofs } from './address-proofs.ts';
import type { Logins } from './logins.ts';
import { type PasswordPlace, type PasswordWork, requireStrongPassword } from './password-work.ts';
import type { NewUser, Profile, User, UserChanges, UserListing, UserStore } from './user.ts';

export interface NewAccount {
  readonly username: Username;
  readonly password: string;
  readonly profile: Profile;
}

interface PasswordChange {
  readonly password: string;
  readonly oldPassword?: string;
  /** The browser login that stays, when one changes one's own. */
  readonly exceptSession?: string;
  /** The client's IP address. */
  readonly address: string;
}

/** Accounts: everyone may read them (contact details aside), each person changes their own. */
export function createAccounts(
  options: UserSearchOptions & {
    readonly logins: Logins;
    readonly work: PasswordWork;
    readonly clock: Clock;
    /** Removes what an account may have very much of, a little at a time, before the account. */
    readonly removeMuchOf: (owner: Username) => Promise<void>;
    /** Whether strangers may make accounts now. */
    readonly signUpNow: () => 'open' | 'closed';
    /** The credit of an account that signs up itself; absent: no end. */
    readonly smsCreditNew?: number | 'unlimited';
  },
) {
  const { users, logins, work, clock, smsCreditNew = 'unlimited' } = options;
  const signUpPlace = createSignUpPlaces(clock);
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
    await admins.run('', async () => {
      const user = await get(id);
      if (user.isAdmin && !user.isDisabled && (await users.countAdmins()) <= 1) {
        throw invalid(`the last admin cannot be ${what}: make another user admin first`);
      }
      await change();
    });
  }

  return {
    get,
    list: (...page: Parameters<UserStore['list']>) => users.list(...page),
    ...createUserSearch(options),
    me: async (actor: Actor): Promise<User> => get(requirePerson(actor).userId),
    /**
     * Creates an account. Throws conflict when the username is taken, forbidden when closed,
     * rate_limited when too many come from one address.
     */
    async signUp(
      actor: Actor,
      { username, password, profile }: NewAccount,
      { address, signal }: { readonly address: string; readonly signal?: AbortSignal },
    ): Promise<User> {
      requireAccount(actor);
      if (options.signUpNow() === 'closed' && actor.kind !== 'admin') {
        throw forbidden('sign-up is closed here: ask an admin for an account');
      }
      requireStrongPassword(password);
      if (actor.kind !== 'admin') requireOwnUsername(username);
      // Asked before hashing, which is costly, and decided again by the store.
      if ((await users.findByUsername(username)) !== undefined) throw usernameTaken(username);
      const user: NewUser = {
        id: parseUserId(createId()),
        username,
        createdAt: clock.now(),
        profile,
        isAdmin: false,
        isDisabled: false,
        webhookSecret: createSigningKey(),
        ...(actor.kind === 'admin' && { proofs: vouchedProofs(profile, clock.now()) }),
        ...(actor.kind !== 'admin' && { isSignUp: true as const }),
        ...(actor.kind !== 'admin' && smsCreditNew !== 'unlimited' && { smsCredit: smsCreditNew }),
      };
      const place =
        actor.kind === 'admin'
          ? ({ lane: 'known', payer: actor.userId } as const)
          : signUpPlace(wideNetworkOf(address));
      const passwordHash = await work.hash(
        { ...place, ...(signal && { signals: [signal] }) },
        password,
      );
      const outcome = await users.insert(user, passwordHash);
      if (outcome === 'duplicate') throw usernameTaken(username);
      return user;
    },
    async update(actor: Actor, id: UserId, changes: UserChanges): Promise<void> {
      const person = requireSelfOrAdmin(actor, id);
      const isAdministrative =
        changes.isAdmin !== undefined ||
        changes.isDisabled !== undefined ||
        changes.smsCredit !== undefined;
      if (isAdministrative) requireAdmin(actor);
      const proofs = vouchedProofs(givenBy(changes), clock.now());
      const vouched = person.kind === 'admin' ? { ...changes, proofs } : changes;
      const apply = async () => {
        if ((await users.update(id, vouched)) === 'missing') throw noUser(id);
      };
      if (changes.isAdmin === false) await keepingAnAdmin(id, 'made a plain user', apply);
      else if (changes.isDisabled === true) await keepingAnAdmin(id, 'disabled', apply);
      else await apply();
    },
    /**
     * Sets a new password and ends all tokens of the user. Who changes their own gives the old one;
     * an administrator who changes another's needs none [contract 14].
     */
    async setPassword(
      actor: Actor,
      id: UserId,
      { password, oldPassword, exceptSession, address }: PasswordChange,
    ): Promise<void> {
      const person = requireSelfOrAdmin(actor, id);
      requireStrongPassword(password);
      const user = await get(id);
      if (person.userId === id) await logins.confirm(user, oldPassword, address);
      const place = { lane: 'known', payer: person.userId } as const;
      const passwordHash = await work.hash(place, password);
      await users.setPassword(
        id,
        passwordHash,
        person.userId === id && exceptSession !== undefined ? { exceptSession } : undefined,
      );
    },
    /**
     * Sets a made-up password, to be changed at the first login, and ends all tokens of the user.
     * Throws forbidden unless an admin asks, invalid for one's own account.
     */
    async setInitialPassword(actor: Actor, id: UserId) {
      const { userId } = requireAdmin(actor);
      if (userId === id) throw invalid('choose your own password yourself: set it in your profile');
      const user = await get(id);
      const password = createCode();
      const passwordHash = await work.hash({ lane: 'known', payer: userId }, password);
      await users.setPassword(id, passwordHash, { isInitial: true });
      return { user, password };
    },
    /**
     * Deletes the account with everything that is its own: what there may be very much of a little
     * at a time, then the account with the rest in one step.
     */
    async remove(actor: Actor, id: UserId): Promise<void> {
      requireSelfOrAdmin(actor, id);
      await keepingAnAdmin(id, 'deleted', async () => {
        await options.removeMuchOf((await get(id)).username);
        await users.remove(id);
      });
    },
    /** Whether the actor may read the contact details of this user. */
    maySeeContact(actor: Actor, user: User): boolean {
      if (actor.kind === 'guest' || actor.key !== undefined) return false;
      return actor.kind === 'admin' || actor.userId === user.id;
    },
  };
}
export type Accounts = ReturnType<typeof createAccounts>;

/** Where a sign-up waits: a network from which none came lately comes before others. */
function createSignUpPlaces(clock: Clock) {
  const { loginFailureEntriesMax: entriesMax, loginFailureWindowMs: windowMs } = limits;
  const { signUpsPerAddress: capacity, signUpPauseMs: refillMs } = limits;
  const signUps = createTokenBucket({ capacity, refillMs, entriesMax, clock });
  const latest = createLruCache<string, Instant>(entriesMax);
  return (payer: string): PasswordPlace => {
    const waitMs = signUps.take(payer);
    if (waitMs > 0) throw tooMany('accounts were made from your network', waitMs);
    const isNew = (latest.get(payer) ?? 0) + windowMs <= clock.now();
    latest.set(payer, clock.now());
    return { lane: isNew ? 'sign-up' : 'further sign-up', payer };
  };
}

/** The fields of a profile that a change sets. */
function givenBy({ profile = {} }: UserChanges): Profile {
  const { email, phone } = profile;
  return { ...(email !== undefined && { email }), ...(phone !== undefined && { phone }) };
}

/** Refuses an e-mail address as username: none is proven yet, and it may be another person's. */
function requireOwnUsername(username: Username): void {
  if (!username.includes('@')) return;
  throw invalid(
    'a username with @ would be an e-mail address that nobody has proven: choose one without, ' +
      'and give the address as email, which is a login name as well',
  );
}

const noUser = (id: UserId) => notFound(`there is no user with id ${id}`);
const usernameTaken = (username: string) => conflict(`the username ${username} is taken`);

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

interface UserSearchOptions {
  readonly users: UserStore;
  readonly countDevices: (owners: readonly Username[]) => Promise<readonly number[]>;
  readonly longWork: Pick<LongWork, 'run'>;
}

/** Lists of accounts that administrators narrow. */
function createUserSearch(options: UserSearchOptions) {
  const { users, countDevices, longWork } = options;
  return {
    /** Ids of accounts that fit, in order of creation. Throws forbidden unless an admin asks. */
    async search(actor: Actor, filter: UserFilter): Promise<readonly UserId[]> {
      requireAdmin(actor);
      return longWork.run(actor, (pace) => searchUsers(users, filter, pace));
    },
    /** A page of the accounts with these ids, but for those that are gone. */
    async some(ids: readonly UserId[], { limit, offset }: ListPart): Promise<UserListing> {
      return { users: await users.some(ids.slice(offset, offset + limit)), total: ids.length };
    },
    /** How many devices each user owns, for administrators; nothing for others. */
    async devicesOf(actor: Actor, owners: readonly User[]): Promise<readonly number[]> {
      if (actor.kind !== 'admin' || actor.key !== undefined) return [];
      return countDevices(owners.map(({ username }) => username));
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
