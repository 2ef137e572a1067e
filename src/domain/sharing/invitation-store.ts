import type { Instant } from '../../lib/clock.ts';
import type { InvitationId, UserId } from '../ids.ts';
import type { GivenInvitation, Invitation, TakenUse } from './invitation.ts';

/**
 * Whether an account may have what an invitation gives: `taken` by it now, `unfinished`: taken
 * before, and not recorded as given since, `given`: had before, `over`: no use is left.
 */
export type InvitationUse = 'taken' | 'unfinished' | 'given' | 'over';

/** Where invitations are kept. They go with the accounts of their givers. */
export interface InvitationStore {
  /**
   * too_many: the giver has `invitationsPerUserMax` open ones; gone: there is no such account that
   * is not disabled. Of those that are over, as many are kept, the newest. `uses` come from another
   * installation; those of accounts that are not here are left out.
   */
  insert(
    invitation: Invitation,
    uses?: readonly TakenUse[],
  ): Promise<'inserted' | 'too_many' | 'gone'>;
  /** Also those that are over or revoked. */
  find(hash: string): Promise<GivenInvitation | undefined>;
  /** Invitations of a giver that were not revoked, the newest first. */
  list(
    giver: UserId,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly invitations: readonly Invitation[]; readonly total: number }>;
  revoke(giver: UserId, id: InvitationId): Promise<'removed' | 'missing'>;
  /** Accounts that took a use. */
  usesOf(id: InvitationId): Promise<readonly TakenUse[]>;
  /** Takes one of the uses for this account; twice by one account counts once. */
  take(id: InvitationId, user: UserId, now: Instant): Promise<InvitationUse>;
  /** Records that the account has what the invitation gives. */
  finish(id: InvitationId, user: UserId): Promise<void>;
}
