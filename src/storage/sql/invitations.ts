import type { UserId, Username } from '../../domain/ids.ts';
import {
  type GivenInvitation,
  type Invitation,
  type InvitationStore,
  type InvitationTarget,
  invitationLimits,
  type TakenUse,
} from '../../domain/sharing/invitations.ts';
import {
  countRows,
  deletion,
  insertRow,
  readPage,
  type SqlContext,
  type Writes,
} from './session.ts';
import { createTable, DamagedRowError, found, type Row } from './table.ts';

/** The table invitations. */
export const invitationTable = createTable<Invitation>('invitations', {
  plain: ['id', 'hash', 'giver', 'createdAt', 'expiresAt', 'usesLeft'],
  flags: ['isRevoked'],
  names: { giver: 'user_id' },
});
const { columns, qualified } = invitationTable;

/** A row of the table. */
interface InvitationRow extends Row {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: number;
}

/** The same with the account of its giver. */
interface GivenInvitationRow extends InvitationRow {
  readonly username: string;
  readonly is_admin: number;
  readonly is_disabled: number;
}

const isOver = '(is_revoked = 1 or uses_left = 0 or expires_at <= $2)';

/** Statements on invitations. */
const statements = {
  giver: 'select 1 from users where id = $1 and is_disabled = 0',
  find: `
    select ${qualified}, username, is_admin, is_disabled
    from invitations join users on users.id = user_id where hash = $1`,
  removeOver: `
    delete from invitations where user_id = $1 and ${isOver} and position <=
      (select position from invitations where user_id = $1 and ${isOver}
       order by position desc limit 1 offset ${invitationLimits.invitationsPerUserMax})`,
  revoke: 'update invitations set is_revoked = 1 where user_id = $1 and id = $2 and is_revoked = 0',
  addUse: `
    insert into invitation_uses (invitation, user_id, is_given)
    select invitations.id, users.id, 0 from invitations, users
    where invitations.id = $1 and users.id = $2 on conflict do nothing`,
  restoreUse: `
    insert into invitation_uses (invitation, user_id, is_given)
    select $1, id, $3 from users where id = $2 on conflict do nothing`,
  uses: `
    select user_id, is_given from invitation_uses where invitation = $1 order by user_id`,
  use: 'select is_given from invitation_uses where invitation = $1 and user_id = $2',
  takeUse: `
    update invitations set uses_left = uses_left - 1
    where id = $1 and uses_left > 0 and is_revoked = 0 and expires_at > $2`,
  dropUse: 'delete from invitation_uses where invitation = $1 and user_id = $2',
  finish: 'update invitation_uses set is_given = 1 where invitation = $1 and user_id = $2',
} as const;

const isListed = 'invitations where user_id = $1 and is_revoked = 0';
const isOpen = `invitations where user_id = $1 and not ${isOver}`;

/** Changes of invitations. */
export const invitationWrites = {
  async insertInvitation(session, row: InvitationRow, uses: readonly TakenUse[]) {
    const { id, user_id, created_at } = row;
    const open = await countRows(session, isOpen, user_id, created_at);
    if (open >= invitationLimits.invitationsPerUserMax) return 'too_many';
    const giver = await session.first(statements.giver, user_id);
    if (giver !== undefined) await insertRow(session, 'invitations', row);
    await session.run(statements.removeOver, user_id, created_at);
    if (giver === undefined) return 'gone';
    for (const { user, isGiven } of uses) {
      await session.run(statements.restoreUse, id, user, Number(isGiven));
    }
    return 'inserted';
  },
  revokeInvitation: deletion(statements.revoke),
  async takeInvitation(session, id: string, userId: string, now: number) {
    if ((await session.run(statements.addUse, id, userId)) === 0) {
      const known = await session.first<{ is_given: number }>(statements.use, id, userId);
      if (known === undefined) return 'over';
      return known.is_given === 1 ? 'given' : 'unfinished';
    }
    if ((await session.run(statements.takeUse, id, now)) > 0) return 'taken';
    await session.run(statements.dropUse, id, userId);
    return 'over';
  },
  async finishInvitation(session, id: string, userId: string) {
    await session.run(statements.finish, id, userId);
  },
} satisfies Writes;

/** Invitations in the tables of either engine. */
export function createInvitationStore(
  options: SqlContext<typeof invitationWrites>,
): InvitationStore {
  const { reader, write, damaged } = options;
  const read = (row: InvitationRow) =>
    damaged.read('invitations', row.id, () => invitationFromRow(row));
  return {
    insert: (invitation, uses = []) =>
      write('insertInvitation', invitationTable.toRow(invitation) as InvitationRow, uses),
    find: async (hash) =>
      found(await reader.first<GivenInvitationRow>(statements.find, hash), (row) =>
        damaged.read('invitations', row.id, () => givenInvitationFromRow(row)),
      ),
    list: (giver, page) =>
      reader.inSnapshot(async (session) => {
        const wanted = { columns, from: isListed, order: 'position desc' };
        const { rows, total } = await readPage<InvitationRow>(session, wanted, [giver], page);
        return { invitations: rows.flatMap((row) => read(row) ?? []), total };
      }),
    async usesOf(id) {
      const rows = await reader.all<{ user_id: UserId; is_given: number }>(statements.uses, id);
      return rows.map((row) => ({ user: row.user_id, isGiven: row.is_given === 1 }));
    },
    revoke: (giver, id) => write('revokeInvitation', giver, id),
    take: (id, user, now) => write('takeInvitation', id, user, now),
    finish: (id, user) => write('finishInvitation', id, user),
  };
}

/** Throws when the row cannot be understood. */
export function invitationFromRow(row: Row): Invitation {
  const invitation = invitationTable.fromRow(row);
  const targets: unknown = invitation.targets;
  if (Array.isArray(targets) && targets.every(isTarget)) return invitation;
  throw new DamagedRowError('an invitation leads to no list of things');
}

function givenInvitationFromRow(row: GivenInvitationRow): GivenInvitation {
  return {
    ...invitationFromRow(row),
    by: {
      username: row.username as Username,
      isAdmin: row.is_admin === 1,
      isDisabled: row.is_disabled === 1,
    },
  };
}

const isTarget = (target: Partial<InvitationTarget> | null): boolean =>
  typeof target?.kind === 'string' &&
  typeof target.resource === 'string' &&
  (target.kind === 'group' || ('scopes' in target && Array.isArray(target.scopes)));
