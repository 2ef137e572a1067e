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

/**
 * A change that others may remember the state before of: caches, and the broker. Plain data, so
 * that other processes can receive it as well. It says what may be different, never how.
 */
export type Change =
  /** The description, owner or visibility of a device, or one of its sensors or actuators. */
  | { readonly kind: 'device_changed'; readonly deviceId: DeviceId }
  /** To another owner: the grants on it have ended. */
  | { readonly kind: 'device_handed_over'; readonly deviceId: DeviceId }
  | { readonly kind: 'device_removed'; readonly deviceId: DeviceId }
  | { readonly kind: 'sensor_removed'; readonly deviceId: DeviceId; readonly sensorId: SensorId }
  /** The datapoints of a sensor: some were removed or put right, or that was undone. */
  | {
      readonly kind: 'datapoints_corrected';
      readonly deviceId: DeviceId;
      readonly sensorId: SensorId;
    }
  | {
      readonly kind: 'actuator_removed';
      readonly deviceId: DeviceId;
      readonly actuatorId: ActuatorId;
    }
  | { readonly kind: 'gateway_handed_over' | 'gateway_removed'; readonly gatewayId: GatewayId }
  /** The list of a project: with all that it listed before or lists now. */
  | {
      readonly kind: 'project_changed' | 'project_removed';
      readonly projectId: ProjectId;
      readonly deviceIds: readonly DeviceId[];
      readonly gatewayIds: readonly GatewayId[];
    }
  /** The grant of one user on one thing. */
  | {
      readonly kind: 'grant_changed';
      readonly on: ResourceKind;
      readonly resource: string;
      readonly username: Username;
    }
  /** The members of a group, or a grant to it: with all who were members or are now. */
  | { readonly kind: 'group_changed'; readonly usernames: readonly Username[] }
  /** The rights of an account, or its password, with the keys that ended. */
  | {
      readonly kind: 'account_changed';
      readonly userId: UserId;
      readonly endedKeys: readonly AccessKeyId[];
    }
  /** With all of its keys. */
  | {
      readonly kind: 'account_disabled' | 'account_removed' | 'user_added';
      readonly userId: UserId;
    }
  | { readonly kind: 'key_removed'; readonly userId: UserId; readonly keyId: AccessKeyId }
  /** A token, or a browser that stayed logged in, with its tokens. */
  | { readonly kind: 'login_ended' }
  /** A notification was made, changed or removed: what its rule is. */
  | { readonly kind: 'rule_changed'; readonly notificationId: NotificationId }
  /** Settings that administrators made for the whole installation. */
  | { readonly kind: 'settings_changed' }
  /** Another process made changes, and it is unknown which. */
  | { readonly kind: 'anything' };

/** Acts on a change: at once in memory, and resolves when the rest is durable. */
export type ChangeListener = (change: Change) => Promise<void>;

/** Changes, published after their commit and before the client that made them is answered. */
export interface ChangeFeed {
  /** Resolves when every listener has acted; never rejects. */
  publishChange(change: Change): Promise<void>;
  /** Calls the listener from now on; the answer ends that. */
  onChange(listener: ChangeListener): () => void;
  /**
   * Whether changes that other processes made up to a moment ago were received. While they were
   * not, what is remembered counts for nothing. Absent: there are no other processes.
   */
  isCurrent?(): boolean;
}

/** Part of the change feed that a cache needs. */
export type ChangeSource = Pick<ChangeFeed, 'onChange' | 'isCurrent'>;
