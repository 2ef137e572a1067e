import type { DeliveryTarget } from '../../domain/notifications/delivery.ts';
import { type Claim, paidChannels } from '../../domain/notifications/outbox-store.ts';
import { oneOfEach } from '../../lib/scheduling/payer-queues.ts';
import type { NotificationEngine } from './notification-engine.ts';
import type { ClaimedRow } from './notification-row.ts';
import { payForMessage } from './payment.ts';
import type { ChangeSession, SqlSession } from './session.ts';

// Takes one step through the index for each payer, however many deliveries it has.
const selectPayers = `
  with recursive payers (payer) as (
    select min(nocase(payer)) from deliveries where status = 'pending'
    union all
    select (select min(nocase(payer)) from deliveries
      where status = 'pending' and nocase(payer) > payers.payer)
    from payers where payer is not null)
  select payer from payers where payer is not null`;
const selectDue = `
  select position, (select id from notifications where position = notification) as notification_id,
    social, payer, channel, attempts, created_at, is_charged, token, details
  from deliveries
  where status = 'pending' and nocase(payer) = nocase($1) and channel = $2 and due_at <= $3
  order by due_at, position limit $4`;

type DueRow = Omit<ClaimedRow, 'unpaid'> & {
  readonly is_charged: number;
};

const isPaidChannel = new Set<string>(paidChannels);

/** Hands out what is due, one of each payer after the other, and pays for what costs. */
export type ClaimDeliveries = (
  session: ChangeSession,
  order: Claim,
) => Promise<readonly ClaimedRow[]>;

export function createClaimDeliveries({ cluster }: NotificationEngine): ClaimDeliveries {
  const lease = `
    update deliveries set attempts = $1, due_at = $2, is_charged = $3
      ${cluster === undefined ? '' : ', claimed_by = $5'}
    where position = $4`;
  /** The payer that was served last, by channel: the next claim goes on behind it. */
  const lastOf = new Map<string, string>();

  async function dueByPayer(
    session: SqlSession,
    { now, quotas, underWay, perPayerMax = Number.MAX_SAFE_INTEGER }: Claim,
    { channel, payers }: { readonly channel: DeliveryTarget; readonly payers: readonly string[] },
  ): Promise<readonly DueRow[]> {
    const count = quotas.get(channel) ?? 0;
    const last = lastOf.get(channel);
    const isLater = (payer: string): boolean => last !== undefined && payer > last;
    const rotated = [...payers.filter(isLater), ...payers.filter((payer) => !isLater(payer))];
    const lists: (readonly DueRow[])[] = [];
    for (const payer of rotated) {
      const own = Math.min(count, perPayerMax - (underWay?.get(channel)?.get(payer) ?? 0));
      if (own <= 0) continue;
      const rows = await session.all<DueRow>(selectDue, payer, channel, now, own);
      if (rows.length > 0) lists.push(rows);
      if (lists.length >= count) break;
    }
    const lastServed = lists.at(-1)?.[0]?.payer.toLowerCase();
    if (lastServed !== undefined) lastOf.set(channel, lastServed);
    return oneOfEach(lists, count);
  }

  async function claim(
    session: ChangeSession,
    row: DueRow,
    { now, leaseEndsAt, perDay }: Claim,
  ): Promise<ClaimedRow> {
    const { is_charged, ...claimed } = row;
    const attempts = row.attempts + 1;
    const isFree = is_charged === 1 || !isPaidChannel.has(row.channel);
    const outcome = isFree
      ? undefined
      : await payForMessage(session, row.payer, row.channel, now, perDay);
    const isCharged = Number(is_charged === 1 || outcome === 'paid');
    const by = cluster === undefined ? [] : [cluster.member];
    session.send(lease, attempts, leaseEndsAt, isCharged, row.position, ...by);
    return { ...claimed, attempts, unpaid: outcome === 'paid' ? undefined : outcome };
  }

  return async (session, order) => {
    const rows = await session.all<{ payer: string }>(selectPayers);
    // In the order of the index, which does not see the case of letters.
    const payers = rows.map(({ payer }) => payer.toLowerCase());
    const claimed: ClaimedRow[] = [];
    for (const channel of order.quotas.keys()) {
      for (const row of await dueByPayer(session, order, { channel, payers })) {
        claimed.push(await claim(session, row, order));
      }
    }
    return claimed;
  };
}
