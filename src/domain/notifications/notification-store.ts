import type { Instant } from '../../lib/clock.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import type { FiledDelivery, Firing, FiringOutcome } from './delivery.ts';
import type {
  DeviceState,
  Notification,
  NotificationChanges,
  TalliedNotification,
  Tally,
} from './notification.ts';

/** A notification with what it remembers of each device. */
export interface StoredNotification extends TalliedNotification {
  readonly states: ReadonlyMap<DeviceId, DeviceState>;
}

/** A notification's state for one device from now on. */
export interface StateChange {
  readonly notificationId: NotificationId;
  readonly deviceId: DeviceId;
  readonly state: DeviceState;
}

/** Where notifications are kept, with their deliveries. */
export interface NotificationStore {
  /**
   * missing: the owner's account ended meanwhile. too_many: it has notificationsPerUserMax. A tally
   * is given where a notification comes from another installation.
   */
  insert(notification: Notification, tally?: Tally): Promise<'inserted' | 'missing' | 'too_many'>;
  find(id: NotificationId): Promise<TalliedNotification | undefined>;
  /** Finds the notifications that exist, in the order asked for. */
  findMany(ids: readonly NotificationId[]): Promise<readonly TalliedNotification[]>;
  /** All of them, in order of creation. */
  load(): Promise<readonly StoredNotification[]>;
  /** A changed condition forgets what the notification remembers of devices. */
  update(
    id: NotificationId,
    changes: NotificationChanges,
    at: Instant,
  ): Promise<'updated' | 'missing'>;
  /** Removes it with its deliveries, in one step. */
  remove(id: NotificationId): Promise<'removed' | 'missing'>;
  /** Keeps states that changed without a firing; those of notifications that went are dropped. */
  saveStates(changes: readonly StateChange[]): Promise<void>;
  /**
   * Claims the throttling window of each firing and files its deliveries, in one commit and in
   * order: of those with the same window one gets through. Counts their messages. When too many
   * deliveries of a notification wait, further ones are filed as failed.
   */
  fire(firings: readonly Firing[]): Promise<readonly FiringOutcome[]>;
  /** Newest first. */
  deliveries(
    id: NotificationId,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly deliveries: readonly FiledDelivery[]; readonly total: number }>;
}

/** Why a delivery is not even filed as waiting. */
export const outboxFull = 'too many messages of this notification wait already';
