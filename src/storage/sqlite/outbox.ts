import type { ClaimedDelivery } from '../../domain/notifications/delivery.ts';
import type { OutboxStore } from '../../domain/notifications/outbox-store.ts';
import { claimedFromRow } from '../sql/notification-row.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectNextDue = `
  select min(due_at) as due_at from deliveries where status = 'pending' and channel in (
    select value from json_each(?))`;

/** The outbox in SQLite. */
export function createOutboxStore({ reader, writer, damaged }: StoreContext): OutboxStore {
  const nextDue = createSelection<{ due_at: number | null }>(reader, selectNextDue);

  return {
    async claimDue(claim) {
      const { now, leaseEndsAt, rooms, underWay, perDay } = claim;
      const { perPayerMax = Number.MAX_SAFE_INTEGER } = claim;
      const channels = JSON.stringify([...rooms.keys()]);
      const next = () => readSafely(() => nextDue.first(channels)?.due_at ?? undefined);
      const first = await next();
      if (first === undefined || first > now) return { claimed: [], nextDueAt: first };
      const order = {
        ...{ now, leaseEndsAt },
        rooms: [...rooms].map(([channel, count]) => ({
          ...{ channel, count, perPayerMax },
          underWay: underWay?.get(channel) ?? new Map<string, number>(),
        })),
        ...(perDay !== undefined && { perDay }),
      };
      const rows = await writer.call('claimDeliveries', order);
      const claimed: ClaimedDelivery[] = [];
      const unreadable: number[] = [];
      for (const row of rows) {
        const found = damaged.read('deliveries', row.position, () => claimedFromRow(row));
        if (found === undefined) unreadable.push(row.position);
        else claimed.push(found);
      }
      if (unreadable.length > 0) await writer.call('setAsideDeliveries', unreadable);
      return { claimed, nextDueAt: await next() };
    },
    complete: (completions) => writer.call('completeDeliveries', completions),
    pay: (payer, channel, at, perDay) => writer.call('payForMessage', payer, channel, at, perDay),
  };
}
