import type { Change } from '../changes.ts';
import type { AccessKeyId, UserId } from '../ids.ts';
import type { UserChanges, UserStore } from './user-store.ts';

/** Tells caches that remember a login to ask for it anew. */
export const loginEnded: Change = { kind: 'login_ended' };

/** Changes that others are to be told of a changed account. */
export function changesOfUpdate(userId: UserId, changes: UserChanges): readonly Change[] {
  // Nothing else of an account says what it may do.
  if (changes.isAdmin === undefined && changes.isDisabled === undefined) return [];
  const kind = changes.isDisabled === true ? 'account_disabled' : 'account_changed';
  return [{ kind, userId, endedKeys: [] }];
}

/** Changes that others are to be told of a new password. */
export const changesOfPassword = (
  userId: UserId,
  outcome: Awaited<ReturnType<UserStore['setPassword']>>,
): readonly Change[] =>
  outcome === 'missing' ? [] : [{ kind: 'account_changed', userId, endedKeys: outcome.endedKeys }];

/** Changes that others are to be told of a key that was removed. */
export const changesOfKeyRemoval = (userId: UserId, keyId: AccessKeyId): readonly Change[] => [
  { kind: 'key_removed', userId, keyId },
];
