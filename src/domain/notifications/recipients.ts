import { createBreather } from '../../lib/event-loop.ts';
import { limits } from '../limits.ts';
import { notConfigured } from '../socials/socials.ts';
import { addressKey, isProven } from '../users/address-proofs.ts';
import type { User, UserStore } from '../users/user.ts';
import type { Channel, Recipient } from './channel.ts';
import type { Action, BoundAccount, ChannelName, Notification } from './notification.ts';

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

/** Why a user cannot be reached by a channel, as far as that is known without a try. */
export function lackOf(
  channels: ReadonlyMap<string, Channel>,
  ...asked: Parameters<typeof recipientOf>
): string | undefined {
  const channel = channels.get(asked[2]);
  if (channel === undefined) return notConfigured(asked[2]);
  const to = recipientOf(...asked);
  return 'refusal' in to ? to.refusal : channel.lacks?.(to);
}

/** The user as a channel needs to know them, or why they cannot be reached by it. */
export function recipientOf(
  user: User | undefined,
  username: string,
  channel: ChannelName,
  options: { readonly mustBeProven: boolean } = { mustBeProven: false },
): Recipient | { readonly refusal: string } {
  if (user === undefined) return { refusal: `there is no user ${username}` };
  if (user.isDisabled) return { refusal: `the account of ${user.username} is disabled` };
  const { profile } = user;
  switch (channel) {
    case 'sms':
    case 'voice': {
      const phone = profile.phone?.[0];
      if (phone === undefined || phone === '') return none(user, 'telephone number');
      const dialled = e164(phone);
      if (dialled === undefined) {
        return {
          refusal: `the telephone number of ${user.username} lacks a country code, as in +233…`,
        };
      }
      return options.mustBeProven && !isProven(user, 'phone', phone)
        ? unproven(user, 'telephone number')
        : { username: user.username, phone: dialled };
    }
    case 'email':
      if (profile.email === undefined || profile.email === '') return none(user, 'e-mail address');
      return options.mustBeProven && !isProven(user, 'email', profile.email)
        ? unproven(user, 'e-mail address')
        : { username: user.username, email: profile.email };
    case 'twitter': {
      const twitter = profile.twitter?.[0]?.trim().replace(/^@/, '');
      return twitter === undefined || twitter === ''
        ? none(user, 'twitter account')
        : { username: user.username, twitter };
    }
    case 'webhook': {
      const webhook = profile.webhook?.[0];
      if (webhook === undefined || webhook === '') return none(user, 'webhook');
      const { username: name, webhookSecret } = user;
      return { username: name, webhook, ...(webhookSecret !== undefined && { webhookSecret }) };
    }
  }
}

const none = ({ username }: User, what: string): { readonly refusal: string } => ({
  refusal: `${username} has no ${what} in the profile`,
});

const unproven = ({ username }: User, what: string): { readonly refusal: string } => ({
  refusal:
    `${username} has not proven the ${what} yet: a code for it is asked for in the profile ` +
    '(POST /users/me/addresses/prove)',
});

/** A telephone number with its country code and without decoration, or undefined. */
export function e164(text: string): string | undefined {
  const plain = addressKey('phone', text);
  return /^\+[1-9]\d{6,14}$/.test(plain) ? plain : undefined;
}
