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
