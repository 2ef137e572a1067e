import type { Completion } from '../../domain/notifications/delivery.ts';
import type { NotificationEngine } from './notification-engine.ts';
import { type DeliveryDetails, deliveryDetails, positionOf } from './notification-row.ts';
import type { ChangeSession } from './session.ts';

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

interface ClaimedState {
  readonly notification: number | null;
  readonly social: string | null;
  readonly payer: string;
  readonly is_charged: number;
  readonly details: string;
}

/** Records the outcome of a delivery, unless it was claimed again since. */
export type CompleteDelivery = (session: ChangeSession, completion: Completion) => Promise<void>;

export function createCompleteDelivery({ cluster }: NotificationEngine): CompleteDelivery {
  const updateDelivery = `
    update deliveries set status = $1, due_at = $2, sent_at = $3, is_charged = $4, details = $5
      ${cluster === undefined ? '' : ', claimed_by = null'}
    where position = $6`;

  return async (session, completion) => {
    const position = positionOf(completion.id);
    // An id that is not ours names none.
    if (!Number.isSafeInteger(position)) return;
    const found = await session.first<ClaimedState>(selectClaimed, position, completion.attempts);
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
