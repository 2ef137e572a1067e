import type { ClaimedDelivery, Completion } from '../../domain/notifications/delivery.ts';
import type { OutboxStore } from '../../domain/notifications/outbox-store.ts';
import { createCompleteDelivery } from './completion.ts';
import type { NotificationEngine } from './notification-engine.ts';
import { claimedFromRow } from './notification-row.ts';
import { createClaimDeliveries } from './outbox-claims.ts';
import { payForMessage } from './payment.ts';
import type { ChangeSession, SqlContext } from './session.ts';

// Takes one step through the index for each channel.
const selectNextDue = `
  select min((select min(due_at) from deliveries where status = 'pending' and channel = value))
    as due_at
  from each($1)`;
const setAside = `update deliveries set status = 'damaged', due_at = null where position = $1`;

/** Changes of the outbox. */
export function createOutboxWrites(engine: NotificationEngine) {
  const completeDelivery = createCompleteDelivery(engine);
  return {
    claimDeliveries: createClaimDeliveries(engine),
    payForMessage,
    /** Keeps rows that cannot be understood, and hands them out no more. */
    async setAsideDeliveries(session: ChangeSession, positions: readonly number[]): Promise<void> {
      for (const position of positions) session.send(setAside, position);
    },
    async completeDeliveries(
      session: ChangeSession,
      completions: readonly Completion[],
    ): Promise<void> {
      for (const completion of completions) await completeDelivery(session, completion);
    },
  };
}

/** The outbox in the tables of either engine. */
export function createOutboxStore({
  reader,
  write,
  damaged,
}: SqlContext<ReturnType<typeof createOutboxWrites>>): OutboxStore {
  async function nextDue(channels: readonly string[]): Promise<number | undefined> {
    const row = await reader.first<{ due_at: number | null }>(selectNextDue, channels);
    return row?.due_at ?? undefined;
  }

  return {
    async claimDue(claim) {
      const channels = [...claim.quotas.keys()];
      const first = await nextDue(channels);
      if (first === undefined || first > claim.now) return { claimed: [], nextDueAt: first };
      const rows = await write('claimDeliveries', claim);
      const claimed: ClaimedDelivery[] = [];
      const unreadable: number[] = [];
      for (const row of rows) {
        const found = damaged.read('deliveries', row.position, () => claimedFromRow(row));
        if (found === undefined) unreadable.push(row.position);
        else claimed.push(found);
      }
      if (unreadable.length > 0) await write('setAsideDeliveries', unreadable);
      return { claimed, nextDueAt: await nextDue(channels) };
    },
    complete: (completions) => write('completeDeliveries', completions),
    pay: (payer, channel, at, perDay) => write('payForMessage', payer, channel, at, perDay),
  };
}
