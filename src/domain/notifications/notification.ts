import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { ActuatorId, DeviceId, NotificationId, SensorId, UserId, Username } from '../ids.ts';
import { channels, type SocialChannel } from '../socials/socials.ts';

/** The channels of notifications; `none` is for social messages. */
export type ChannelName = Exclude<SocialChannel, 'none'>;
export const channelNames = channels.filter((name) => name !== 'none');

/** Devices, sensors and expression that a notification watches. */
export interface Condition {
  /** Empty: every device of the owner that has one of the sensors [contract 7]. */
  readonly devices: readonly DeviceId[];
  readonly sensors: readonly SensorId[];
  /** As the client wrote it; empty: every push counts. */
  readonly expression: string;
  /** Datapoints that were measured longer ago when they come are passed over; absent: none is. */
  readonly maxAgeSeconds?: number | undefined;
  /** Named devices that were there when it was written; absent: written by an earlier version. */
  readonly bound?: readonly BoundDevice[];
}

/** A device as one of those that had its id: made again under the id it is another one. */
export interface BoundDevice {
  readonly id: DeviceId;
  readonly createdAt: Instant;
}

/** A name of a recipient, and the account that had it at that time. */
export interface BoundAccount {
  readonly username: string;
  readonly id: UserId;
}

/** The action that is done when the condition holds. */
export type Action =
  | {
      readonly kind: 'message';
      /** As the client wrote them. */
      readonly usernames: readonly string[];
      /** Whose accounts they were when they were written; absent: stored before, or new. */
      readonly accounts?: readonly BoundAccount[];
      readonly channels: readonly ChannelName[];
      readonly message: string;
    }
  | {
      readonly kind: 'actuation';
      readonly deviceId: DeviceId;
      /** When the device was made; null: there was none. Absent: of an earlier version. */
      readonly deviceMadeAt?: Instant | null;
      readonly actuatorId: ActuatorId;
      readonly value: JsonValue;
    };

export const notificationStatuses = ['active', 'inactive'] as const;

/** Fields of a notification that a client sets. */
export interface NotificationDraft {
  readonly description?: string | undefined;
  readonly condition: Condition;
  readonly action: Action;
  /** The spelling of the action that the client used last; answered the same way [contract 3]. */
  readonly actionSpelling: 'plain' | 'typed';
  /** As the client wrote it, echoed exactly. */
  readonly expires?: string | undefined;
  /** The least time between two sendings; 0: none. */
  readonly throttlingSeconds?: number | undefined;
  readonly status: (typeof notificationStatuses)[number];
}

/** A standing rule: when the condition holds at a push, the action is done. */
export interface Notification extends NotificationDraft {
  readonly id: NotificationId;
  /** User who made the notification; it fires only while this user may view the data. */
  readonly owner: Username;
  readonly createdAt: Instant;
  readonly modifiedAt: Instant;
}

/** Fields that a PATCH may set; one set to undefined is removed. */
export type NotificationChanges = Partial<NotificationDraft>;

/** Counts and last outcomes of a notification so far. */
export interface Tally {
  /** Messages of all firings. */
  readonly timesSent: number;
  readonly lastFiredAt?: Instant;
  readonly lastSuccessAt?: Instant;
  readonly lastSuccessCode?: number;
  readonly lastFailureAt?: Instant;
  readonly lastFailureReason?: string;
}

/** A notification with its tally, as it is read. */
export interface TalliedNotification {
  readonly notification: Notification;
  readonly tally: Tally;
}

/** A notification's state for one device between two evaluations. */
export interface DeviceState {
  /** Since when the condition holds, for `for`. */
  readonly holdsSince?: Instant;
  /** The notification fired, and its `clear` has not held since. */
  readonly isRaised?: true;
  /** The last sign of life of each sensor whose silence it fired for, so that it is once. */
  readonly silencesTold?: Readonly<Record<string, Instant>>;
  /** The same over all sensors, as it was written before. */
  readonly silenceToldAt?: Instant;
  /** By sensor, when the last datapoint that went into this state was received. */
  readonly firedFor?: Readonly<Record<string, Instant>>;
  /** Which of those that were received at that very millisecond, by sensor; absent: all. */
  readonly firedKeys?: Readonly<Record<string, readonly string[]>>;
}
