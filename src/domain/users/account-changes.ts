import type { Change } from '../changes.ts';
import type { AccessKeyId, UserId } from '../ids.ts';
import type { UserChanges, UserStore } from './user.ts';

/** Makes caches that remember a login ask for it anew. */
export const loginEnded: Change = { kind: 'login_ended' };

/** Changes to publish of a changed account. */
export function changesOfUpdate(userId: UserId, changes: UserChanges): readonly Change[] {
  // Nothing else of an account says what it may do.
  if (changes.isAdmin === undefined && changes.isDisabled === undefined) return [];
  const kind = changes.isDisabled === true ? 'account_disabled' : 'account_changed';
  return [{ kind, userId, endedKeys: [] }];
}

/** Changes to publish of a new password. */
export const changesOfPassword = (
  userId: UserId,
  outcome: Awaited<ReturnType<UserStore['setPassword']>>,
): readonly Change[] =>
  outcome === 'missing' ? [] : [{ kind: 'account_changed', userId, endedKeys: outcome.endedKeys }];

/** Changes to publish of a key that was removed. */
export const changesOfKeyRemoval = (userId: UserId, keyId: AccessKeyId): readonly Change[] => [
  { kind: 'key_removed', userId, keyId },
];
