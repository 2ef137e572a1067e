import type { Instant } from '../../lib/clock.ts';
import type { ClaimedDelivery, DeliveryWay, Settlement } from './delivery.ts';

/** What a claim asks for. */
export interface Claim {
  readonly now: Instant;
  /** Until then nobody else gets what is claimed. */
  readonly leaseEndsAt: Instant;
  /** How many of each channel may be handed out. */
  readonly rooms: ReadonlyMap<DeliveryWay, number>;
}

export interface ClaimOutcome {
  readonly claimed: readonly ClaimedDelivery[];
  /** When the next delivery is due, those just claimed included; undefined: none waits. */
  readonly nextDueAt: Instant | undefined;
}

/** Deliveries that are not settled yet, of notifications and of social messages. */
export interface OutboxStore {
  /**
   * Hands out deliveries that are due, the longest due first, each to one claimant until its lease
   * ends. The first claim of an sms or voice delivery takes one from the credit of who pays for it;
   * without credit the delivery is handed out as unpaid.
   */
  claimDue(claim: Claim): Promise<ClaimOutcome>;
  /**
   * Records what became of claimed deliveries, and what their notification or social message tells
   * of it. A delivery that was claimed again since, or that went, is left alone. What failed for
   * good gives its credit back.
   */
  settle(settlements: readonly Settlement[]): Promise<void>;
}

/** Channels of which a delivery costs one credit [contract 7]. */
export const paidChannels: readonly DeliveryWay[] = ['sms', 'voice'];
