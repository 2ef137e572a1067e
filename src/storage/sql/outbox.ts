import {
  type Claim,
  type ClaimedDelivery,
  type Completion,
  type DailyMax,
  type DeliveryTarget,
  type OutboxStore,
  type Payment,
  paidChannels,
} from '../../domain/notifications/delivery.ts';
import { oneOfEach } from '../../lib/scheduling/payer-queues.ts';
import {
  type ClaimedRow,
  claimedFromRow,
  type DeliveryDetails,
  deliveryDetails,
  type NotificationEngine,
  positionOf,
} from './firing.ts';
import type { ChangeSession, SqlContext, SqlSession, Writes } from './session.ts';

const selectClaimed = `
  select notification, social, payer, is_charged, details
  from deliveries where position = $1 and attempts = $2 and status = 'pending'`;
const giveCredit = `
  update users set sms_credit = sms_credit + 1
  where nocase(username) = nocase($1) and sms_credit is not null`;
const deleteDelivery = 'delete from deliveries where position = $1';
const recordSuccess = `
  update notifications set last_success_at = $1, last_success_code = $2 where position = $3`;
const recordFailure = `
  update notifications set last_failure_at = $1, last_failure_reason = $2 where position = $3`;
const selectSocial = 'select details from socials where id = $1';
const changeSocial = 'update socials set status = $1, details = $2 where id = $3';

/** Records the outcome of a delivery, unless it was claimed again since. */
function createCompleteDelivery({ cluster }: NotificationEngine) {
  const updateDelivery = `
    update deliveries set status = $1, due_at = $2, sent_at = $3, is_charged = $4, details = $5
      ${cluster === undefined ? '' : ', claimed_by = null'}
    where position = $6`;

  return async (session: ChangeSession, completion: Completion): Promise<void> => {
    const position = positionOf(completion.id);
    // An id that is not ours names none.
    if (!Number.isSafeInteger(position)) return;
    const found = await session.first<{
      readonly notification: number | null;
      readonly social: string | null;
      readonly payer: string;
      readonly is_charged: number;
      readonly details: string;
    }>(selectClaimed, position, completion.attempts);
    if (found === undefined) return;
    const { kind, at } = completion;
    if (kind === 'failed' && found.is_charged === 1) session.send(giveCredit, found.payer);
    if (found.social !== null && kind !== 'retry') {
      await updateSocial(session, found.social, completion);
      session.send(deleteDelivery, position);
      return;
    }
    const filed = JSON.parse(found.details) as DeliveryDetails;
    const reason = kind === 'sent' ? undefined : completion.reason;
    const status = kind === 'retry' ? 'pending' : kind;
    const dueAt = kind === 'retry' ? completion.dueAt : null;
    const sentAt = kind === 'sent' ? at : null;
    const charged = kind === 'failed' ? 0 : found.is_charged;
    const details = deliveryDetails({ ...filed, reason });
    session.send(updateDelivery, status, dueAt, sentAt, charged, details, position);
    if (found.notification === null) return;
    if (kind === 'sent') session.send(recordSuccess, at, completion.code, found.notification);
    else session.send(recordFailure, at, JSON.stringify(reason), found.notification);
  };
}

async function updateSocial(
  session: ChangeSession,
  id: string,
  completion: Completion,
): Promise<void> {
  const found = await session.first<{ details: string }>(selectSocial, id);
  if (found === undefined) return;
  const details = JSON.parse(found.details) as object;
  const isFailed = completion.kind === 'failed';
  const text = JSON.stringify(isFailed ? { ...details, reason: completion.reason } : details);
  session.send(changeSocial, isFailed ? 'failed' : 'sent', text, id);
}

const dayMs = 86_400_000;
const isPayer = 'nocase(username) = nocase($1)';
const takeCredit = `
  update users set sms_credit = sms_credit - 1 where ${isPayer} and sms_credit >= 1`;
const isUnlimited = `select 1 as yes from users where ${isPayer} and sms_credit is null`;
const selectOfDay = `
  select coalesce(sum(count) filter (where nocase(payer) = nocase($2) and channel = $3), 0) as own,
    coalesce(sum(count), 0) as total
  from paid_messages where day = $1`;
const countMessage = `
  insert into paid_messages (day, payer, channel, count) values ($1, $2, $3, 1)
  on conflict (day, nocase(payer), channel) do update set count = paid_messages.count + 1`;
const deleteEarlierDays = 'delete from paid_messages where day < $1';

/** Takes one message from the payer's credit and from the day. */
async function payForMessage(
  session: SqlSession,
  payer: string,
  channel: string,
  at: number,
  perDay?: DailyMax,
): Promise<Payment> {
  const day = Math.floor(at / dayMs);
  if (perDay !== undefined) {
    const { own = 0, total = 0 } =
      (await session.first<{ own: number; total: number }>(selectOfDay, day, payer, channel)) ?? {};
    if (own >= perDay.each) return 'own_day_full';
    if (total >= perDay.all) return 'day_full';
  }
  const isPaid =
    (await session.run(takeCredit, payer)) > 0 ||
    (await session.first(isUnlimited, payer)) !== undefined;
  if (!isPaid) return 'no_credit';
  await session.run(countMessage, day, payer, channel);
  await session.run(deleteEarlierDays, day - 1);
  return 'paid';
}

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
function createClaimDeliveries({ cluster }: NotificationEngine) {
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

  return async (session: ChangeSession, order: Claim): Promise<readonly ClaimedRow[]> => {
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
    async setAsideDeliveries(session, positions: readonly number[]) {
      for (const position of positions) session.send(setAside, position);
    },
    async completeDeliveries(session, completions: readonly Completion[]) {
      for (const completion of completions) await completeDelivery(session, completion);
    },
  } satisfies Writes;
}

/** The outbox in the tables of either engine. */
export function createOutboxStore(
  options: SqlContext<ReturnType<typeof createOutboxWrites>>,
): OutboxStore {
  const { reader, write, damaged } = options;
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
