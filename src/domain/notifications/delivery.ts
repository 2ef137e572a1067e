import type { Instant } from '../../lib/clock.ts';
import type { DeviceId, NotificationId, SocialId, UserId } from '../ids.ts';
import type { ChannelName, DeviceState } from './notification.ts';

/** Where a delivery goes: to a user, or to an actuator. */
export type DeliveryTarget = ChannelName | 'actuation';

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
  /** The receiver; for an actuator, the owner. */
  readonly username: string;
  /**
   * The account that had the name when the notification was saved, even if another has it now.
   * Absent in what an earlier version filed.
   */
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
export interface ClaimedDelivery extends Omit<NewDelivery, 'progress' | 'isUnderWay'> {
  readonly id: string;
  /** The notification or social message that the delivery is part of. */
  readonly source:
    | { readonly kind: 'notification'; readonly id: NotificationId }
    | { readonly kind: 'social'; readonly id: SocialId };
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

/** How far a process is with evaluations. */
export interface EvaluationProgress {
  isEnded: boolean;
}

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
  /** The firing may be stored as well once this process ended it: no push waits for that. */
  readonly evaluation?: EvaluationProgress;
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

/** A request for due deliveries. */
export interface Claim {
  readonly now: Instant;
  /** Until then no other process gets what is claimed. */
  readonly leaseEndsAt: Instant;
  /** How many of each channel may be handed out. */
  readonly quotas: ReadonlyMap<DeliveryTarget, number>;
  /** How many of each channel one payer may have under way; absent: all of the quota. */
  readonly perPayerMax?: number;
  /** Numbers of deliveries under way already, by channel and payer. */
  readonly underWay?: ReadonlyMap<DeliveryTarget, ReadonlyMap<string, number>>;
  /** Messages of a paid channel and day (UTC); absent: no end. */
  readonly perDay?: DailyMax;
}

/** How many messages of a paid channel may be tried on one day. */
export interface DailyMax {
  /** Of one payer. */
  readonly each: number;
  /** Of the whole service, over all paid channels. */
  readonly all: number;
}

/** Whether a message of a paid channel may be sent, and if not, what is used up. */
export type Payment = 'paid' | 'no_credit' | 'own_day_full' | 'day_full';

/** Deliveries that are not completed yet, of notifications and of social messages. */
export interface OutboxStore {
  /**
   * Hands out deliveries that are due, one of each payer and then the next of each, each to one
   * claimant until its lease ends; of one payer the longest due first. The first claim of an sms or
   * voice delivery takes one from the credit of who pays for it; without credit, or when the day is
   * full, the delivery is handed out as unpaid.
   */
  claimDue(claim: Claim): Promise<{
    readonly claimed: readonly ClaimedDelivery[];
    /** When the next delivery is due, those just claimed included; undefined: none waits. */
    readonly nextDueAt: Instant | undefined;
  }>;
  /**
   * Records outcomes of claimed deliveries, also in their notification or social message. A
   * delivery that was claimed again since, or that went, is left alone. What failed for good gives
   * its credit back.
   */
  complete(completions: readonly Completion[]): Promise<void>;
  /** Takes one message from the payer's credit and from the day, in one step. */
  pay(payer: string, channel: DeliveryTarget, at: Instant, perDay?: DailyMax): Promise<Payment>;
}

/** The sentence for a message that could not be paid for. */
export function unpaidReason(channel: DeliveryTarget, why: Exclude<Payment, 'paid'>): string {
  switch (why) {
    case 'no_credit':
      return `the sms_credit for the channel ${channel} is used up`;
    case 'own_day_full':
      return `so many messages by ${channel} were sent for you today (KIPIMO_MESSAGES_PER_DAY)`;
    case 'day_full':
      return 'the service sent as many paid messages today as it may (KIPIMO_MESSAGES_PER_DAY_ALL)';
  }
}

/** Channels of which a delivery costs one credit [contract 7]. */
export const paidChannels: readonly DeliveryTarget[] = ['sms', 'voice'];
