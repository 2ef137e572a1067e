import { kindOf, type Payer } from '../../domain/budgets/budget.ts';
import { neverExpires } from '../../domain/messaging/session-store.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Session } from './session.ts';

/** Sessions without a connection, by payer, those that left first in front. */
export function createAbsentSessions() {
  const byKind = {
    accounts: new Map<Payer, Set<Session>>(),
    guests: new Map<Payer, Set<Session>>(),
  };
  const ofPayer = (payer: Payer) => byKind[kindOf(payer)].get(payer);

  return {
    /** Adds a session whose connection ended at `leftAt`. */
    add(session: Session, leftAt: Instant): void {
      const { payer, expirySeconds } = session;
      session.expiresAt =
        expirySeconds >= neverExpires ? Number.POSITIVE_INFINITY : leftAt + expirySeconds * 1_000;
      const known = ofPayer(payer);
      if (known === undefined) byKind[kindOf(payer)].set(payer, new Set([session]));
      else known.add(session);
    },
    /** Removes a session whose client is back, or that ended. */
    remove(session: Session): void {
      const { payer } = session;
      const known = ofPayer(payer);
      session.expiresAt = Number.POSITIVE_INFINITY;
      if (known?.delete(session) === true && known.size === 0) byKind[kindOf(payer)].delete(payer);
    },
    /** The one that was left first, of those of this payer. */
    oldestOf: (payer: Payer) => first(ofPayer(payer)),
    /** The one that was left first, of those of the guest payer with the most. */
    oldestOfGuests() {
      let most: Set<Session> | undefined;
      for (const list of byKind.guests.values()) if (list.size > (most?.size ?? 0)) most = list;
      return first(most);
    },
    /** Sessions whose time is over [MQTT-3.1.2-23]. */
    expired(now: Instant): readonly Session[] {
      const found: Session[] = [];
      for (const list of [...byKind.accounts.values(), ...byKind.guests.values()]) {
        for (const session of list) if (session.expiresAt <= now) found.push(session);
      }
      return found;
    },
  };
}

const first = (sessions: ReadonlySet<Session> | undefined): Session | undefined =>
  sessions?.values().next().value;
