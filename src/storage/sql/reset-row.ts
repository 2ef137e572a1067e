import { parseUserId } from '../../domain/ids.ts';
import type { PendingReset } from '../../domain/users/password-reset-store.ts';

/** A row of the table password_resets. */
export interface ResetRow {
  readonly user_id: string;
  readonly code_hash: string;
  readonly expires_at: number;
  readonly proven_at: number;
}

/** By account and code, and what the clock says. */
export const selectReset = `
  select user_id, code_hash, expires_at, proven_at from password_resets
  where user_id = ? and code_hash = ? and expires_at > ?`;

export function resetFromRow(row: ResetRow): PendingReset {
  return {
    userId: parseUserId(row.user_id),
    codeHash: row.code_hash,
    expiresAt: row.expires_at,
    provenAt: row.proven_at,
  };
}
