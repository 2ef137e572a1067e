import { limits } from '../../domain/limits.ts';
import type { Firing, FiringOutcome, NewDelivery } from '../../domain/notifications/delivery.ts';
import { outboxFull, type StateChange } from '../../domain/notifications/notification-store.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { deliveryDetails, deliveryId, progressToRow } from './notification-row.ts';
import type { ChangeSession, Count, SqlSession, Value } from './session.ts';

/** The steps of notifications that differ by engine. */
export interface NotificationEngine {
  /** Saves states in this commit, each of its own rule and device; waits for none of them. */
  saveStates(session: ChangeSession, changes: readonly StateChange[]): void;
  /** Optional: engines that serve one process leave it out. */
  readonly cluster?: ClusterSteps;
}

/** The steps of one process of several that serve one database. */
export interface ClusterSteps {
  /** The number of this process, kept as `claimed_by` with the deliveries that it tries. */
  readonly member: number;
  /** Whether this process runs the evaluation of a firing: an expression with values from `$2`. */
  readonly isOurs: string;
  isOursValues(firing: Firing): readonly Value[];
  /** Records in this commit that the firing is stored. */
  noteFired(session: ChangeSession, firing: Firing): void;
}

const countOfNotification = `
  select count(*) as n from
    (select 1 from deliveries where notification = $1 and status = 'pending' limit $2) as waiting`;
const countOfPayer = `
  select count(*) as n from
    (select 1 from deliveries where nocase(payer) = nocase($1) and status = 'pending' limit $2)
    as waiting`;

/** The notification that a delivery is filed for, and the payer. */
interface Filed {
  readonly position: number;
  readonly owner: string;
}

/**
 * Numbers of deliveries that may still be filed as waiting, of each notification and of each payer.
 * Counted once for all firings of a commit: to count thousands takes longer than to file one.
 */
interface DeliveryQuotas {
  /** Counts the deliveries that wait, unless they were counted before. */
  count(session: SqlSession, filed: Filed): Promise<void>;
  /** Takes one delivery of what was counted; answers false when the quota is used up. */
  take(filed: Filed): boolean;
}

/** Quotas of one commit; nothing is counted yet. */
function createDeliveryQuotas(): DeliveryQuotas {
  const ofNotification = new Map<number, number>();
  const ofPayer = new Map<string, number>();
  return {
    async count(session, { position, owner }) {
      const { deliveriesPendingMax: max, deliveriesPendingPerPayerMax: ofPayerMax } = limits;
      const payer = owner.toLowerCase();
      if (!ofNotification.has(position)) {
        const waiting = await session.first<Count>(countOfNotification, position, max);
        ofNotification.set(position, max - (waiting?.n ?? 0));
      }
      if (!ofPayer.has(payer)) {
        const waiting = await session.first<Count>(countOfPayer, owner, ofPayerMax);
        ofPayer.set(payer, ofPayerMax - (waiting?.n ?? 0));
      }
    },
    take({ position, owner }) {
      const payer = owner.toLowerCase();
      const own = ofNotification.get(position) ?? 0;
      const all = ofPayer.get(payer) ?? 0;
      if (own <= 0 || all <= 0) return false;
      ofNotification.set(position, own - 1);
      ofPayer.set(payer, all - 1);
      return true;
    },
  };
}

const recordFiring = `
  update notifications set times_sent = times_sent + $2,
    last_fired_at = case when last_fired_at > $3 then last_fired_at else $3 end,
    last_failure_at = coalesce($4, last_failure_at),
    last_failure_reason = coalesce($5, last_failure_reason)
  where position = $1`;
const trimDeliveries = `
  delete from deliveries where notification = $1 and status not in ('pending', 'damaged')
    and position <=
    (select position from deliveries where notification = $1
     order by position desc limit 1 offset $2)`;

interface Window {
  readonly position: number;
  readonly owner: string;
  readonly is_active: number;
  readonly last_fired_at: number | null;
  readonly is_ours: number | boolean;
}

/** Claims the windows of firings, files their deliveries, and saves states of those that fired. */
type FireNotifications = (
  session: ChangeSession,
  firings: readonly Firing[],
) => Promise<readonly FiringOutcome[]>;

export function createFireNotifications({
  saveStates,
  cluster,
}: NotificationEngine): FireNotifications {
  const selectWindow = `
    select position, owner, is_active, last_fired_at, ${cluster?.isOurs ?? '1'} as is_ours
    from notifications where id = $1`;
  const insertDelivery = `
    insert into deliveries (notification, payer, channel, status, attempts, created_at, due_at,
      sent_at, token, details${cluster === undefined ? '' : ', claimed_by'})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10${cluster === undefined ? '' : ', $11'})
    returning position`;

  async function file(
    session: SqlSession,
    { position, owner }: Window,
    { delivery, at }: { readonly delivery: NewDelivery; readonly at: number },
  ): Promise<string> {
    const { status, dueAt, sentAt, reason } = progressToRow(delivery.progress);
    const { channel, isUnderWay } = delivery;
    const text = deliveryDetails({ ...delivery, reason });
    const attempts = Number(isUnderWay === true);
    const token = createHexId();
    const made = await session.first<{ position: number }>(
      insertDelivery,
      ...[position, owner, channel, status, attempts, at, dueAt, sentAt, token, text],
      ...(cluster === undefined ? [] : [isUnderWay === true ? cluster.member : null]),
    );
    return deliveryId(token, made?.position ?? 0);
  }

  async function fire(
    session: ChangeSession,
    firing: Firing,
    quotas: DeliveryQuotas,
  ): Promise<FiringOutcome> {
    const { notificationId, at, throttlingMs, deliveries } = firing;
    const asked = [notificationId, ...(cluster?.isOursValues(firing) ?? [])];
    const found = await session.first<Window>(selectWindow, ...asked);
    if (found === undefined) return { kind: 'gone' };
    if (!found.is_ours) return { kind: 'taken' };
    if (found.is_active === 0) return { kind: 'inactive' };
    const { position, last_fired_at: last } = found;
    if (throttlingMs > 0 && last !== null && at < last + throttlingMs) {
      return { kind: 'throttled', lastFiredAt: last };
    }
    await quotas.count(session, found);
    let failure: string | undefined;
    const deliveryIds: string[] = [];
    for (const delivery of deliveries) {
      const isWaiting = delivery.progress.status === 'pending';
      const filed: NewDelivery =
        isWaiting && !quotas.take(found)
          ? { ...delivery, progress: { status: 'failed', reason: outboxFull } }
          : delivery;
      if (filed.progress.status === 'failed') failure = filed.progress.reason;
      deliveryIds.push(await file(session, found, { delivery: filed, at }));
    }
    const failedAt = failure === undefined ? null : at;
    const reason = failure === undefined ? null : JSON.stringify(failure);
    session.send(recordFiring, position, deliveries.length, at, failedAt, reason);
    session.send(trimDeliveries, position, limits.deliveriesPerNotificationMax);
    saveStates(session, [firing]);
    cluster?.noteFired(session, firing);
    return { kind: 'fired', deliveryIds };
  }

  return async (session, firings) => {
    const outcomes: FiringOutcome[] = [];
    const quotas = createDeliveryQuotas();
    for (const firing of firings) outcomes.push(await fire(session, firing, quotas));
    return outcomes;
  };
}
