import type { DatabaseSync } from 'node:sqlite';
import { invitationLimits } from '../../domain/sharing/invitation-limits.ts';
import type { InvitationUse } from '../../domain/sharing/invitation-store.ts';
import { type InvitationRow, invitationStatements as statements } from '../sql/invitation-row.ts';
import { createSelection } from './selection.ts';

/** What the writer thread does to invitations. */
export function createInvitationWrites(database: DatabaseSync) {
  const openCount = createSelection<{ n: number }>(database, statements.countOpen);
  const use = createSelection<{ is_given: number }>(database, statements.use);
  const insert = database.prepare(statements.insert);
  const removeOver = database.prepare(statements.removeOver);
  const revoke = database.prepare(statements.revoke);
  const addUse = database.prepare(statements.addUse);
  const takeUse = database.prepare(statements.takeUse);
  const dropUse = database.prepare(statements.dropUse);
  const finish = database.prepare(statements.finish);

  return {
    insertInvitation(row: InvitationRow): 'inserted' | 'too_many' | 'gone' {
      const { id, hash, user_id, created_at, expires_at, uses_left, details } = row;
      const open = openCount.first(user_id, created_at)?.n ?? 0;
      if (open >= invitationLimits.invitationsPerUserMax) return 'too_many';
      const made = insert.run(id, hash, created_at, expires_at, uses_left, details, user_id);
      removeOver.run(user_id, created_at);
      return made.changes === 0 ? 'gone' : 'inserted';
    },
    revokeInvitation: (userId: string, id: string): 'removed' | 'missing' =>
      revoke.run(userId, id).changes === 0 ? 'missing' : 'removed',
    takeInvitation(id: string, userId: string, now: number): InvitationUse {
      if (addUse.run(id, userId).changes === 0) {
        const known = use.first(id, userId);
        if (known === undefined) return 'over';
        return known.is_given === 1 ? 'given' : 'unfinished';
      }
      if (takeUse.run(id, now).changes > 0) return 'taken';
      dropUse.run(id, userId);
      return 'over';
    },
    finishInvitation(id: string, userId: string): void {
      finish.run(id, userId);
    },
  };
}
