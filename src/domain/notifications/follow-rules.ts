import { payerOfAccount } from '../budgets/payer.ts';
import type { ChangeFeed } from '../changes.ts';
import type { NotificationId } from '../ids.ts';
import type { UserStore } from '../users/user.ts';
import type { Notification } from './notification.ts';
import type { NotificationStore } from './notification-store.ts';
import type { RuleBook } from './rule-book.ts';

/**
 * Keeps the rules of this process as other processes make and change them. What this one changes
 * itself it finds there already.
 */
export function followRules(options: {
  readonly changes: Pick<ChangeFeed, 'onChange'>;
  readonly store: Pick<NotificationStore, 'find' | 'load'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly book: RuleBook;
}): void {
  const { changes, store, users, book } = options;

  async function follow(id: NotificationId): Promise<void> {
    const stored = await store.find(id);
    if (stored === undefined) {
      book.remove(id);
      return;
    }
    const { notification } = stored;
    const known = book.index.find(id);
    if (known !== undefined && isSame(known.notification, notification)) return;
    const owner = known === undefined ? await users.findByUsername(notification.owner) : undefined;
    const payer = known?.payer ?? payerOfAccount(owner?.id ?? notification.owner.toLowerCase());
    const isWatchedAnew =
      known === undefined || !isSame(watchedBy(known.notification), watchedBy(notification));
    await book.put(notification, { payer, isWatchedAnew });
  }

  async function followAll(): Promise<void> {
    const stored = await store.load();
    const there = new Set(stored.map(({ notification }) => notification.id));
    for (const { notification } of [...book.index.all()]) {
      if (!there.has(notification.id)) book.remove(notification.id);
    }
    for (const id of there) await follow(id);
  }

  changes.onChange(async (change) => {
    if (change.kind === 'rule_changed') await follow(change.notificationId);
    if (change.kind === 'anything') await followAll();
  });
}

const watchedBy = ({ condition }: Notification) => condition;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
