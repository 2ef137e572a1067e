import { limits } from '../../domain/limits.ts';
import type { Count, SqlSession } from './session.ts';

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
export interface DeliveryQuotas {
  /** Counts the deliveries that wait, unless they were counted before. */
  count(session: SqlSession, filed: Filed): Promise<void>;
  /** Takes one delivery of what was counted; answers false when the quota is used up. */
  take(filed: Filed): boolean;
}

/** Quotas of one commit; nothing is counted yet. */
export function createDeliveryQuotas(): DeliveryQuotas {
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
