import type { Instant } from '../../lib/clock.ts';
import type { ResourceKind, Scope } from '../access/scopes.ts';
import type { GroupId, InvitationId, UserId, Username } from '../ids.ts';

const day = 24 * 3_600_000;

/** Every limit of invitations, with its unit in its name and its reason beside it. */
export const invitationLimits = {
  /** Open invitations of one account, and as many that are over. */
  invitationsPerUserMax: 100,
  /** Accounts that one invitation lets in: a large school. */
  invitationUsesMax: 1_000,
  /** How long one lives for which nothing else is said. */
  invitationMsUsual: 7 * day,
  /** Devices of one invitation: their ids are kept, 256 bytes each at most. */
  invitationDevicesMax: 100,
  /** A longer text is no token of ours, and is not searched for. */
  invitationTokenCharactersMax: 64,
} as const;

/** A thing that an invitation leads to: a device or project with rights, or a group. */
export type InvitationTarget =
  | {
      readonly kind: Extract<ResourceKind, 'device' | 'project'>;
      readonly resource: string;
      /** In the order of `grantableOn`, never empty. */
      readonly scopes: readonly Scope[];
    }
  | { readonly kind: 'group'; readonly resource: GroupId };

/** A link by which others join what its giver may share; kept without its secret. */
export interface Invitation {
  readonly id: InvitationId;
  /** Of the secret in the link. */
  readonly hash: string;
  readonly giver: UserId;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly usesLeft: number;
  readonly isRevoked: boolean;
  readonly targets: readonly InvitationTarget[];
}

/** An account that took a use of an invitation, and whether it was given what that leads to. */
export interface TakenUse {
  readonly user: UserId;
  readonly isGiven: boolean;
}

/** An invitation with the account of its giver, as it is now. */
export interface GivenInvitation extends Invitation {
  readonly by: {
    readonly username: Username;
    readonly isAdmin: boolean;
    readonly isDisabled: boolean;
  };
}

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
