import { DomainError, invalid } from '../../src/domain/errors.ts';
import { limits } from '../../src/domain/limits.ts';
import type { NewUser, UserStore } from '../../src/domain/users/user.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { hashPassword } from '../../src/lib/password-hash.ts';
import { profileFromWire } from '../../src/wire/user.ts';
import { newAccount } from './account-work.ts';

/** An entry that was not added, and why. */
export interface RefusedEntry {
  /** From 1, as people count. */
  readonly entry: number;
  /** As far as the entry has one. */
  readonly username?: string;
  readonly reason: string;
}

export interface ImportReport {
  readonly added: number;
  readonly refused: readonly RefusedEntry[];
}

interface Candidate {
  readonly user: NewUser;
  readonly password: string;
}

/** Reads the text of an import file; throws invalid unless it is a JSON array. */
export function parseImport(text: string): readonly unknown[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(`the file is not JSON: ${reason}`);
  }
  if (!Array.isArray(entries)) {
    throw invalid('the file must hold a JSON array of {"username", "password", …}');
  }
  return entries;
}

/**
 * Adds every entry that can be added, in their order, and reports the others [contract 1]. Given
 * ids are kept; passwords may be weak, because they come from a system that took them.
 */
export async function importAccounts(options: {
  readonly entries: readonly unknown[];
  readonly users: UserStore;
  readonly clock: Clock;
  readonly onProgress: (done: number) => void;
}): Promise<ImportReport> {
  const { entries, users, clock, onProgress } = options;
  const refused: RefusedEntry[] = [];
  let added = 0;
  // Hashing is what takes time: a few at once, then the store in the order of the file.
  for (let start = 0; start < entries.length; start += limits.loginsInParallelMax) {
    const slice = entries.slice(start, start + limits.loginsInParallelMax);
    const prepared = await Promise.all(slice.map((entry) => prepare(entry, users, clock)));
    for (const [index, ready] of prepared.entries()) {
      const reason = 'reason' in ready ? ready.reason : await insert(users, ready);
      if (reason === undefined) added += 1;
      else refused.push(refusal(start + index + 1, slice[index], reason));
    }
    onProgress(start + slice.length);
  }
  return { added, refused };
}

type Prepared =
  | { readonly user: NewUser; readonly passwordHash: string }
  | { readonly reason: string };

async function prepare(entry: unknown, users: UserStore, clock: Clock): Promise<Prepared> {
  let candidate: Candidate;
  try {
    candidate = readEntry(entry, clock);
  } catch (error) {
    if (error instanceof DomainError) return { reason: error.message };
    throw error;
  }
  const { user, password } = candidate;
  // Asked before hashing, which is costly, and decided again by the store.
  if ((await users.findByUsername(user.username)) !== undefined) {
    return { reason: `the username ${user.username} is taken` };
  }
  return { user, passwordHash: await hashPassword(password) };
}

function readEntry(entry: unknown, clock: Clock): Candidate {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    throw invalid('must be an object with username and password');
  }
  const { id, username, password, admin, ...profile } = entry as Record<string, unknown>;
  if (typeof password !== 'string' || password === '') {
    throw invalid('password must be a string that is not empty');
  }
  if (password.length > limits.passwordCharactersMax) {
    throw invalid(`password must have at most ${limits.passwordCharactersMax} characters`);
  }
  if (admin !== undefined && typeof admin !== 'boolean') {
    throw invalid('admin must be true or false');
  }
  const about = { id, username, isAdmin: admin === true, profile: profileFromWire(profile) };
  return { user: newAccount(clock, about), password };
}

async function insert(
  users: UserStore,
  ready: { readonly user: NewUser; readonly passwordHash: string },
): Promise<string | undefined> {
  if ((await users.insert(ready.user, ready.passwordHash)) === 'inserted') return undefined;
  const twin = await users.findByUsername(ready.user.username);
  return twin === undefined
    ? `the id ${ready.user.id} is taken`
    : `the username ${ready.user.username} is taken`;
}

function refusal(number: number, entry: unknown, reason: string): RefusedEntry {
  const username =
    typeof entry === 'object' && entry !== null && 'username' in entry ? entry.username : undefined;
  return typeof username === 'string'
    ? { entry: number, username, reason }
    : { entry: number, reason };
}
