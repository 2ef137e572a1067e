import type { VisibleTo } from '../access/viewer.ts';
import type { DeviceId, GatewayId, ProjectId, Username } from '../ids.ts';

/**
 * A named set of devices and gateways. Sharing it shares those in it that its owner owns and that
 * its owner, or an admin, put there [decision 0013].
 */
export interface Project {
  readonly id: ProjectId;
  readonly owner: Username;
  readonly name?: string;
  /** Each once; they need not exist. */
  readonly deviceIds: readonly DeviceId[];
  readonly gatewayIds: readonly GatewayId[];
}

/** Fields that a PUT may set; a name set to undefined is removed. */
export interface ProjectChanges {
  readonly name?: string | undefined;
  readonly deviceIds?: readonly DeviceId[];
  readonly gatewayIds?: readonly GatewayId[];
}

/** Members that sharing the project does not reach: another user than its owner listed them. */
export interface UnsharedMembers {
  readonly deviceIds: readonly DeviceId[];
  readonly gatewayIds: readonly GatewayId[];
}

export interface ProjectListing {
  readonly projects: readonly Project[];
  /** Number of all that match, whatever the page. */
  readonly total: number;
}

/** Where projects are kept. Lists are in order of creation. */
export interface ProjectStore {
  /** Keeps a new project: grants on it reach all that it lists. */
  insert(project: Project): Promise<'inserted' | 'duplicate'>;
  find(id: ProjectId): Promise<Project | undefined>;
  /** A project is never public: a guest sees the guest's, a user those and its own and granted. */
  list(page: { visibleTo: VisibleTo; limit: number; offset: number }): Promise<ProjectListing>;
  countOwnedBy(owner: Username): Promise<number>;
  /**
   * isOwners: whatever the changes list is reached by grants on the project. Otherwise what they
   * add is not, and the rest stays as it is.
   */
  update(
    id: ProjectId,
    changes: ProjectChanges,
    by: { readonly isOwners: boolean },
  ): Promise<'updated' | 'missing'>;
  /** Members of the project that grants on it do not reach. */
  unshared(id: ProjectId): Promise<UnsharedMembers>;
  /** Removes the project with its grants, in one step; what is in it stays. */
  remove(id: ProjectId): Promise<'removed' | 'missing'>;
}
