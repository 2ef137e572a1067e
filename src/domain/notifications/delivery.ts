import type { Instant } from '../../lib/clock.ts';
import type { DeviceId, NotificationId, SocialId, UserId } from '../ids.ts';
import type { ChannelName, DeviceState } from './notification.ts';

/** Where a delivery goes: to a user, or to an actuator. */
export type DeliveryTarget = ChannelName | 'actuation';

/** The notification or social message that a delivery is part of. */
type DeliverySource =
  | { readonly kind: 'notification'; readonly id: NotificationId }
  | { readonly kind: 'social'; readonly id: SocialId };

/** How far a delivery came. */
export type DeliveryProgress =
  | {
      readonly status: 'pending';
      /** When it is tried next, or given to another process if this one says nothing. */
      readonly dueAt: Instant;
      /** Why the last try failed. */
      readonly reason?: string;
    }
  | { readonly status: 'sent'; readonly sentAt: Instant }
  | { readonly status: 'failed'; readonly reason: string };

/** A message to one user on one channel, or one setting of an actuator. */
export interface NewDelivery {
  /** Whom it reaches; the owner, for an actuator. */
  readonly username: string;
  /** The account that had the name when the notification was saved. */
  readonly accountId?: UserId;
  readonly channel: DeliveryTarget;
  /** The text, or what the actuator is set to as JSON. */
  readonly message: string;
  readonly progress: DeliveryProgress;
  /** The process that files the delivery tries it at once; other processes may from `dueAt` on. */
  readonly isUnderWay?: true;
}

/** A delivery of a notification, as it is listed. */
export interface FiledDelivery extends Omit<NewDelivery, 'isUnderWay' | 'accountId'> {
  readonly attempts: number;
  readonly createdAt: Instant;
}

/** A delivery that this process has to try now; no other process does before the lease ends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly source: DeliverySource;
  readonly username: string;
  /** The account it is for, even if another has its name; absent: filed by an earlier version. */
  readonly accountId?: UserId;
  readonly channel: DeliveryTarget;
  readonly message: string;
  readonly createdAt: Instant;
  /** Tries so far, with this one; also distinguishes two claims of the same delivery. */
  readonly attempts: number;
  /** The payer of the delivery; due deliveries are sent in rotation between payers. */
  readonly payer: string;
  /** Why the delivery could not be paid for. */
  readonly unpaid?: 'no_credit' | 'own_day_full' | 'day_full';
}

/** The outcome of a try, as it is recorded. */
export type Completion = {
  readonly id: string;
  readonly attempts: number;
  readonly at: Instant;
} & (
  | { readonly kind: 'sent'; readonly code: number }
  | { readonly kind: 'retry'; readonly dueAt: Instant; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
);

/** A moment at which a condition held, on its way to the store. */
export interface Firing {
  readonly notificationId: NotificationId;
  readonly deviceId: DeviceId;
  readonly at: Instant;
  /** No firing between `at` and so long before. */
  readonly throttlingMs: number;
  readonly deliveries: readonly NewDelivery[];
  /** The notification's state for the device from now on. */
  readonly state: DeviceState;
  /** The evaluation that it came of, where several processes serve the same data. */
  readonly evaluationId?: string;
  /** The firing may be stored after that evaluation ended: no push waits for it. */
  readonly isAfterEvaluation?: true;
}

/**
 * The outcome of storing a firing; throttled: the window is taken since `lastFiredAt`; taken:
 * another process runs its evaluation.
 */
export type FiringOutcome =
  | { readonly kind: 'fired'; readonly deliveryIds: readonly string[] }
  | { readonly kind: 'throttled'; readonly lastFiredAt: Instant }
  | { readonly kind: 'inactive' }
  | { readonly kind: 'taken' }
  | { readonly kind: 'gone' };
