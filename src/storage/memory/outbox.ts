import type { ClaimedDelivery, Settlement } from '../../domain/notifications/delivery.ts';
import { type OutboxStore, paidChannels } from '../../domain/notifications/outbox-store.ts';
import { findByUsername, type KeptDelivery, type MemoryState } from './memory-state.ts';

/** The outbox in memory. */
export function createOutboxStore(state: MemoryState): OutboxStore {
  const { deliveries } = state;

  return {
    async claimDue({ now, leaseEndsAt, rooms }) {
      const claimed = [...rooms].flatMap(([channel, count]) => {
        const due = [...deliveries].flatMap(([position, kept]) => {
          const dueAt = kept.channel === channel ? dueAtOf(kept) : undefined;
          return dueAt !== undefined && dueAt <= now ? [{ position, kept, dueAt }] : [];
        });
        const first = due.sort((a, b) => a.dueAt - b.dueAt || a.position - b.position);
        return first
          .slice(0, count)
          .map(({ position, kept }) => claim(state, position, kept, leaseEndsAt));
      });
      const times = [...deliveries.values()].flatMap((kept) =>
        rooms.has(kept.channel) ? (dueAtOf(kept) ?? []) : [],
      );
      return { claimed, nextDueAt: times.length === 0 ? undefined : Math.min(...times) };
    },
    async settle(settlements) {
      for (const settlement of settlements) settle(state, settlement);
    },
  };
}

const dueAtOf = ({ progress }: KeptDelivery) =>
  progress.status === 'pending' ? progress.dueAt : undefined;

function claim(
  state: MemoryState,
  position: number,
  kept: KeptDelivery,
  dueAt: number,
): ClaimedDelivery {
  const isFree = kept.isCharged || !paidChannels.includes(kept.channel);
  const outcome = isFree ? 'free' : takeCredit(state, kept.payer);
  const leased: KeptDelivery = {
    ...kept,
    attempts: kept.attempts + 1,
    isCharged: kept.isCharged || outcome === 'taken',
    progress: { ...kept.progress, status: 'pending', dueAt },
  };
  state.deliveries.set(position, leased);
  const { source, username, channel, message, createdAt, attempts } = leased;
  return {
    id: String(position),
    source,
    username,
    channel,
    message,
    createdAt,
    attempts,
    ...(outcome === 'none' && { isUnpaid: true as const }),
  };
}

function takeCredit(state: MemoryState, payer: string): 'taken' | 'free' | 'none' {
  const stored = findByUsername(state, payer);
  if (stored === undefined) return 'none';
  const { smsCredit } = stored.user;
  if (smsCredit === undefined) return 'free';
  if (smsCredit < 1) return 'none';
  addCredit(state, payer, -1);
  return 'taken';
}

function addCredit(state: MemoryState, payer: string, by: number): void {
  const stored = findByUsername(state, payer);
  if (stored?.user.smsCredit === undefined) return;
  const user = { ...stored.user, smsCredit: stored.user.smsCredit + by };
  state.users.set(user.id, { ...stored, user });
}

function settle(state: MemoryState, settlement: Settlement): void {
  const position = Number(settlement.id);
  const kept = state.deliveries.get(position);
  if (kept?.attempts !== settlement.attempts || kept.progress.status !== 'pending') return;
  const isFailed = settlement.kind === 'failed';
  if (isFailed && kept.isCharged) addCredit(state, kept.payer, 1);
  if (kept.source.kind === 'social' && settlement.kind !== 'retry') {
    state.deliveries.delete(position);
    const social = state.socials.get(kept.source.id);
    if (social === undefined) return;
    state.socials.set(
      social.id,
      isFailed
        ? { ...social, status: 'failed', reason: settlement.reason }
        : { ...social, status: 'sent' },
    );
    return;
  }
  const isCharged = isFailed ? false : kept.isCharged;
  state.deliveries.set(position, { ...kept, isCharged, progress: progressOf(settlement) });
  if (kept.source.kind === 'notification') tally(state, kept.source.id, settlement);
}

function progressOf(settlement: Settlement): KeptDelivery['progress'] {
  switch (settlement.kind) {
    case 'sent':
      return { status: 'sent', sentAt: settlement.at };
    case 'retry':
      return { status: 'pending', dueAt: settlement.dueAt, reason: settlement.reason };
    case 'failed':
      return { status: 'failed', reason: settlement.reason };
  }
}

function tally(
  { notifications }: MemoryState,
  id: Extract<KeptDelivery['source'], { kind: 'notification' }>['id'],
  settlement: Settlement,
): void {
  const kept = notifications.get(id);
  if (kept === undefined) return;
  const { at } = settlement;
  kept.tally =
    settlement.kind === 'sent'
      ? { ...kept.tally, lastSuccessAt: at, lastSuccessCode: settlement.code }
      : { ...kept.tally, lastFailureAt: at, lastFailureReason: settlement.reason };
}
