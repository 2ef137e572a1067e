import type { InvitationId, UserId, Username } from '../../domain/ids.ts';
import type {
  GivenInvitation,
  Invitation,
  InvitationTarget,
} from '../../domain/sharing/invitation.ts';
import { invitationLimits } from '../../domain/sharing/invitation-limits.ts';
import { DamagedRowError, detailsFrom } from './details.ts';

/** A row of the table invitations. */
export interface InvitationRow {
  readonly id: string;
  readonly hash: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly uses_left: number;
  readonly is_revoked: number;
  readonly details: string;
}

/** The same with the account of its giver. */
export interface GivenInvitationRow extends InvitationRow {
  readonly username: string;
  readonly is_admin: number;
  readonly is_disabled: number;
}

const columns = `
  invitations.id, hash, user_id, invitations.created_at, expires_at, uses_left, is_revoked,
  details`;
const isOver = '(is_revoked = 1 or uses_left = 0 or expires_at <= $2)';

/** Statements on invitations. */
export const invitationStatements = {
  find: `
    select ${columns}, username, is_admin, is_disabled
    from invitations join users on users.id = user_id where hash = $1`,
  list: `
    select ${columns} from invitations where user_id = $1 and is_revoked = 0
    order by position desc limit $2 offset $3`,
  count: 'select count(*) as n from invitations where user_id = $1 and is_revoked = 0',
  countOpen: `select count(*) as n from invitations where user_id = $1 and not ${isOver}`,
  insert: `
    insert into invitations
      (id, hash, user_id, created_at, expires_at, uses_left, is_revoked, details)
    select $1, $2, id, $3, $4, $5, 0, $6 from users where id = $7 and is_disabled = 0`,
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

export function invitationToRow(invitation: Invitation): InvitationRow {
  return {
    id: invitation.id,
    hash: invitation.hash,
    user_id: invitation.giver,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
    uses_left: invitation.usesLeft,
    is_revoked: Number(invitation.isRevoked),
    details: JSON.stringify({ targets: invitation.targets }),
  };
}

/** Throws when the row cannot be understood. */
export function invitationFromRow(row: InvitationRow): Invitation {
  const { targets } = detailsFrom<{ readonly targets?: readonly InvitationTarget[] }>(row.details);
  if (!Array.isArray(targets) || !targets.every(isTarget)) {
    throw new DamagedRowError('an invitation leads to no list of things');
  }
  return {
    // Rows hold what parsed names were written from.
    id: row.id as InvitationId,
    hash: row.hash,
    giver: row.user_id as UserId,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usesLeft: row.uses_left,
    isRevoked: row.is_revoked === 1,
    targets,
  };
}

export function givenInvitationFromRow(row: GivenInvitationRow): GivenInvitation {
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
