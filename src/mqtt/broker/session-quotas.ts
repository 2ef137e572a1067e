import type { BudgetRefusal } from '../../domain/budgets/budget.ts';
import type { Budgets } from '../../domain/budgets/budgets.ts';
import type { Payer } from '../../domain/budgets/payer.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import type { Session } from './session.ts';

/** The quotas of sessions and their subscriptions, by payer. */
export interface SessionQuotas {
  /** Takes quota for a new session, or answers why none is left. */
  enter(session: Session): BudgetRefusal | undefined;
  /** Counts a session of before the start, with its subscriptions, however full the quotas are. */
  restore(session: Session): void;
  /** Takes quota for one more filter, or answers why none is left. */
  subscribe(session: Session, filter: string): BudgetRefusal | undefined;
  unsubscribe(session: Session, filter: string): void;
  /** Charges another payer that comes back to it; the first one while the other's quota is full. */
  move(session: Session, payer: Payer): void;
  /** Gives everything back. */
  leave(session: Session): void;
}

/** Memory of an idle session, its maps and keys included (measured: 0.7 KiB). */
const sessionBytes = 1_024;
/** A filter in the maps that hold it, and each of its levels in the tree (measured: 280 to 340). */
const filterBytes = 320;
const levelBytes = 320;

export function createSessionQuotas(budgets: Budgets): SessionQuotas {
  const entries = budgets.of('mqtt_sessions');
  const bytes = budgets.of('mqtt_session_bytes');

  function enter(session: Session): BudgetRefusal | undefined {
    const { payer } = session;
    const size = sizeOfSession(session);
    const refusal = entries.take(payer, 1) ?? bytes.take(payer, size);
    if (refusal === undefined) session.roomBytes = size;
    else if (refusal.budget === bytes.name) entries.release(payer, 1);
    return refusal;
  }

  function subscribe(session: Session, filter: string): BudgetRefusal | undefined {
    const size = sizeOfFilter(filter);
    const refusal = bytes.take(session.payer, size);
    if (refusal === undefined) session.roomBytes += size;
    return refusal;
  }

  function leave({ payer, roomBytes }: Session): void {
    entries.release(payer, 1);
    bytes.release(payer, roomBytes);
  }

  return {
    enter,
    subscribe,
    leave,
    restore(session) {
      session.roomBytes = sizeOfSession(session);
      for (const filter of session.subscriptions?.keys() ?? []) {
        session.roomBytes += sizeOfFilter(filter);
      }
      entries.add(session.payer, 1);
      bytes.add(session.payer, session.roomBytes);
    },
    unsubscribe(session, filter) {
      const size = sizeOfFilter(filter);
      session.roomBytes -= size;
      bytes.release(session.payer, size);
    },
    move(session, payer) {
      const { roomBytes } = session;
      const isRefused =
        entries.check(payer, 1) !== undefined || bytes.check(payer, roomBytes) !== undefined;
      if (payer === session.payer || isRefused) return;
      leave(session);
      session.payer = payer;
      entries.add(payer, 1);
      bytes.add(payer, roomBytes);
    },
  };
}

const sizeOfSession = ({ key }: Session): number => sessionBytes + 2 * key.length;

/** The size of a filter, whose text is kept whole and by levels. */
const sizeOfFilter = (filter: string): number =>
  filterBytes + levelBytes * countLevels(filter) + 2 * Buffer.byteLength(filter);
