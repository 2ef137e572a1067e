import type { DatabaseSync } from 'node:sqlite';
import type { Completion } from '../../domain/notifications/delivery.ts';
import {
  type DailyMax,
  oneOfEach,
  type Payment,
  paidChannels,
} from '../../domain/notifications/outbox-store.ts';
import {
  type ClaimedRow,
  type DeliveryDetails,
  deliveryDetails,
  positionOf,
} from '../sql/notification-row.ts';
import { createSelection } from './selection.ts';

/** A claim as it crosses to the writer thread. */
export interface ClaimOrder {
  readonly now: number;
  readonly leaseEndsAt: number;
  readonly rooms: readonly RoomOrder[];
  readonly perDay?: DailyMax;
}

/** The quota of deliveries that may be handed out of one channel. */
export interface RoomOrder {
  readonly channel: string;
  readonly count: number;
  readonly perPayerMax: number;
  /** Number of deliveries under way already, by payer. */
  readonly underWay: ReadonlyMap<string, number>;
}

// Takes one step through the index for each payer, however many deliveries it has.
const selectPayers = `
  with recursive payers (payer) as (
    select min(payer) from deliveries where status = 'pending'
    union all
    select (select min(payer) from deliveries where status = 'pending' and payer > payers.payer)
    from payers where payer is not null)
  select payer from payers where payer is not null`;
const selectDue = `
  select position, (select id from notifications where position = notification) as notification_id,
    social, payer, channel, attempts, created_at, is_charged, token, details
  from deliveries indexed by deliveries_by_turn
  where status = 'pending' and payer = ? and channel = ? and due_at <= ?
  order by due_at, position limit ?`;
const lease = 'update deliveries set attempts = ?, due_at = ?, is_charged = ? where position = ?';
const takeCredit = `
  update users set sms_credit = sms_credit - 1 where username = ? and sms_credit >= 1`;
const isUnlimited = 'select 1 as yes from users where username = ? and sms_credit is null';
const giveCredit = `
  update users set sms_credit = sms_credit + 1 where username = ? and sms_credit is not null`;
const selectClaimed = `
  select notification, social, payer, is_charged, details
  from deliveries where position = ? and attempts = ? and status = 'pending'`;
const updateDelivery = `
  update deliveries set status = ?, due_at = ?, sent_at = ?, is_charged = ?, details = ?
  where position = ?`;
const setAside = `update deliveries set status = 'damaged', due_at = null where position = ?`;
const deleteDelivery = 'delete from deliveries where position = ?';
const recordSuccess = `
  update notifications set last_success_at = ?, last_success_code = ? where position = ?`;
const recordFailure = `
  update notifications set last_failure_at = ?, last_failure_reason = ? where position = ?`;
const selectSocial = 'select details from socials where id = ?';
const updateSocial = 'update socials set status = ?, details = ? where id = ?';

type DueRow = Omit<ClaimedRow, 'unpaid'> & {
  readonly is_charged: number;
};

interface ClaimedState {
  readonly notification: number | null;
  readonly social: string | null;
  readonly payer: string;
  readonly is_charged: number;
  readonly details: string;
}

/** The changes that the writer thread makes to the outbox. */
export function createOutboxWrites(database: DatabaseSync) {
  const due = createSelection<DueRow>(database, selectDue);
  const payers = createSelection<{ payer: string }>(database, selectPayers);
  const takeLease = database.prepare(lease);
  const payment = createPayment(database);
  const completeOne = createComplete(database);
  const keepDamaged = database.prepare(setAside);
  const isPaid = new Set<string>(paidChannels);
  /** Whose delivery was the last of the first round, by channel: the next claim goes on there. */
  const lastOf = new Map<string, string>();

  function claim(row: DueRow, { now, leaseEndsAt, perDay }: ClaimOrder): ClaimedRow {
    const { is_charged, ...claimed } = row;
    const attempts = row.attempts + 1;
    const isFree = is_charged === 1 || !isPaid.has(row.channel);
    const outcome = isFree ? undefined : payment.take(row.payer, row.channel, now, perDay);
    const isCharged = is_charged === 1 || outcome === 'paid';
    takeLease.run(attempts, leaseEndsAt, Number(isCharged), row.position);
    return { ...claimed, attempts, unpaid: outcome === 'paid' ? undefined : outcome };
  }

  function dueInTurn(room: RoomOrder, all: readonly string[], now: number): readonly DueRow[] {
    const { channel, count, perPayerMax, underWay } = room;
    const last = lastOf.get(channel);
    // In the order of the index, which does not see the case of letters.
    const isLater = (payer: string): boolean => last !== undefined && payer.toLowerCase() > last;
    const rotated = [...all.filter(isLater), ...all.filter((payer) => !isLater(payer))];
    const lists: (readonly DueRow[])[] = [];
    for (const payer of rotated) {
      const own = Math.min(count, perPayerMax - (underWay.get(payer.toLowerCase()) ?? 0));
      const rows = own > 0 ? due.all(payer, channel, now, own) : [];
      if (rows.length > 0) lists.push(rows);
      if (lists.length >= count) break;
    }
    const lastServed = lists.at(-1)?.[0]?.payer.toLowerCase();
    if (lastServed !== undefined) lastOf.set(channel, lastServed);
    return oneOfEach(lists, count);
  }

  return {
    claimDeliveries(order: ClaimOrder): readonly ClaimedRow[] {
      const all = payers.all().map(({ payer }) => payer);
      return order.rooms.flatMap((room) =>
        dueInTurn(room, all, order.now).map((row) => claim(row, order)),
      );
    },
    payForMessage: (payer: string, channel: string, at: number, perDay?: DailyMax): Payment =>
      payment.take(payer, channel, at, perDay),
    /** Keeps rows that cannot be understood, and hands them out no more. */
    setAsideDeliveries(positions: readonly number[]): void {
      for (const position of positions) keepDamaged.run(position);
    },
    completeDeliveries(completions: readonly Completion[]): void {
      for (const completion of completions) completeOne(completion);
    },
  };
}

