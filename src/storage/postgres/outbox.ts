import type { ClaimedDelivery } from '../../domain/notifications/delivery.ts';
import type { OutboxStore } from '../../domain/notifications/outbox-store.ts';
import { claimedFromRow } from '../sql/notification-row.ts';
import { completeDelivery } from './completion.ts';
import { claimDeliveries } from './outbox-claims.ts';
import { payForMessage } from './payment.ts';
import type { ClaimContext } from './store-context.ts';

const selectNextDue = `
  select min(due_at) as due_at from deliveries
  where status = 'pending' and channel = any($1::text[])`;
const setAside = `
  update deliveries set status = 'damaged', due_at = null where position = any($1::bigint[])`;

/** The outbox in PostgreSQL. */
export function createOutboxStore({ reader, writer, damaged, member }: ClaimContext): OutboxStore {
  /** Whose delivery was the last of the first round, by channel: the next claim goes on there. */
  const lastOf = new Map<string, string>();

  async function nextDue(channels: readonly string[]): Promise<number | undefined> {
    const row = await reader.first<{ due_at: number | null }>(selectNextDue, channels);
    return row?.due_at ?? undefined;
  }

  return {
    async claimDue(claim) {
      const channels = [...claim.rooms.keys()];
      const first = await nextDue(channels);
      if (first === undefined || first > claim.now) return { claimed: [], nextDueAt: first };
      const rows = await writer.call((tx) => claimDeliveries(tx, { order: claim, lastOf, member }));
      const claimed: ClaimedDelivery[] = [];
      const unreadable: number[] = [];
      for (const row of rows) {
        const found = damaged.read('deliveries', row.position, () => claimedFromRow(row));
        if (found === undefined) unreadable.push(row.position);
        else claimed.push(found);
      }
      // Rows that cannot be understood are kept, and handed out no more.
      if (unreadable.length > 0) await writer.call((tx) => tx.run(setAside, unreadable));
      return { claimed, nextDueAt: await nextDue(channels) };
    },
    complete: (completions) =>
      writer.call(async (tx) => {
        for (const completion of completions) await completeDelivery(tx, completion);
      }),
    pay: (payer, channel, at, perDay) =>
      writer.call((tx) => payForMessage(tx, payer, channel, at, perDay)),
  };
}
