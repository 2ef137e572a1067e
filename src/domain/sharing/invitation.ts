import type { Instant } from '../../lib/clock.ts';
import type { ResourceKind, Scope } from '../access/scopes.ts';
import type { GroupId, InvitationId, UserId, Username } from '../ids.ts';

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
