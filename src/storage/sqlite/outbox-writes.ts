import type { DatabaseSync } from 'node:sqlite';
import type { Settlement } from '../../domain/notifications/delivery.ts';
import { paidChannels } from '../../domain/notifications/outbox-store.ts';
import { type ClaimedRow, type DeliveryDetails, deliveryDetails } from '../sql/notification-row.ts';
import { createSelection } from './selection.ts';

/** A claim as it crosses to the writer thread. */
export interface ClaimOrder {
  readonly now: number;
  readonly leaseEndsAt: number;
  readonly rooms: readonly (readonly [channel: string, count: number])[];
}

const selectDue = `
  select position, (select id from notifications where position = notification) as notification_id,
    social, payer, channel, attempts, created_at, is_charged, details
  from deliveries where status = 'pending' and channel = ? and due_at <= ?
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
const deleteDelivery = 'delete from deliveries where position = ?';
const recordSuccess = `
  update notifications set last_success_at = ?, last_success_code = ? where position = ?`;
const recordFailure = `
  update notifications set last_failure_at = ?, last_failure_reason = ? where position = ?`;
const selectSocial = 'select details from socials where id = ?';
const updateSocial = 'update socials set status = ?, details = ? where id = ?';

type DueRow = Omit<ClaimedRow, 'is_unpaid'> & {
  readonly payer: string;
  readonly is_charged: number;
};

interface ClaimedState {
  readonly notification: number | null;
  readonly social: string | null;
  readonly payer: string;
  readonly is_charged: number;
  readonly details: string;
}

/** What the writer thread does to the outbox. */
export function createOutboxWrites(database: DatabaseSync) {
  const due = createSelection<DueRow>(database, selectDue);
  const takeLease = database.prepare(lease);
  const take = database.prepare(takeCredit);
  const unlimited = createSelection<{ yes: number }>(database, isUnlimited);
  const settleOne = createSettle(database);
  const isPaid = new Set<string>(paidChannels);

  function claim(row: DueRow, leaseEndsAt: number): ClaimedRow {
    const { payer, is_charged, ...claimed } = row;
    const attempts = row.attempts + 1;
    let isCharged = is_charged === 1;
    let isUnpaid = false;
    if (!isCharged && isPaid.has(row.channel)) {
      isCharged = take.run(payer).changes > 0;
      isUnpaid = !isCharged && unlimited.first(payer) === undefined;
    }
    takeLease.run(attempts, leaseEndsAt, Number(isCharged), row.position);
    return { ...claimed, attempts, is_unpaid: isUnpaid };
  }

  return {
    claimDeliveries: ({ now, leaseEndsAt, rooms }: ClaimOrder): readonly ClaimedRow[] =>
      rooms.flatMap(([channel, count]) =>
        due.all(channel, now, count).map((row) => claim(row, leaseEndsAt)),
      ),
    settleDeliveries(settlements: readonly Settlement[]): void {
      for (const settlement of settlements) settleOne(settlement);
    },
  };
}

function createSettle(database: DatabaseSync): (settlement: Settlement) => void {
  const claimed = createSelection<ClaimedState>(database, selectClaimed);
  const update = database.prepare(updateDelivery);
  const remove = database.prepare(deleteDelivery);
  const give = database.prepare(giveCredit);
  const succeed = database.prepare(recordSuccess);
  const fail = database.prepare(recordFailure);
  const tellSocial = createSocialTeller(database);

  return (settlement) => {
    const position = Number(settlement.id);
    const found = claimed.first(position, settlement.attempts);
    if (found === undefined) return;
    const { kind, at } = settlement;
    if (kind === 'failed' && found.is_charged === 1) give.run(found.payer);
    if (found.social !== null && kind !== 'retry') {
      tellSocial(found.social, settlement);
      remove.run(position);
      return;
    }
    const { username, message } = JSON.parse(found.details) as DeliveryDetails;
    const reason = kind === 'sent' ? undefined : settlement.reason;
    const status = kind === 'retry' ? 'pending' : kind;
    const dueAt = kind === 'retry' ? settlement.dueAt : null;
    const sentAt = kind === 'sent' ? at : null;
    const charged = kind === 'failed' ? 0 : found.is_charged;
    const details = deliveryDetails({ username, message, reason });
    update.run(status, dueAt, sentAt, charged, details, position);
    if (found.notification === null) return;
    if (kind === 'sent') succeed.run(at, settlement.code, found.notification);
    else fail.run(at, JSON.stringify(reason), found.notification);
  };
}

function createSocialTeller(database: DatabaseSync) {
  const social = createSelection<{ details: string }>(database, selectSocial);
  const update = database.prepare(updateSocial);
  return (id: string, settlement: Settlement): void => {
    const found = social.first(id);
    if (found === undefined) return;
    const details = JSON.parse(found.details) as object;
    const isFailed = settlement.kind === 'failed';
    const told = isFailed ? { ...details, reason: settlement.reason } : details;
    update.run(isFailed ? 'failed' : 'sent', JSON.stringify(told), id);
  };
}
