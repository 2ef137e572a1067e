import type { UserId } from '../../domain/ids.ts';
import type { TakenUse } from '../../domain/sharing/invitation.ts';
import { invitationLimits } from '../../domain/sharing/invitation-limits.ts';
import type { InvitationStore, InvitationUse } from '../../domain/sharing/invitation-store.ts';
import type { SqlContext } from './context.ts';
import {
  type GivenInvitationRow,
  givenInvitationFromRow,
  type InvitationRow,
  invitationFromRow,
  invitationToRow,
  invitationStatements as statements,
} from './invitation-row.ts';
import { type Count, found, type SqlSession } from './session.ts';

interface UseRow {
  readonly user_id: UserId;
  readonly is_given: number;
}

/** Changes of invitations. */
export const invitationWrites = {
  async insertInvitation(
    session: SqlSession,
    row: InvitationRow,
    uses: readonly TakenUse[],
  ): Promise<'inserted' | 'too_many' | 'gone'> {
    const { id, hash, user_id, created_at, expires_at, uses_left, details } = row;
    const open = (await session.first<Count>(statements.countOpen, user_id, created_at))?.n ?? 0;
    if (open >= invitationLimits.invitationsPerUserMax) return 'too_many';
    const values = [id, hash, created_at, expires_at, uses_left, details, user_id] as const;
    const made = await session.run(statements.insert, ...values);
    await session.run(statements.removeOver, user_id, created_at);
    if (made === 0) return 'gone';
    for (const { user, isGiven } of uses) {
      await session.run(statements.restoreUse, id, user, Number(isGiven));
    }
    return 'inserted';
  },
  revokeInvitation: async (
    session: SqlSession,
    userId: string,
    id: string,
  ): Promise<'removed' | 'missing'> =>
    (await session.run(statements.revoke, userId, id)) === 0 ? 'missing' : 'removed',
  async takeInvitation(
    session: SqlSession,
    id: string,
    userId: string,
    now: number,
  ): Promise<InvitationUse> {
    if ((await session.run(statements.addUse, id, userId)) === 0) {
      const known = await session.first<{ is_given: number }>(statements.use, id, userId);
      if (known === undefined) return 'over';
      return known.is_given === 1 ? 'given' : 'unfinished';
    }
    if ((await session.run(statements.takeUse, id, now)) > 0) return 'taken';
    await session.run(statements.dropUse, id, userId);
    return 'over';
  },
  async finishInvitation(session: SqlSession, id: string, userId: string): Promise<void> {
    await session.run(statements.finish, id, userId);
  },
};

/** Invitations in the tables of either engine. */
export function createInvitationStore({
  reader,
  write,
  damaged,
}: SqlContext<typeof invitationWrites>): InvitationStore {
  const read = (row: InvitationRow) =>
    damaged.read('invitations', row.id, () => invitationFromRow(row));

  return {
    insert: (invitation, uses = []) => write('insertInvitation', invitationToRow(invitation), uses),
    find: async (hash) =>
      found(await reader.first<GivenInvitationRow>(statements.find, hash), (row) =>
        damaged.read('invitations', row.id, () => givenInvitationFromRow(row)),
      ),
    list: (giver, { limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const rows = await session.all<InvitationRow>(statements.list, giver, limit, offset);
        const total = (await session.first<Count>(statements.count, giver))?.n ?? 0;
        return { invitations: rows.flatMap((row) => read(row) ?? []), total };
      }),
    async usesOf(id) {
      const rows = await reader.all<UseRow>(statements.uses, id);
      return rows.map((row) => ({ user: row.user_id, isGiven: row.is_given === 1 }));
    },
    revoke: (giver, id) => write('revokeInvitation', giver, id),
    take: (id, user, now) => write('takeInvitation', id, user, now),
    finish: (id, user) => write('finishInvitation', id, user),
  };
}