const dayMs = 86_400_000;
const selectOfDay = `
  select coalesce(sum(count) filter (where payer = ?2 and channel = ?3), 0) as own,
    coalesce(sum(count), 0) as total
  from paid_messages where day = ?1`;
const countMessage = `
  insert into paid_messages (day, payer, channel, count) values (?, ?, ?, 1)
  on conflict do update set count = count + 1`;
const deleteEarlierDays = 'delete from paid_messages where day < ?';

/** The payment for messages of paid channels. */
function createPayment(database: DatabaseSync) {
  const take = database.prepare(takeCredit);
  const unlimited = createSelection<{ yes: number }>(database, isUnlimited);
  const ofDay = createSelection<{ own: number; total: number }>(database, selectOfDay);
  const count = database.prepare(countMessage);
  const forget = database.prepare(deleteEarlierDays);

  return {
    take(payer: string, channel: string, at: number, perDay?: DailyMax): Payment {
      const day = Math.floor(at / dayMs);
      if (perDay !== undefined) {
        const { own = 0, total = 0 } = ofDay.first(day, payer, channel) ?? {};
        if (own >= perDay.each) return 'own_day_full';
        if (total >= perDay.all) return 'day_full';
      }
      const isPaid = take.run(payer).changes > 0 || unlimited.first(payer) !== undefined;
      if (!isPaid) return 'no_credit';
      count.run(day, payer, channel);
      forget.run(day - 1);
      return 'paid';
    },
  };
}

function createComplete(database: DatabaseSync): (completion: Completion) => void {
  const claimed = createSelection<ClaimedState>(database, selectClaimed);
  const update = database.prepare(updateDelivery);
  const remove = database.prepare(deleteDelivery);
  const give = database.prepare(giveCredit);
  const succeed = database.prepare(recordSuccess);
  const fail = database.prepare(recordFailure);
  const tellSocial = createSocialTeller(database);

  return (completion) => {
    const position = positionOf(completion.id);
    const found = claimed.first(position, completion.attempts);
    if (found === undefined) return;
    const { kind, at } = completion;
    if (kind === 'failed' && found.is_charged === 1) give.run(found.payer);
    if (found.social !== null && kind !== 'retry') {
      tellSocial(found.social, completion);
      remove.run(position);
      return;
    }
    const filed = JSON.parse(found.details) as DeliveryDetails;
    const reason = kind === 'sent' ? undefined : completion.reason;
    const status = kind === 'retry' ? 'pending' : kind;
    const dueAt = kind === 'retry' ? completion.dueAt : null;
    const sentAt = kind === 'sent' ? at : null;
    const charged = kind === 'failed' ? 0 : found.is_charged;
    const details = deliveryDetails({ ...filed, reason });
    update.run(status, dueAt, sentAt, charged, details, position);
    if (found.notification === null) return;
    if (kind === 'sent') succeed.run(at, completion.code, found.notification);
    else fail.run(at, JSON.stringify(reason), found.notification);
  };
}

function createSocialTeller(database: DatabaseSync) {
  const social = createSelection<{ details: string }>(database, selectSocial);
  const update = database.prepare(updateSocial);
  return (id: string, completion: Completion): void => {
    const found = social.first(id);
    if (found === undefined) return;
    const details = JSON.parse(found.details) as object;
    const isFailed = completion.kind === 'failed';
    const told = isFailed ? { ...details, reason: completion.reason } : details;
    update.run(isFailed ? 'failed' : 'sent', JSON.stringify(told), id);
  };
}
