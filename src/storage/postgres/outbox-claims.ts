import { type Claim, oneOfEach, paidChannels } from '../../domain/notifications/outbox-store.ts';
import type { ClaimedRow } from '../sql/notification-row.ts';
import type { SqlSession } from '../sql/session.ts';
import { payForMessage } from './payment.ts';

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
  where status = 'pending' and nocase(payer) = $1 and channel = $2 and due_at <= $3
  order by due_at, position limit $4`;
const lease = `
  update deliveries set attempts = $1, due_at = $2, is_charged = $3, claimed_by = $4
  where position = $5`;

type DueRow = Omit<ClaimedRow, 'unpaid'> & {
  readonly is_charged: number;
};

const isPaidChannel = new Set<string>(paidChannels);

/** A claim of this member; `lastOf` says where the turns of a channel go on. */
export interface ClaimTurn {
  readonly order: Claim;
  readonly lastOf: Map<string, string>;
  readonly member: number;
}

/** Hands out what is due, in turns by payer. */
export async function claimDeliveries(
  session: SqlSession,
  { order, lastOf, member }: ClaimTurn,
): Promise<readonly ClaimedRow[]> {
  const rows = await session.all<{ payer: string }>(selectPayers);
  const payers = rows.map(({ payer }) => payer);
  const claimed: ClaimedRow[] = [];
  for (const [channel, count] of order.rooms) {
    for (const row of await dueInTurn(session, { order, channel, count, payers, lastOf })) {
      claimed.push(await claim(session, row, order, member));
    }
  }
  return claimed;
}

async function dueInTurn(
  session: SqlSession,
  options: {
    readonly order: Claim;
    readonly channel: Parameters<Claim['rooms']['get']>[0];
    readonly count: number;
    readonly payers: readonly string[];
    readonly lastOf: Map<string, string>;
  },
): Promise<readonly DueRow[]> {
  const { order, channel, count, payers, lastOf } = options;
  const { perPayerMax = Number.MAX_SAFE_INTEGER } = order;
  const underWay = order.underWay?.get(channel);
  const last = lastOf.get(channel);
  const isLater = (payer: string): boolean => last !== undefined && payer > last;
  const rotated = [...payers.filter(isLater), ...payers.filter((payer) => !isLater(payer))];
  const lists: (readonly DueRow[])[] = [];
  for (const payer of rotated) {
    const own = Math.min(count, perPayerMax - (underWay?.get(payer) ?? 0));
    if (own <= 0) continue;
    const rows = await session.all<DueRow>(selectDue, payer, channel, order.now, own);
    if (rows.length > 0) lists.push(rows);
    if (lists.length >= count) break;
  }
  const lastServed = lists.at(-1)?.[0]?.payer.toLowerCase();
  if (lastServed !== undefined) lastOf.set(channel, lastServed);
  return oneOfEach(lists, count);
}

async function claim(
  session: SqlSession,
  row: DueRow,
  { now, leaseEndsAt, perDay }: Claim,
  member: number,
): Promise<ClaimedRow> {
  const { is_charged, ...claimed } = row;
  const attempts = row.attempts + 1;
  const isFree = is_charged === 1 || !isPaidChannel.has(row.channel);
  const outcome = isFree
    ? undefined
    : await payForMessage(session, row.payer, row.channel, now, perDay);
  const isCharged = is_charged === 1 || outcome === 'paid';
  await session.run(lease, attempts, leaseEndsAt, Number(isCharged), member, row.position);
  return { ...claimed, attempts, unpaid: outcome === 'paid' ? undefined : outcome };
}
