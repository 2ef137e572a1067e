import type { Instant } from '../../lib/clock.ts';
import type { ClaimedDelivery, Completion, DeliveryTarget } from './delivery.ts';

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

export interface ClaimOutcome {
  readonly claimed: readonly ClaimedDelivery[];
  /** When the next delivery is due, those just claimed included; undefined: none waits. */
  readonly nextDueAt: Instant | undefined;
}

/** Deliveries that are not completed yet, of notifications and of social messages. */
export interface OutboxStore {
  /**
   * Hands out deliveries that are due, one of each payer and then the next of each, each to one
   * claimant until its lease ends; of one payer the longest due first. The first claim of an sms or
   * voice delivery takes one from the credit of who pays for it; without credit, or when the day is
   * full, the delivery is handed out as unpaid.
   */
  claimDue(claim: Claim): Promise<ClaimOutcome>;
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
