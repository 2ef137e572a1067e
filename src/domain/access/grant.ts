import type { GroupId, Username } from '../ids.ts';
import type { ResourceKind, Scope } from './scopes.ts';

/** The record that an owner gave rights on one resource to a user. */
export interface Grant {
  readonly kind: ResourceKind;
  readonly resource: string;
  readonly username: Username;
  /** In the order of `grantableOn`, never empty. */
  readonly scopes: readonly Scope[];
}

/** A grant with the owner of what it is about. */
export interface OwnedGrant extends Grant {
  readonly owner: Username;
}

/** The record that an owner gave rights on one resource to the members of a group. */
export interface GroupGrant {
  readonly kind: ResourceKind;
  readonly resource: string;
  readonly groupId: GroupId;
  /** In the order of `grantableOn`, never empty. */
  readonly scopes: readonly Scope[];
}

/** A group's grant with the name of the group and the owner of what it is about. */
export interface OwnedGroupGrant extends GroupGrant {
  readonly groupName: string;
  readonly owner: Username;
}

/** Scopes that a user was granted on a resource, by whatever grant. */
export interface ReachingGrant {
  readonly resource: string;
  /** As they were given: those of a project are words of projects. */
  readonly scopes: readonly Scope[];
}
