import { isGuestPayer, type Payer } from '../../domain/budgets/payer.ts';
import { neverExpires } from '../../domain/messaging/session-store.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Session } from './session.ts';

/** Sessions without a connection, by payer, those that left first in front. */
export interface AbsentSessions {
  /** Adds a session whose connection ended at `leftAt`. */
  add(session: Session, leftAt: Instant): void;
  /** Removes a session whose client is back, or that ended. */
  remove(session: Session): void;
  /** The one that was left first, of those of this payer. */
  oldestOf(payer: Payer): Session | undefined;
  /** The one that was left first, of those of the guest payer with the most. */
  oldestOfGuests(): Session | undefined;
  /** Sessions whose time is over [MQTT-3.1.2-23]. */
  expired(now: Instant): readonly Session[];
}

export function createAbsentSessions(): AbsentSessions {
  const accounts = new Map<Payer, Set<Session>>();
  const guests = new Map<Payer, Set<Session>>();
  const kindOf = (payer: Payer) => (isGuestPayer(payer) ? guests : accounts);

  return {
    add(session, leftAt) {
      const { payer, expirySeconds } = session;
      session.expiresAt =
        expirySeconds >= neverExpires ? Number.POSITIVE_INFINITY : leftAt + expirySeconds * 1_000;
      const known = kindOf(payer).get(payer);
      if (known === undefined) kindOf(payer).set(payer, new Set([session]));
      else known.add(session);
    },
    remove(session) {
      const { payer } = session;
      const known = kindOf(payer).get(payer);
      session.expiresAt = Number.POSITIVE_INFINITY;
      if (known?.delete(session) === true && known.size === 0) kindOf(payer).delete(payer);
    },
    oldestOf: (payer) => first(kindOf(payer).get(payer)),
    oldestOfGuests() {
      let most: Set<Session> | undefined;
      for (const list of guests.values()) if (list.size > (most?.size ?? 0)) most = list;
      return first(most);
    },
    expired(now) {
      const found: Session[] = [];
      for (const kind of [accounts, guests]) {
        for (const list of kind.values()) {
          for (const session of list) if (session.expiresAt <= now) found.push(session);
        }
      }
      return found;
    },
  };
}

function first(sessions: ReadonlySet<Session> | undefined): Session | undefined {
  return sessions?.values().next().value;
}
