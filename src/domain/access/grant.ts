import type { GroupId, Username } from '../ids.ts';
import type { Resource, ResourceKind, Scope } from './scopes.ts';

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
export interface GroupGrant extends Omit<Grant, 'username'> {
  readonly groupId: GroupId;
}

/** A group's grant with the name of the group and the owner of what it is about. */
export interface OwnedGroupGrant extends GroupGrant {
  readonly groupName: string;
  readonly owner: Username;
}

/** Where grants are kept. Their stores delete the grants of a resource or account that goes. */
export interface GrantStore {
  /**
   * Sets what `username` may do with the resource, replacing what was granted before. missing: the
   * resource or the account does not exist, and nothing is kept that could come to life with them.
   */
  put(grant: Grant): Promise<'put' | 'missing'>;
  remove(kind: ResourceKind, resource: string, username: Username): Promise<'removed' | 'missing'>;
  /** Scopes that `username` was granted on the resource; empty when none. */
  find(kind: ResourceKind, resource: string, username: Username): Promise<readonly Scope[]>;
  /** All grants on a resource, by username. */
  listOn(kind: ResourceKind, resource: string): Promise<readonly Grant[]>;
  /** All grants on resources that `owner` owns now, by kind, resource, username. */
  listGivenBy(owner: Username): Promise<readonly OwnedGrant[]>;
  /** All grants `username` holds, by kind and resource. */
  listReceivedBy(username: Username): Promise<readonly OwnedGrant[]>;

  /** As `put`, for the members of the group. missing: the resource or the group does not exist. */
  putForGroup(grant: GroupGrant): Promise<'put' | 'missing'>;
  removeForGroup(
    kind: ResourceKind,
    resource: string,
    groupId: GroupId,
  ): Promise<'removed' | 'missing'>;
  /** All grants of groups on a resource, by the order of creation of the groups. */
  listGroupsOn(kind: ResourceKind, resource: string): Promise<readonly OwnedGroupGrant[]>;
  /** All grants of groups on resources that `owner` owns now, by kind, resource, group. */
  listGroupsGivenBy(owner: Username): Promise<readonly OwnedGroupGrant[]>;
  /** All grants of groups that `username` is in now, by kind, resource, group. */
  listGroupsReceivedBy(username: Username): Promise<readonly OwnedGroupGrant[]>;
  /**
   * Scopes that reach `username` on the resource by groups, and by projects that list a device or
   * gateway of their own owner: as they were granted, empty when none.
   */
  findIndirect(resource: Resource, username: Username): Promise<readonly Scope[]>;
  /**
   * Everything of this kind that any grant reaches for `username`; a resource comes once for each
   * of the rights that it was granted with, or more often. This and lists of visible resources
   * agree. Scopes are as they were given: those of a project are words of projects.
   */
  listReaching(
    kind: ResourceKind,
    username: Username,
  ): Promise<readonly { readonly resource: string; readonly scopes: readonly Scope[] }[]>;
}
