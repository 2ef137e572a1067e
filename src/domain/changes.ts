import type { ResourceKind } from './access/scopes.ts';
import type {
  AccessKeyId,
  ActuatorId,
  DeviceId,
  GatewayId,
  NotificationId,
  ProjectId,
  SensorId,
  UserId,
  Username,
} from './ids.ts';

type Of<Kind extends string, About = unknown> = { readonly kind: Kind } & Readonly<About>;

/**
 * A change that others may remember the state before of: caches, and the broker. Plain data, so
 * that other processes can receive it as well. It says what may be different, never how.
 */
export type Change =
  /** The description, owner or visibility of a device, or one of its sensors or actuators. */
  | Of<'device_changed', { deviceId: DeviceId }>
  /** To another owner: the grants on it have ended. */
  | Of<'device_handed_over', { deviceId: DeviceId }>
  | Of<'device_removed', { deviceId: DeviceId }>
  | Of<'sensor_removed', { deviceId: DeviceId; sensorId: SensorId }>
  /** The datapoints of a sensor: some were removed or put right, or that was undone. */
  | Of<'datapoints_corrected', { deviceId: DeviceId; sensorId: SensorId }>
  | Of<'actuator_removed', { deviceId: DeviceId; actuatorId: ActuatorId }>
  | Of<'gateway_handed_over' | 'gateway_removed', { gatewayId: GatewayId }>
  /** The list of a project: with all that it listed before or lists now. */
  | Of<'project_changed' | 'project_removed', Members & { projectId: ProjectId }>
  /** The grant of one user on one thing. */
  | Of<'grant_changed', { on: ResourceKind; resource: string; username: Username }>
  /** The members of a group, or a grant to it: with all who were members or are now. */
  | Of<'group_changed', { usernames: readonly Username[] }>
  /** The rights of an account, or its password, with the keys that ended. */
  | Of<'account_changed', { userId: UserId; endedKeys: readonly AccessKeyId[] }>
  /** With all of its keys. */
  | Of<'account_disabled' | 'account_removed' | 'user_added', { userId: UserId }>
  | Of<'key_removed', { userId: UserId; keyId: AccessKeyId }>
  /** A token, or a browser that stayed logged in, with its tokens. */
  | Of<'login_ended'>
  /** A notification was made, changed or removed: what its rule is. */
  | Of<'rule_changed', { notificationId: NotificationId }>
  /** Settings that administrators made for the whole installation. */
  | Of<'settings_changed'>
  /** Another process made changes, and it is unknown which. */
  | Of<'anything'>;

interface Members {
  deviceIds: readonly DeviceId[];
  gatewayIds: readonly GatewayId[];
}

/** Acts on a change: at once in memory, and resolves when the rest is durable. */
export type ChangeListener = (change: Change) => Promise<void>;

/** Changes, published after their commit and before the client that made them is answered. */
export interface ChangeFeed {
  /**
   * Resolves when every listener has acted. Rejects, when those of this process have, where other
   * processes could not be told.
   */
  publishChange(change: Change): Promise<void>;
  /** Calls the listener from now on; the answer ends that. */
  onChange(listener: ChangeListener): () => void;
  /**
   * Whether what was asked of the store at this moment (performance.now) counts: changes that other
   * processes made up to a moment ago were received, or it was a moment ago. Absent: there are no
   * other processes.
   */
  isCurrent?(readAt: number): boolean;
}

/** Part of the change feed that a cache needs. */
export type ChangeSource = Pick<ChangeFeed, 'onChange' | 'isCurrent'>;
