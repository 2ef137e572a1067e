import { limits } from '../../domain/limits.ts';
import type { CallText, CallTextStore } from '../../domain/notifications/call-text-store.ts';
import type { FailureStore, KeptFailures } from '../../domain/users/failure-store.ts';
import type { PasswordResetStore, PendingReset } from '../../domain/users/password-reset-store.ts';
import type { MemoryState } from './memory-state.ts';

/** Codes for forgotten passwords in memory. */
export function createPasswordResetStore({ users }: MemoryState): PasswordResetStore {
  let pending: readonly PendingReset[] = [];
  const find: PasswordResetStore['find'] = async (userId, codeHash, now) =>
    pending.find(
      (reset) =>
        reset.userId === userId && reset.codeHash === codeHash && isAhead(reset.expiresAt, now),
    );
  return {
    async insert(reset, now) {
      // Codes of accounts that are gone went with them.
      const good = pending.filter((old) => users.has(old.userId) && isAhead(old.expiresAt, now));
      const all = users.has(reset.userId) ? [...good, reset] : good;
      pending = lastOf(all, limits.passwordResetsMax, ({ expiresAt }) => expiresAt);
    },
    find: async (userId, codeHash, now) =>
      users.has(userId) ? find(userId, codeHash, now) : undefined,
    async take(userId, codeHash, now) {
      const found = users.has(userId) ? await find(userId, codeHash, now) : undefined;
      if (found === undefined || !pending.includes(found)) return undefined;
      pending = pending.filter((reset) => reset.userId !== userId);
      return found;
    },
  };
}

/** Counters of failures in memory. */
export function createFailureStore(): FailureStore {
  const kept = new Map<string, readonly KeptFailures[]>();
  const goodOf = (limiter: string, now: number) =>
    (kept.get(limiter) ?? []).filter(({ endsAt }) => isAhead(endsAt, now));
  return {
    load: async (limiter, now) => goodOf(limiter, now),
    async save(limiter, counted, now) {
      const byKey = new Map(goodOf(limiter, now).map((one) => [one.key, one]));
      for (const one of counted) {
        if (one.failures > 0 && isAhead(one.endsAt, now)) byKey.set(one.key, one);
        else byKey.delete(one.key);
      }
      const max = limits.loginFailureEntriesMax;
      kept.set(
        limiter,
        lastOf([...byKey.values()], max, ({ endsAt }) => endsAt),
      );
    },
  };
}

/** Texts of calls in memory. */
export function createCallTextStore(): CallTextStore {
  let texts: readonly CallText[] = [];
  return {
    async put(text, now) {
      const others = texts.filter(({ callId, until }) => callId !== text.callId && until >= now);
      texts = lastOf([...others, text], limits.callTextsMax, ({ until }) => until);
    },
    find: async (callId) => texts.find((text) => text.callId === callId),
  };
}

const isAhead = (at: number, now: number): boolean => at > now;

/** At most so many, without those that end first. */
function lastOf<Item>(items: readonly Item[], max: number, endOf: (item: Item) => number): Item[] {
  if (items.length <= max) return [...items];
  return [...items].sort((left, right) => endOf(right) - endOf(left)).slice(0, max);
}
