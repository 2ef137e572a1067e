import type { DeviceId, GatewayId, ProjectId, Username } from '../ids.ts';

/** A named group of devices and gateways. Being in one gives no right on them. */
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
