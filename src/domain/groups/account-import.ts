import type { Clock } from '../../lib/clock.ts';
import { createCode, createId, createSigningKey } from '../../lib/secret-token.ts';
import type { Actor } from '../actor.ts';
import { conflict, DomainError } from '../errors.ts';
import { type GroupId, parseUserId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { requireAdmin } from '../users/account-access.ts';
import { vouchedProofs } from '../users/address-proofs.ts';
import type { PasswordWork } from '../users/password-work.ts';
import type { NewUser, Profile, UserStore } from '../users/user.ts';
import { type GroupStore, type Groups, groupFull } from './groups.ts';

/** A row of a list of people: an account to make, or why there will be none. */
export type ListedAccount =
  | {
      /** As it was written. */
      readonly given: string;
      readonly username: Username;
      readonly profile: Profile;
      /** Absent: one is made up. */
      readonly password?: string;
      /** The name of a group of the importer; it is made where there is none. */
      readonly group?: string;
    }
  | { readonly given: string; readonly refusal: DomainError };

/** Outcome of a row: with the password, where it was made up. */
export interface ImportedAccount {
  readonly username: string;
  /** Of an account that was made. */
  readonly profile?: Profile;
  readonly password?: string;
  readonly refusal?: DomainError;
}

/**
 * Makes accounts of a list, for administrators: whole ones or none. All passwords are hashed before
 * the first account is made, one at a time, so that other people's logins are checked in between;
 * when `signal` aborts until then, no account is made.
 */
export type ImportAccounts = (
  actor: Actor,
  readRows: () => readonly ListedAccount[],
  signal?: AbortSignal,
) => Promise<readonly ImportedAccount[]>;

type Row = Exclude<ListedAccount, { readonly refusal: DomainError }>;

interface Prepared {
  readonly user: NewUser;
  readonly passwordHash: string;
  readonly group: string | undefined;
}

export function createImportAccounts(options: {
  readonly users: UserStore;
  readonly store: GroupStore;
  readonly groups: Groups;
  readonly work: PasswordWork;
  readonly clock: Clock;
}): ImportAccounts {
  const { users, store, groups, work, clock } = options;

  const newUser = ({ username, profile }: Row): NewUser => ({
    id: parseUserId(createId()),
    ...{ username, profile, createdAt: clock.now(), isAdmin: false, isDisabled: false },
    webhookSecret: createSigningKey(),
    proofs: vouchedProofs(profile, clock.now()),
    isPasswordInitial: true,
  });

  /** The importer's group of this name that may take so many more; made where there is none. */
  async function groupCalled(actor: Actor, name: string, more: number): Promise<GroupId> {
    const owner = requireAdmin(actor).username;
    const page = { owner, limit: limits.groupsPerUserMax, offset: 0 };
    const known = (await store.list(page)).groups.find((group) => group.name === name);
    if ((known?.usernames.length ?? 0) + more > limits.groupMembersMax) throw groupFull();
    return known?.id ?? groups.create(actor, { name, usernames: [] });
  }

  /** Makes the accounts of one group, or of none, each with its membership or not at all. */
  async function make(
    actor: Actor,
    name: string | undefined,
    prepared: readonly Prepared[],
    refused: Map<string, DomainError>,
  ): Promise<void> {
    const made: NewUser[] = [];
    try {
      const group =
        name === undefined ? undefined : await groupCalled(actor, name, prepared.length);
      for (const { user, passwordHash } of prepared) {
        if ((await users.insert(user, passwordHash)) === 'inserted') made.push(user);
        else refused.set(user.username, taken(user.username));
      }
      if (group === undefined || made.length === 0) return;
      const usernames = made.map(({ username }) => username);
      const change = { out: [], in: usernames, membersMax: limits.groupMembersMax } as const;
      if ((await store.changeMembers(group, change)) !== 'updated') throw groupFull();
    } catch (reason) {
      for (const { id } of made) await users.remove(id);
      if (!(reason instanceof DomainError)) throw reason;
      for (const { user } of prepared) refused.set(user.username, reason);
    }
  }

  return async (actor, readRows, signal) => {
    const { userId } = requireAdmin(actor);
    const refused = new Map<string, DomainError>();
    const seen = new Set<string>();
    const passwords = new Map<Row, string>();
    const prepared: Prepared[] = [];
    const results: (Row | ImportedAccount)[] = [];
    for (const row of readRows()) {
      const refusal = 'refusal' in row ? row.refusal : await refusalOf(row, seen, users);
      if (refusal !== undefined || 'refusal' in row) {
        results.push({ username: row.given, ...(refusal && { refusal }) });
        continue;
      }
      const password = row.password ?? createCode();
      const place = { lane: 'known', payer: userId, ...(signal && { signals: [signal] }) } as const;
      const passwordHash = await work.hash(place, password);
      signal?.throwIfAborted();
      if (row.password === undefined) passwords.set(row, password);
      prepared.push({ user: newUser(row), passwordHash, group: row.group });
      results.push(row);
    }
    for (const [name, ofGroup] of Map.groupBy(prepared, ({ group }) => group)) {
      await make(actor, name, ofGroup, refused);
    }
    return results.map((result) => {
      if (!('given' in result)) return result;
      const { username, profile } = result;
      const refusal = refused.get(username);
      const password = passwords.get(result);
      if (refusal !== undefined) return { username, refusal };
      return { username, profile, ...(password !== undefined && { password }) };
    });
  };
}

const taken = (username: string) => conflict(`the username ${username} is taken`);

/** Why no account can be made of a row; each username is free once. */
async function refusalOf(
  { username }: Row,
  seen: Set<string>,
  users: UserStore,
): Promise<DomainError | undefined> {
  const key = username.toLowerCase();
  const isTaken = seen.has(key) || (await users.findByUsername(username)) !== undefined;
  seen.add(key);
  return isTaken ? taken(username) : undefined;
}
