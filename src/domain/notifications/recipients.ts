import { createBreather } from '../../lib/event-loop.ts';
import { limits } from '../limits.ts';
import type { User, UserStore } from '../users/user.ts';
import type { Channel } from './channel.ts';
import type { Action, BoundAccount, ChannelName, Notification } from './notification.ts';
import { lackOf } from './recipient.ts';

type Users = Pick<UserStore, 'findByUsername'>;

/** The account that has a name now; remembered, for actions that are checked together. */
export type AccountOf = (username: string) => Promise<User | undefined>;

export function createAccountOf(users: Users): AccountOf {
  const known = new Map<string, Promise<User | undefined>>();
  return (username) => {
    const found = known.get(username) ?? users.findByUsername(username);
    if (known.size < limits.notificationsPageMax) known.set(username, found);
    return found;
  };
}

/** Binds names of an action to the accounts that have them now; others never reach an account. */
export async function bound(accountOf: AccountOf, action: Action): Promise<Action> {
  if (action.kind !== 'message') return action;
  const accounts: BoundAccount[] = [];
  for (const username of action.usernames) {
    const user = await accountOf(username);
    if (user !== undefined) accounts.push({ username, id: user.id });
  }
  return { ...action, accounts };
}

/** The action without accounts that are gone, or whose name another account has by now. */
export async function stillBound(accountOf: AccountOf, action: Action): Promise<Action> {
  if (action.kind !== 'message') return action;
  if (action.accounts === undefined) return bound(accountOf, action);
  let left: Action = action;
  for (const { username, id } of action.accounts) {
    if ((await accountOf(username))?.id !== id) left = withoutAccount(left, id);
  }
  return left;
}

/** The action without an account that is gone; the same where it never had it. */
export function withoutAccount(action: Action, id: string): Action {
  if (action.kind !== 'message') return action;
  const gone = action.accounts?.filter((account) => account.id === id) ?? [];
  if (gone.length === 0) return action;
  const names = new Set(gone.map(({ username }) => username));
  const usernames = action.usernames.filter((username) => !names.has(username));
  return {
    ...action,
    // The last one stays, as a name that reaches no account.
    usernames: usernames.length === 0 ? action.usernames : usernames,
    accounts: action.accounts?.filter((account) => account.id !== id) ?? [],
  };
}

/** Names of the action that no account had when they were written, or has no more. */
export function unknownUsernames({ action }: Pick<Notification, 'action'>): readonly string[] {
  if (action.kind !== 'message' || action.accounts === undefined) return [];
  const known = new Set(action.accounts.map(({ username }) => username));
  return action.usernames.filter((username) => !known.has(username));
}

/** A user whom a notification would not reach by a channel, and why, in words without addresses. */
export interface Unreachable {
  readonly username: string;
  readonly channel: ChannelName;
  readonly reason: string;
}

/** Begins to list users whom notifications cannot reach; remembers the accounts that it finds. */
export type Reach = () => (notification: Notification) => Promise<readonly Unreachable[]>;

export function createReach(parts: {
  readonly users: Users;
  /** Configured channels, by name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly mustBeProven: boolean;
}): Reach {
  const { users, channels, mustBeProven } = parts;
  async function reachOf(accountOf: AccountOf, { action }: Notification) {
    const found: Unreachable[] = [];
    if (action.kind !== 'message') return found;
    for (const username of action.usernames) {
      const account = action.accounts?.find((one) => one.username === username);
      const user = account && (await accountOf(username));
      const isHere = user !== undefined && user.id === account?.id && !user.isDisabled;
      for (const channel of action.channels) {
        const known = isHere ? user : undefined;
        const reason = lackOf(channels, known, username, channel, { mustBeProven });
        if (reason !== undefined) found.push({ username, channel, reason });
      }
    }
    return found;
  }

  return () => {
    const accountOf = createAccountOf(users);
    const breathe = createBreather();
    return async (notification) => {
      await breathe();
      return reachOf(accountOf, notification);
    };
  };
}
