import type {
  ClaimedDelivery,
  Completion,
  DeliveryTarget,
} from '../../domain/notifications/delivery.ts';
import {
  type Claim,
  type DailyMax,
  type OutboxStore,
  oneOfEach,
  type Payment,
  paidChannels,
} from '../../domain/notifications/outbox-store.ts';
import { findByUsername, type KeptDelivery, type MemoryState } from './memory-state.ts';

/** The outbox in memory. */
export function createOutboxStore(state: MemoryState): OutboxStore {
  const { deliveries } = state;
  const lastOf = new Map<DeliveryTarget, string>();

  return {
    async claimDue(order) {
      const { now, rooms, underWay, perPayerMax = Number.MAX_SAFE_INTEGER } = order;
      const claimed = [...rooms].flatMap(([channel, count]) => {
        const due = [...deliveries].flatMap(([position, kept]) => {
          const dueAt = kept.channel === channel ? dueAtOf(kept) : undefined;
          return dueAt !== undefined && dueAt <= now ? [{ position, kept, dueAt }] : [];
        });
        due.sort((a, b) => a.dueAt - b.dueAt || a.position - b.position);
        const byPayer = Map.groupBy(due, ({ kept }) => kept.payer.toLowerCase());
        const payers = [...byPayer.keys()].sort();
        const last = lastOf.get(channel) ?? '';
        const rotated = [
          ...payers.filter((payer) => payer > last),
          ...payers.filter((payer) => payer <= last),
        ];
        const lists = rotated
          .map((payer) => {
            const own = perPayerMax - (underWay?.get(channel)?.get(payer) ?? 0);
            return (byPayer.get(payer) ?? []).slice(0, Math.max(0, own));
          })
          .filter(({ length }) => length > 0)
          .slice(0, count);
        const served = lists.at(-1)?.[0]?.kept.payer.toLowerCase();
        if (served !== undefined) lastOf.set(channel, served);
        return oneOfEach(lists, count).map(({ position, kept }) =>
          claim(state, position, kept, order),
        );
      });
      const times = [...deliveries.values()].flatMap((kept) =>
        rooms.has(kept.channel) ? (dueAtOf(kept) ?? []) : [],
      );
      return { claimed, nextDueAt: times.length === 0 ? undefined : Math.min(...times) };
    },
    async pay(payer, channel, at, perDay) {
      return pay(state, payer, { channel, at, ...(perDay !== undefined && { perDay }) });
    },
    async complete(completions) {
      for (const completion of completions) complete(state, completion);
    },
  };
}

const dueAtOf = ({ progress }: KeptDelivery) =>
  progress.status === 'pending' ? progress.dueAt : undefined;

function claim(
  state: MemoryState,
  position: number,
  kept: KeptDelivery,
  { now: at, leaseEndsAt: dueAt, perDay }: Claim,
): ClaimedDelivery {
  const isFree = kept.isCharged || !paidChannels.includes(kept.channel);
  const about = { channel: kept.channel, at, ...(perDay !== undefined && { perDay }) };
  const outcome = isFree ? undefined : pay(state, kept.payer, about);
  const leased: KeptDelivery = {
    ...kept,
    attempts: kept.attempts + 1,
    isCharged: kept.isCharged || outcome === 'paid',
    progress: { ...kept.progress, status: 'pending', dueAt },
  };
  state.deliveries.set(position, leased);
  const { source, payer, username, accountId, channel, message, createdAt, attempts } = leased;
  return {
    id: `${kept.token}-${position}`,
    source,
    payer,
    username,
    ...(accountId !== undefined && { accountId }),
    channel,
    message,
    createdAt,
    attempts,
    ...(outcome !== undefined && outcome !== 'paid' && { unpaid: outcome }),
  };
}

const dayMs = 86_400_000;

function pay(
  state: MemoryState,
  payer: string,
  about: { readonly channel: DeliveryTarget; readonly at: number; readonly perDay?: DailyMax },
): Payment {
  const { channel, at, perDay } = about;
  const day = Math.floor(at / dayMs);
  const key = `${day} ${channel} ${payer.toLowerCase()}`;
  const own = state.paidMessages.get(key) ?? 0;
  if (perDay !== undefined) {
    if (own >= perDay.each) return 'own_day_full';
    const ofDay = [...state.paidMessages].filter(([one]) => one.startsWith(`${day} `));
    if (ofDay.reduce((sum, [, count]) => sum + count, 0) >= perDay.all) return 'day_full';
  }
  const stored = findByUsername(state, payer);
  const credit = stored?.user.smsCredit;
  if (stored === undefined || (credit !== undefined && credit < 1)) return 'no_credit';
  addCredit(state, payer, -1);
  state.paidMessages.set(key, own + 1);
  for (const earlier of state.paidMessages.keys()) {
    if (Number.parseInt(earlier, 10) < day - 1) state.paidMessages.delete(earlier);
  }
  return 'paid';
}

function addCredit(state: MemoryState, payer: string, by: number): void {
  const stored = findByUsername(state, payer);
  if (stored?.user.smsCredit === undefined) return;
  const user = { ...stored.user, smsCredit: stored.user.smsCredit + by };
  state.users.set(user.id, { ...stored, user });
}

function complete(state: MemoryState, completion: Completion): void {
  const position = Number(completion.id.slice(completion.id.lastIndexOf('-') + 1));
  const kept = state.deliveries.get(position);
  if (kept?.attempts !== completion.attempts || kept.progress.status !== 'pending') return;
  const isFailed = completion.kind === 'failed';
  if (isFailed && kept.isCharged) addCredit(state, kept.payer, 1);
  if (kept.source.kind === 'social' && completion.kind !== 'retry') {
    state.deliveries.delete(position);
    const social = state.socials.get(kept.source.id);
    if (social === undefined) return;
    state.socials.set(
      social.id,
      isFailed
        ? { ...social, status: 'failed', reason: completion.reason }
        : { ...social, status: 'sent' },
    );
    return;
  }
  const isCharged = isFailed ? false : kept.isCharged;
  state.deliveries.set(position, { ...kept, isCharged, progress: progressOf(completion) });
  if (kept.source.kind === 'notification') tally(state, kept.source.id, completion);
}

function progressOf(completion: Completion): KeptDelivery['progress'] {
  switch (completion.kind) {
    case 'sent':
      return { status: 'sent', sentAt: completion.at };
    case 'retry':
      return { status: 'pending', dueAt: completion.dueAt, reason: completion.reason };
    case 'failed':
      return { status: 'failed', reason: completion.reason };
  }
}

function tally(
  { notifications }: MemoryState,
  id: Extract<KeptDelivery['source'], { kind: 'notification' }>['id'],
  completion: Completion,
): void {
  const kept = notifications.get(id);
  if (kept === undefined) return;
  const { at } = completion;
  kept.tally =
    completion.kind === 'sent'
      ? { ...kept.tally, lastSuccessAt: at, lastSuccessCode: completion.code }
      : { ...kept.tally, lastFailureAt: at, lastFailureReason: completion.reason };
}
