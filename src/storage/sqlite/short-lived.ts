import type { CallTextStore } from '../../domain/notifications/call-text-store.ts';
import type { FailureStore, KeptFailures } from '../../domain/users/failure-store.ts';
import type { PasswordResetStore } from '../../domain/users/password-reset-store.ts';
import { type ResetRow, resetFromRow, selectReset } from '../sql/reset-row.ts';
import { found } from '../sql/session.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectFailures = `
  select key, failures, ends_at as endsAt from failures where limiter = ? and ends_at > ?`;
const selectText = 'select call_id as callId, text, until from call_texts where call_id = ?';

/** Codes for forgotten passwords in SQLite. */
export function createPasswordResetStore({ reader, writer }: StoreContext): PasswordResetStore {
  const reset = createSelection<ResetRow>(reader, selectReset);
  return {
    insert: (pending, now) => writer.call('insertReset', pending, now),
    find: (userId, codeHash, now) =>
      readSafely(() => found(reset.first(userId, codeHash, now), resetFromRow)),
    take: (userId, codeHash, now) => writer.call('takeReset', userId, codeHash, now),
  };
}

/** Counters of failures in SQLite. */
export function createFailureStore({ reader, writer }: StoreContext): FailureStore {
  const failures = createSelection<KeptFailures>(reader, selectFailures);
  return {
    load: (limiter, now) => readSafely(() => failures.all(limiter, now).map((row) => ({ ...row }))),
    save: (limiter, counted, now) => writer.call('saveFailures', limiter, counted, now),
  };
}

/** Texts of calls in SQLite. */
export function createCallTextStore({ reader, writer }: StoreContext): CallTextStore {
  const text = createSelection<{ callId: string; text: string; until: number }>(reader, selectText);
  return {
    put: (callText, now) => writer.call('putCallText', callText, now),
    find: (callId) => readSafely(() => found(text.first(callId), (row) => ({ ...row }))),
  };
}
