import type { Completion } from '../../domain/notifications/delivery.ts';
import { type DeliveryDetails, deliveryDetails, positionOf } from '../sql/notification-row.ts';
import type { SqlSession } from '../sql/session.ts';

const selectClaimed = `
  select notification, social, payer, is_charged, details
  from deliveries where position = $1 and attempts = $2 and status = 'pending'`;
const giveCredit = `
  update users set sms_credit = sms_credit + 1
  where nocase(username) = nocase($1) and sms_credit is not null`;
const updateDelivery = `
  update deliveries set status = $1, due_at = $2, sent_at = $3, is_charged = $4, details = $5,
    claimed_by = null
  where position = $6`;
const deleteDelivery = 'delete from deliveries where position = $1';
const recordSuccess = `
  update notifications set last_success_at = $1, last_success_code = $2 where position = $3`;
const recordFailure = `
  update notifications set last_failure_at = $1, last_failure_reason = $2 where position = $3`;
const selectSocial = 'select details from socials where id = $1';
const updateSocial = 'update socials set status = $1, details = $2 where id = $3';

interface ClaimedState {
  readonly notification: number | null;
  readonly social: string | null;
  readonly payer: string;
  readonly is_charged: number;
  readonly details: string;
}

/** Records what became of a delivery, unless it was claimed again since. */
export async function completeDelivery(session: SqlSession, completion: Completion): Promise<void> {
  const position = positionOf(completion.id);
  // An id that is not ours names none.
  if (!Number.isSafeInteger(position)) return;
  const found = await session.first<ClaimedState>(selectClaimed, position, completion.attempts);
  if (found === undefined) return;
  const { kind, at } = completion;
  if (kind === 'failed' && found.is_charged === 1) await session.run(giveCredit, found.payer);
  if (found.social !== null && kind !== 'retry') {
    await tellSocial(session, found.social, completion);
    await session.run(deleteDelivery, position);
    return;
  }
  const filed = JSON.parse(found.details) as DeliveryDetails;
  const reason = kind === 'sent' ? undefined : completion.reason;
  const status = kind === 'retry' ? 'pending' : kind;
  const dueAt = kind === 'retry' ? completion.dueAt : null;
  const sentAt = kind === 'sent' ? at : null;
  const charged = kind === 'failed' ? 0 : found.is_charged;
  const details = deliveryDetails({ ...filed, reason });
  await session.run(updateDelivery, status, dueAt, sentAt, charged, details, position);
  if (found.notification === null) return;
  if (kind === 'sent') await session.run(recordSuccess, at, completion.code, found.notification);
  else await session.run(recordFailure, at, JSON.stringify(reason), found.notification);
}

async function tellSocial(session: SqlSession, id: string, completion: Completion): Promise<void> {
  const found = await session.first<{ details: string }>(selectSocial, id);
  if (found === undefined) return;
  const details = JSON.parse(found.details) as object;
  const isFailed = completion.kind === 'failed';
  const told = isFailed ? { ...details, reason: completion.reason } : details;
  await session.run(updateSocial, isFailed ? 'failed' : 'sent', JSON.stringify(told), id);
}
